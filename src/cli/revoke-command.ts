import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { BulkRevocation, type RevocationReport } from '../admin/bulk-revocation';
import { UserSupport } from '../admin/user-support';
import type { MfaType, Provider } from '../users/user.entity';
import type { UserConditions } from '../users/user-selection';
import { CliProblem, inContext, oneOf, printRecord, statusOf } from './cli-context';
import { interruptible } from './interruption';
import { administer } from './user-commands';

interface Options {
  all?: true;
  tenant?: string;
  where: readonly string[];
  dryRun?: true;
  resume?: true;
  json?: boolean;
}

/** `user revoke-tokens`: of one user by name, or of many users in batches that can be stopped and resumed. */
export function addRevokeCommand(user: Command): void {
  user
    .command('revoke-tokens')
    .description('end all sessions of one account, or of many')
    .argument('[name]', 'login name or uid')
    .option('--all', 'every account')
    .option('--tenant <id>', 'the accounts of this tenant')
    .option('--where <condition>', 'status=…, provider=…, mfa_type=… or is_admin=…; all given ones apply', more, [])
    .option('--dry-run', 'count the accounts, change nothing')
    .option('--resume', 'do the rest of an interrupted run with the same conditions')
    .option('--json')
    .action((name: string | undefined, options: Options) => {
      const { all, tenant, where } = options;
      if (name === undefined) return ofMany(conditionsOf(options), options);
      if (all || tenant !== undefined || where.length > 0 || options.dryRun || options.resume) {
        throw new CliProblem('give either the name of one account or options that select many');
      }
      return administer(name, options.json, async (found, context) => {
        const revoked = await context.get(UserSupport).revokeTokens(operatorAuthority, found.uid);
        return { uid: found.uid, login_name: found.loginName, revoked };
      });
    });
}

const more = (text: string, former: readonly string[]) => [...former, text];

/** How to read the value of each condition. */
const readers: Readonly<Record<string, (value: string) => UserConditions>> = {
  status: (value) => ({ status: statusOf(value) }),
  provider: (value) => ({ provider: oneOf<Provider>('provider', value, ['password', 'ldap', 'oidc']) }),
  mfa_type: (value) => ({ mfaType: oneOf<MfaType>('mfa_type', value, ['email', 'totp']) }),
  is_admin: (value) => ({ isAdmin: oneOf('is_admin', value, ['true', 'false']) === 'true' }),
};

function conditionsOf({ all, tenant, where }: Options): UserConditions {
  const selects = tenant !== undefined || where.length > 0;
  if (all && selects) throw new CliProblem('--all selects every account: leave out --tenant and --where');
  if (!all && !selects) throw new CliProblem('name an account, or give --all, --tenant or --where');
  const given = new Map<string, UserConditions>();
  for (const text of where) {
    const [, field = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const read = Object.hasOwn(readers, field) ? readers[field] : undefined;
    if (read === undefined) {
      throw new CliProblem(
        `--where must be one of ${Object.keys(readers).join('=…, ')}=…, not ${JSON.stringify(text)}`,
      );
    }
    // Two values of one field would select nobody.
    if (given.has(field)) throw new CliProblem(`--where ${field} is given twice`);
    given.set(field, read(value));
  }
  return Object.assign({ ...(tenant === undefined ? {} : { tenantId: tenant }) }, ...given.values()) as UserConditions;
}

async function ofMany(conditions: UserConditions, { dryRun, resume, json }: Options): Promise<void> {
  await inContext(async (context) => {
    const revocation = context.get(BulkRevocation);
    const selected = await revocation.count(conditions);
    if (dryRun) return printRecord({ selected }, json);
    const from = resume ? await revocation.interrupted(conditions) : undefined;
    if (resume && from === undefined) {
      throw new CliProblem('no run with these conditions was interrupted: leave out --resume to begin a new one');
    }
    const report: RevocationReport = { users: 0, revoked: 0, skipped: 0 };
    // Progress is for people. A program that reads the JSON report expects only problems on standard error.
    const progress = () => {
      const done = report.skipped + report.users;
      if (!json && done < selected) process.stderr.write(`${done} of ${selected} users\n`);
    };
    const interrupted = await interruptible(
      (signal) => revocation.run(conditions, report, { progress, signal }, from),
      () => `after ${report.skipped + report.users} users; run it again with --resume for the rest`,
    );
    printRecord({ selected, ...report }, json);
    if (interrupted) throw interrupted;
  });
}
