import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { RecoveryCodes } from '../mfa/recovery-codes';
import { TrustedDevices } from '../tokens/trusted-devices';
import type { User } from '../users/user.entity';
import { inContext, printRecord, printRows } from './cli-context';
import { operatorAuthority } from '../admin/authority';
import { UserAdministration } from '../admin/user-administration';
import { UserSupport } from '../admin/user-support';

interface Options {
  revoke?: boolean;
  json?: boolean;
}

/** `user reset-totp`, `user recovery-codes` and `user devices`: for a user who has lost a phone or a device. */
export function addLostPhoneCommands(user: Command): void {
  user
    .command('reset-totp')
    .description('remove the authenticator, the recovery codes and the trusted devices; codes are sent by mail again')
    .argument('<name>', 'login name or uid')
    .option('--json')
    .action((name: string, { json }: Options) =>
      onUser(name, async (found, context) => {
        await context.get(UserSupport).resetSecondFactor(operatorAuthority, found.uid);
        printRecord({ ...namesOf(found), result: true }, json);
      }),
    );

  user
    .command('recovery-codes')
    .description('print how many recovery codes are left')
    .argument('<name>', 'login name or uid')
    .option('--revoke', 'end all recovery codes of the account')
    .option('--json')
    .action((name: string, { revoke, json }: Options) =>
      onUser(name, async (found, context) => {
        const codes = context.get(RecoveryCodes);
        if (revoke) return printRecord({ ...namesOf(found), revoked: await codes.revoke(found) }, json);
        const { left, createdAt } = await codes.summary(found.uid);
        printRecord({ ...namesOf(found), left, created_at: createdAt }, json);
      }),
    );

  user
    .command('devices')
    .description('print one line for each trusted device, the last used one first')
    .argument('<name>', 'login name or uid')
    .option('--revoke', 'end all trusted devices of the account')
    .option('--json')
    .action((name: string, { revoke, json }: Options) =>
      onUser(name, async (found, context) => {
        const devices = context.get(TrustedDevices);
        if (revoke) return printRecord({ ...namesOf(found), revoked: await devices.revokeAll(found.uid) }, json);
        const rows = (await devices.list(found)).map(({ id, createdAt, lastUsedAt, ip, userAgent }) => ({
          id,
          created_at: createdAt,
          last_used_at: lastUsedAt,
          ip,
          user_agent: userAgent,
        }));
        printRows(rows, json);
      }),
    );
}

function onUser(name: string, work: (user: User, context: INestApplicationContext) => Promise<void>): Promise<void> {
  return inContext(async (context) => work(await context.get(UserAdministration).find(name), context));
}

const namesOf = ({ uid, loginName }: User) => ({ uid, login_name: loginName });
