import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { Events, eventView, mostReplayed } from '../admin/events';
import { eventStatusNames, type KeptEvents } from '../events/kept-events';
import { CliProblem, inContext, oneOf, printRecord, timeOption } from './cli-context';
import { pagesOf, printPages } from './printed-pages';

interface Options {
  status?: string;
  from: string;
  to: string;
  json?: boolean;
}

/** `events …` and `webhook test`: the outbox of the webhook, with the same use cases as `/admin/events`. */
export function addEventCommands(program: Command): void {
  const events = program.command('events').description('the outbox of the webhook');
  events
    .command('list')
    .description('print one line for each event, the newest first, without its payload')
    .option('--status <status>', eventStatusNames.join(', '))
    .option('--json', 'one array')
    .action(({ status, json }: Options) => {
      const only = status === undefined ? undefined : oneOf('--status', status, eventStatusNames);
      return inContext((context) => {
        const kept = context.get(Events);
        const pages = pagesOf((limit, after?: NonNullable<KeptEvents['next']>) => kept.list(only, limit, after));
        return printPages(pages, eventView, json);
      });
    });
  events
    .command('show <id>')
    .description('print an event with its payload')
    .option('--json')
    .action((id: string, { json }: Options) =>
      inContext(async (context) => {
        const { payload, ...event } = await context.get(Events).show(id);
        printRecord({ ...eventView(event), payload: payload === null ? null : (JSON.parse(payload) as unknown) }, json);
      }),
    );
  events
    .command('retry <id>')
    .description('send an event that was given up, with the same webhook-id')
    .option('--json')
    .action((id: string, { json }: Options) =>
      inContext(async (context) => {
        await context.get(Events).retry(operatorAuthority, id);
        printRecord({ id, result: true }, json);
      }),
    );
  events
    .command('replay')
    .description('send the events of a time once more, as new ones, whether they were sent or given up')
    .requiredOption('--from <time>', 'events from this time on, for example 2026-03-02T10:00:00Z')
    .requiredOption('--to <time>', 'events before this time')
    .option('--json')
    .action(async ({ from, to, json }: Options) => {
      const [first, end] = [timeOption('--from', from), timeOption('--to', to)];
      await inContext(async (context) => {
        const replayed = await context.get(Events).replay(operatorAuthority, first, end, mostReplayed.command);
        printRecord({ ...replayed }, json);
      });
    });
  program
    .command('webhook')
    .description('the receiver of the events')
    .command('test')
    .description('post an event of the type webhook.test with the current settings')
    .option('--json')
    .action(({ json }: Options) =>
      inContext(async (context) => {
        const failure = await context.get(Events).testWebhook(operatorAuthority);
        if (failure !== undefined) throw new CliProblem(`the receiver has not accepted the event: ${failure}`);
        printRecord({ result: true }, json);
      }),
    );
}
