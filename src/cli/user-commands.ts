import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { type PasswordRules, UserAdministration } from '../admin/user-administration';
import { UserChanges } from '../admin/user-changes';
import { UserSupport } from '../admin/user-support';
import { rootTenant } from '../platform/settings/system-settings';
import type { MfaType, Provider, User } from '../users/user.entity';
import { CliProblem, inContext, oneOf, printRecord, readStandardInput, statusOf } from './cli-context';

interface CreateOptions {
  loginName: string;
  email?: string;
  password?: string;
  passwordStdin?: boolean;
  temporary?: boolean;
  force?: boolean;
  nickname?: string;
  status: string;
  mfaType: string;
  provider: string;
  admin?: boolean;
  tenant: string;
  orgUnit?: string;
  json?: boolean;
}

type PasswordOptions = Pick<CreateOptions, 'password' | 'passwordStdin' | 'temporary' | 'force' | 'json'>;

/** @returns the command `user`, to which other files add further commands */
export function addUserCommands(program: Command): Command {
  const user = program.command('user').description('accounts');

  user
    .command('create')
    .description('create an account; without a password it waits for an invitation')
    .requiredOption('--login-name <name>')
    .option('--email <address>')
    .option('--password <password>')
    .option('--password-stdin', 'read the password from standard input')
    .option('--temporary', 'the user has to change the password at the first login')
    .option('--force', 'accept a password that does not meet the policy')
    .option('--nickname <text>')
    .option('--status <status>', '1 enabled, 0 not enabled, -1 disabled, -2 expired', '1')
    .option('--mfa-type <type>', 'email or totp', 'email')
    .option('--provider <provider>', 'password or ldap', 'password')
    .option('--admin')
    .option('--tenant <id>', 'the tenant', rootTenant)
    .option('--org-unit <id>')
    .option('--json')
    .action(async (options: CreateOptions) => {
      const password = await passwordOf(options);
      await inContext(async (context) => {
        const administration = context.get(UserAdministration);
        const owner = {
          loginName: options.loginName,
          email: options.email ?? null,
          nickname: options.nickname ?? null,
        };
        const created = await administration.create(operatorAuthority, {
          ...owner,
          passwordHash: password === undefined ? null : await administration.hash(password, owner, rulesOf(options)),
          temporary: options.temporary ?? false,
          status: statusOf(options.status),
          mfaType: oneOf<MfaType>('--mfa-type', options.mfaType, ['email', 'totp']),
          provider: oneOf<Provider>('--provider', options.provider, ['password', 'ldap']),
          isAdmin: options.admin ?? false,
          tenantId: options.tenant,
          orgUnitId: options.orgUnit ?? null,
        });
        printRecord(userView(created), options.json);
      });
    });

  onUser(user, 'show', 'print an account without its secrets', (found) => {
    return Promise.resolve(userView(found));
  });

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
        return { ...userView(found), status: statusOf(status) };
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
        return { ...userView(found), mfa_type: mfaType };
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

export function userView(user: User): Record<string, unknown> {
  return {
    uid: user.uid,
    login_name: user.loginName,
    email: user.email,
    nickname: user.nickname,
    status: user.status,
    provider: user.provider,
    mfa_type: user.mfaType,
    totp_confirmed: user.totpSecret !== null,
    is_admin: user.isAdmin,
    must_change_password: user.mustChangePassword,
    tenant_id: user.tenantId,
    org_unit_id: user.orgUnitId,
    login_failed_count: user.loginFailedCount,
    last_login_failed_time: user.lastLoginFailedTime,
    last_login_success_time: user.lastLoginSuccessTime,
    created_at: user.createdAt,
  };
}
