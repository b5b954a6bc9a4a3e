import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { UserChanges } from '../admin/user-changes';
import { UserErasure } from '../admin/user-erasure';
import type { UserChange } from '../users/user-accounts';
import { CliProblem, oneOf } from './cli-context';
import { administer, clearable, clearableFields, shownUser } from './user-commands';

interface Options {
  orgUnit?: string;
  none?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** `user set-email`, `set-nickname`, `set-tenant`, `set-org-unit`, `set-admin` and `delete`. */
export function addAccountCommands(user: Command): void {
  for (const field of clearableFields) {
    const { option, argument, does } = clearable[field];
    optional(user, `set-${option}`, argument, does, (value) => ({ [field]: value }));
  }

  user
    .command('set-tenant')
    .description('move the account to another tenant, without its unit; also ends its sessions')
    .argument('<name>', 'login name or uid')
    .argument('<id>', 'the tenant')
    .option('--org-unit <id>', 'a unit of the tenant')
    .option('--json')
    .action((name: string, tenantId: string, { orgUnit, json }: Options) =>
      change(name, json, { tenantId, orgUnitId: orgUnit ?? null }),
    );

  user
    .command('set-admin')
    .description('give or take the rights of an administrator; also ends the sessions')
    .argument('<name>', 'login name or uid')
    .argument('<right>', 'on or off')
    .option('--json')
    .action((name: string, right: string, { json }: Options) =>
      administer(name, json, async ({ uid }, context) => {
        const isAdmin = oneOf('the right', right, ['on', 'off']) === 'on';
        await context.get(UserChanges).change(operatorAuthority, uid, { isAdmin });
        // The output has `passkeys`: a passkey of before signs in as an administrator from now on.
        return shownUser(context, uid);
      }),
    );

  user
    .command('delete')
    .description('erase what identifies the user; this cannot be undone')
    .argument('<name>', 'login name or uid')
    .option('--yes', 'confirm')
    .option('--json')
    .action((name: string, { yes, json }: Options) => {
      if (!yes) throw new CliProblem('the data of the user would be lost: give --yes to confirm');
      return administer(name, json, async ({ uid, loginName }, context) => {
        await context.get(UserErasure).erase(operatorAuthority, uid);
        return { uid, login_name: loginName, result: true };
      });
    });
}

/** A command that sets one field, or empties it with `--none`. */
function optional(
  user: Command,
  name: string,
  argument: string,
  description: string,
  changeTo: (value: string | null) => UserChange,
): void {
  user
    .command(name)
    .description(description)
    .argument('<name>', 'login name or uid')
    .argument(`[${argument}]`)
    .option('--none', 'remove it')
    .option('--json')
    .action((nameOrUid: string, value: string | undefined, { none, json }: Options) => {
      if ((value === undefined) === (none === undefined)) {
        throw new CliProblem(`give either the ${argument} or --none`);
      }
      return change(nameOrUid, json, changeTo(value ?? null));
    });
}

function change(nameOrUid: string, json: boolean | undefined, wanted: UserChange): Promise<void> {
  return administer(nameOrUid, json, async ({ uid }, context) => {
    await context.get(UserChanges).change(operatorAuthority, uid, wanted);
    return shownUser(context, uid);
  });
}
