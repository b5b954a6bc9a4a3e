import type { Command } from 'commander';
import { TotpReset } from '../mfa/totp-reset';
import { inContext, printRecord } from './cli-context';
import { UserAdministration } from './user-administration';

/** `user reset-totp`: removes the authenticator of a user who has lost it. */
export function addResetTotpCommand(user: Command): void {
  user
    .command('reset-totp')
    .description('remove the authenticator; codes are sent by mail again')
    .argument('<name>', 'login name or uid')
    .option('--json')
    .action((name: string, { json }: { json?: boolean }) =>
      inContext(async (context) => {
        const found = await context.get(UserAdministration).find(name);
        await context.get(TotpReset).reset(found);
        printRecord({ uid: found.uid, login_name: found.loginName, result: true }, json);
      }),
    );
}
