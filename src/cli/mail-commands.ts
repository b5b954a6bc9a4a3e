import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { Mails } from '../admin/mails';
import type { MailRows, MailStatusName, QueuedMailRow } from '../mail/queued-mails';
import { isPlainAddress } from '../shared/mail-address';
import { CliProblem, inContext, oneOf, printRecord } from './cli-context';
import { pagesOf, printPages } from './printed-pages';

interface Options {
  status?: string;
  json?: boolean;
}

const statuses = ['waiting', 'sent', 'dead', 'expired', 'skipped'] as const satisfies readonly MailStatusName[];

/** `mail …`: the outbox, with the same use cases as `/admin/mails`. */
export function addMailCommands(program: Command): void {
  const mail = program.command('mail').description('the outbox of mails');
  mail
    .command('list')
    .description('print one line for each mail, the newest first, without content and recipient')
    .option('--status <status>', statuses.join(', '))
    .option('--json', 'one array')
    .action(({ status, json }: Options) => {
      const only = status === undefined ? undefined : oneOf('--status', status, statuses);
      return inContext((context) => {
        const mails = context.get(Mails);
        const pages = pagesOf((limit, after?: NonNullable<MailRows['next']>) => mails.list(only, limit, after));
        return printPages(pages, view, json);
      });
    });
  mail
    .command('retry <id>')
    .description('send a mail that was given up and has not expired')
    .option('--json')
    .action((id: string, { json }: Options) =>
      inContext(async (context) => {
        await context.get(Mails).retry(operatorAuthority, id);
        printRecord({ id, result: true }, json);
      }),
    );
  mail
    .command('test <address>')
    .description('send a test mail with the current settings')
    .option('--json')
    .action(async (address: string, { json }: Options) => {
      if (!isPlainAddress(address)) throw new CliProblem('the address must be one plain e-mail address');
      await inContext(async (context) => {
        const result = await context.get(Mails).sendTest(operatorAuthority, address);
        if (!result.sent) throw new CliProblem(`the test mail was not sent: ${result.reply}`);
        printRecord({ result: true }, json);
      });
    });
}

const view = ({ id, kind, status, attempts, createdAt, nextAttemptAt, expires }: QueuedMailRow) => ({
  id,
  kind,
  status,
  attempts,
  created_at: createdAt.toISOString(),
  next_attempt_at: nextAttemptAt.toISOString(),
  expires: expires.toISOString(),
});
