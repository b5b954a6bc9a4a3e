import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { AdminUsers } from '../admin/admin-users';
import { operatorAuthority } from '../admin/authority';
import { type PasswordRules, UserAdministration } from '../admin/user-administration';
import { UserChanges } from '../admin/user-changes';
import { UserSupport } from '../admin/user-support';
import { userDetail } from '../admin/user-views';
import { languages } from '../shared/languages';
import { rootTenant } from '../platform/settings/system-settings';
import { byField, type changedFields, shownFields, userFields } from '../users/user-fields';
import { fileNameOf } from '../users/user-wire';
import type { MfaType, Provider, User } from '../users/user.entity';
import { CliProblem, inContext, oneOf, printRecord, readStandardInput, statusOf } from './cli-context';

/** The fields that can be null and that operators change. `set-role` has a command of its own. */
type ClearableField = { [P in ChangedField]: null extends User[P] ? P : never }[ChangedField];
type ChangedField = Exclude<(typeof changedFields)[number], 'role'>;

interface CreateOptions {
  loginName: string;
  password?: string;
  passwordStdin?: boolean;
  temporary?: boolean;
  force?: boolean;
  status: string;
  mfaType: string;
  provider: string;
  identityProvider?: string;
  admin?: boolean;
  tenant: string;
  json?: boolean;
}

/** The fields that have an option of `user create`, and a command that sets or removes them. */
export const clearable: Record<ClearableField, { option: string; argument: string; does: string }> = {
  email: {
    ...{ option: 'email', argument: 'address' },
    does: 'set the e-mail address; links and codes to the former one end',
  },
  nickname: { option: 'nickname', argument: 'text', does: 'set the name that mails and pages show' },
  orgUnitId: { option: 'org-unit', argument: 'id', does: 'set the organisation unit' },
  language: {
    ...{ option: 'language', argument: 'language' },
    does: `set the language of mails, ${languages.join(', ')}; the next sign-in sets its own`,
  },
  externalId: {
    ...{ option: 'external-id', argument: 'id' },
    does: 'set the name that another system has for the user',
  },
};
export const clearableFields = Object.keys(clearable) as ClearableField[];

const optionOf = (field: ClearableField) => new Option(`--${clearable[field].option} <${clearable[field].argument}>`);

const textOf = (options: object, field: ClearableField): string | null =>
  (options as Readonly<Record<string, string | undefined>>)[optionOf(field).attributeName()] ?? null;

type PasswordOptions = Pick<CreateOptions, 'password' | 'passwordStdin' | 'temporary' | 'force' | 'json'>;

/** @returns the command `user`, to which other files add further commands */
export function addUserCommands(program: Command): Command {
  const user = program.command('user').description('accounts');

  const create = user
    .command('create')
    .description('create an account; without a password it waits for an invitation')
    .requiredOption('--login-name <name>');
  for (const field of clearableFields) create.addOption(optionOf(field));
  create
    .option('--password <password>')
    .option('--password-stdin', 'read the password from standard input')
    .option('--temporary', 'the user has to change the password at the first login')
    .option('--force', 'accept a password that does not meet the policy')
    .option('--status <status>', '1 enabled, 0 not enabled, -1 disabled, -2 expired', '1')
    .option('--mfa-type <type>', 'email or totp', 'email')
    .option('--provider <provider>', 'password, ldap or oidc', 'password')
    .option('--identity-provider <id>', 'the identity provider of a user with the provider oidc')
    .option('--admin')
    .option('--tenant <id>', 'the tenant', rootTenant)
    .option('--json')
    .action(async (options: CreateOptions) => {
      const password = await passwordOf(options);
      await inContext(async (context) => {
        const administration = context.get(UserAdministration);
        const texts = byField(clearableFields, (field) => textOf(options, field));
        const owner = { loginName: options.loginName, ...texts };
        const created = await administration.create(operatorAuthority, {
          ...owner,
          passwordHash: password === undefined ? null : await administration.hash(password, owner, rulesOf(options)),
          temporary: options.temporary ?? false,
          status: statusOf(options.status),
          mfaType: oneOf<MfaType>('--mfa-type', options.mfaType, ['email', 'totp']),
          provider: oneOf<Provider>('--provider', options.provider, ['password', 'ldap', 'oidc']),
          identityProviderId: options.identityProvider ?? null,
          isAdmin: options.admin ?? false,
          tenantId: options.tenant,
        });
        printRecord(await shownUser(context, created.uid), options.json);
      });
    });

  onUser(user, 'show', 'print an account without its secrets', ({ uid }, context) => shownUser(context, uid));

  user
    .command('set-status')
    .description('set the status; any status but 1 also revokes the tokens')
    .argument('<name>')
    .argument('<status>')
    .option('--json')
    // Otherwise -1 and -2 would be read as options.
    .allowUnknownOption()
    .action((name: string, status: string, { json }: { json?: boolean }) =>
      administer(name, json, async (found, context) => {
        await context.get(UserChanges).change(operatorAuthority, found.uid, { status: statusOf(status) });
        return shownUser(context, found.uid);
      }),
    );

  user
    .command('set-mfa')
    .argument('<name>')
    .argument('<type>', 'email or totp')
    .option('--json')
    .action((name: string, type: string, { json }: { json?: boolean }) =>
      administer(name, json, async (found, context) => {
        const mfaType = oneOf<MfaType>('the type', type, ['email', 'totp']);
        await context.get(UserChanges).change(operatorAuthority, found.uid, { mfaType });
        return shownUser(context, found.uid);
      }),
    );

  user
    .command('set-password')
    .argument('<name>')
    .option('--password <password>')
    .option('--password-stdin', 'read the password from standard input')
    .option('--temporary', 'the user has to change the password at the next login')
    .option('--force', 'accept a password that does not meet the policy')
    .option('--json')
    .action(async (name: string, options: PasswordOptions) => {
      const password = await passwordOf(options);
      if (password === undefined) throw new CliProblem('the password is missing: give --password or --password-stdin');
      await administer(name, options.json, async (found, context) => {
        await context.get(UserAdministration).setPassword(operatorAuthority, found, password, {
          temporary: options.temporary ?? false,
          rules: rulesOf(options),
        });
        return { uid: found.uid, login_name: found.loginName, result: true };
      });
    });

  onUser(
    user,
    'unlock',
    'remove the lock after failed logins and the block after wrong codes',
    async (found, context) => {
      await context.get(UserSupport).unlock(operatorAuthority, found.uid);
      return { uid: found.uid, login_name: found.loginName, result: true };
    },
  );
  return user;
}

export type UserVerb = (user: User, context: INestApplicationContext) => Promise<Record<string, unknown>>;

export function onUser(parent: Command, name: string, description: string, verb: UserVerb): void {
  parent
    .command(name)
    .description(description)
    .argument('<name>', 'login name or uid')
    .option('--json')
    .action((nameOrUid: string, { json }: { json?: boolean }) => administer(nameOrUid, json, verb));
}

export function administer(nameOrUid: string, json: boolean | undefined, verb: UserVerb): Promise<void> {
  return inContext(async (context) => {
    const user = await context.get(UserAdministration).find(nameOrUid);
    printRecord(await verb(user, context), json);
  });
}

const rulesOf = ({ force }: PasswordOptions): PasswordRules => (force ? 'waived' : 'policy');

async function passwordOf(options: PasswordOptions): Promise<string | undefined> {
  if (options.password !== undefined && options.passwordStdin) {
    throw new CliProblem('--password and --password-stdin exclude each other: give only one');
  }
  return options.passwordStdin ? readStandardInput() : options.password;
}

/**
 * The user as `GET /admin/users/{uid}` answers, and under the names that version 1.0.0 prints, which stay
 * (docs/operations/command-line.md).
 */
export async function shownUser(context: INestApplicationContext, uid: string): Promise<Record<string, unknown>> {
  const view = userDetail(await context.get(AdminUsers).detail(operatorAuthority, uid));
  const former = shownFields.map((field) => [fileNameOf(field), view[userFields[field].wire]]);
  const groups = view.groups.map(({ name }) => name);
  return {
    ...view,
    groups,
    ...(Object.fromEntries(former) as Record<string, unknown>),
    totp_confirmed: view.totp_enrolled,
  };
}
