import type { Command } from 'commander';
import { usableAddress } from '../shared/mail-address';
import { defaultLanguage, languageFor, languageOf, languages } from '../shared/languages';
import { CliProblem, inContext, printRecord } from './cli-context';
import { operatorAuthority } from '../admin/authority';
import { UserAdministration } from '../admin/user-administration';
import { UserSupport } from '../admin/user-support';

interface Options {
  printLink?: boolean;
  lang: string;
  json?: boolean;
}

/**
 * `user invite`: mails a change request of type 0. The link is printed on request only, because anyone who has it can
 * set the password.
 */
export function addInviteCommand(user: Command): void {
  user
    .command('invite')
    .description('mail a link by which the user sets the first password')
    .argument('<name>', 'login name or uid')
    .option('--print-link', 'print the link, to pass it on by other means')
    .option('--lang <language>', `${languages.join(', ')}; without it that of the account`, defaultLanguage)
    .option('--json')
    .action((nameOrUid: string, { printLink, lang, json }: Options, command: Command) =>
      inContext(async (context) => {
        const wished = languageOf(lang);
        if (wished === undefined) throw new CliProblem(`--lang must be one of ${languages.join(', ')}`);
        const user = await context.get(UserAdministration).find(nameOrUid);
        const given = command.getOptionValueSource('lang') === 'cli';
        const language = given ? wished : languageFor(user.language, wished);
        if (usableAddress(user.email) === null && !printLink) {
          throw new CliProblem('the user has no valid e-mail address: use --print-link to print the link');
        }
        const { link, expires, mailed } = await context.get(UserSupport).invite(operatorAuthority, user.uid, language);
        printRecord(
          { uid: user.uid, login_name: user.loginName, mailed, expired: expires, ...(printLink ? { link } : {}) },
          json,
        );
      }),
    );
}
