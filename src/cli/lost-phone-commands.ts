import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { RecoveryCodes } from '../mfa/recovery-codes';
import { OwnPasskeys } from '../passkeys/own-passkeys';
import { TrustedDevices } from '../sessions/trusted-devices';
import type { User } from '../users/user.entity';
import { inContext, printRecord, printRows } from './cli-context';
import { UserAdministration } from '../admin/user-administration';

interface Options {
  revoke?: boolean;
  json?: boolean;
}

/** `user recovery-codes`, `user devices` and `user passkeys`: for a user who has lost a device. */
export function addLostPhoneCommands(user: Command): void {
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

  user
    .command('passkeys')
    .description('print one line for each passkey, the newest first')
    .argument('<name>', 'login name or uid')
    .option('--revoke', 'remove all passkeys of the account')
    .option('--json')
    .action((name: string, { revoke, json }: Options) =>
      onUser(name, async (found, context) => {
        const passkeys = context.get(OwnPasskeys);
        if (revoke) return printRecord({ ...namesOf(found), revoked: await passkeys.revokeAll(found) }, json);
        const rows = (await passkeys.list(found.uid)).map((passkey) => ({
          id: passkey.id,
          created_at: passkey.createdAt,
          last_used_at: passkey.lastUsedAt,
          backed_up: passkey.backedUp,
          name: passkey.name,
        }));
        printRows(rows, json);
      }),
    );
}

function onUser(name: string, work: (user: User, context: INestApplicationContext) => Promise<void>): Promise<void> {
  return inContext(async (context) => work(await context.get(UserAdministration).find(name), context));
}

const namesOf = ({ uid, loginName }: User) => ({ uid, login_name: loginName });
