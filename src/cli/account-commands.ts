import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { UserChanges } from '../admin/user-changes';
import { UserErasure } from '../admin/user-erasure';
import { UserMove } from '../admin/user-move';
import { defaultLanguage, type Language, languages } from '../shared/languages';
import type { UserChange } from '../users/user-accounts';
import { type Provider, type Role, roles } from '../users/user.entity';
import { CliProblem, oneOf } from './cli-context';
import { administer, clearable, clearableFields, shownUser } from './user-commands';

interface Options {
  orgUnit?: string;
  none?: boolean;
  yes?: boolean;
  json?: boolean;
}

interface MoveOptions {
  identityProvider?: string;
  externalId?: string;
  lang: string;
  json?: boolean;
}

/** `user set-email`, `set-nickname`, `set-tenant`, `set-org-unit`, `set-admin`, `set-role`, `set-provider` and `delete`. */
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
    .command('set-role')
    .description(
      'give or take a role in the administration, for a user who is no administrator; also ends the sessions',
    )
    .argument('<name>', 'login name or uid')
    .argument('<role>', 'help_desk, auditor or none')
    .option('--json')
    .action((name: string, text: string, { json }: Options) => {
      const role = oneOf<Role | 'none'>('the role', text, [...roles, 'none']);
      return change(name, json, { role: role === 'none' ? null : role });
    });

  user
    .command('set-provider')
    .description('let the account sign in elsewhere: password, ldap or oidc; ends everything that led into it before')
    .argument('<name>', 'login name or uid')
    .argument('<provider>', 'password, ldap or oidc')
    .option('--identity-provider <id>', 'required with oidc')
    .option('--external-id <id>', 'what match_claim of the provider says of the user; an empty text removes it')
    .option('--lang <language>', 'of the invitation to a password, without one of the account', defaultLanguage)
    .option('--json')
    .action((name: string, provider: string, { identityProvider, externalId, lang, json }: MoveOptions) => {
      const to = oneOf<Provider>('the provider', provider, ['password', 'ldap', 'oidc']);
      const language = oneOf<Language>('--lang', lang, languages);
      return administer(name, json, async ({ uid }, context) => {
        const place = {
          ...{ provider: to, identityProviderId: identityProvider ?? null },
          externalId: externalId === '' ? null : externalId,
        };
        const invited = await context.get(UserMove).move(operatorAuthority, uid, place, language);
        return { ...(await shownUser(context, uid)), invited };
      });
    });

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
