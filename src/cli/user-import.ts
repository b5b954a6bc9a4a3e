import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { identityKey } from '../shared/identity-key';
import type { PasswordOwner } from '../password-reset/password-checks';
import { rootTenant } from '../platform/settings/system-settings';
import { AccountProblem, type NewUser } from '../users/user-accounts';
import { UsersRepository } from '../users/users.repository';
import { type Fields, readRows } from './import-rows';
import { operatorAuthority } from '../admin/authority';
import { type PasswordRules, UserAdministration } from '../admin/user-administration';

export interface ImportReport {
  rows: number;
  created: number;
  /** Rows whose login name exists already. Importing the same file again therefore changes nothing. */
  skipped: number;
  failed: { row: number; login_name: string; problem: string }[];
}

export interface ImportOptions {
  readonly dryRun: boolean;
  /** Applies to rows with a password. A hash does not show whether its password meets the policy. */
  readonly rules: PasswordRules;
  /** Called after every 1000 rows. */
  readonly progress: (rows: number) => void;
  /** Ends the import between two rows. */
  readonly signal: AbortSignal;
}

type HashOptions = Pick<ImportOptions, 'dryRun' | 'rules'>;

/** The names and addresses of the earlier rows of a dry run. */
type Taken = Set<string>;

const keys = new Set([
  'login_name',
  'email',
  'password',
  'password_hash',
  'nickname',
  'status',
  'mfa_type',
  'provider',
  'is_admin',
  'tenant_id',
  'org_unit_id',
  'temporary',
]);

/** A bcrypt hash as common libraries write it. With a cost above 14 one login would occupy a core for seconds. */
const importableHash = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/;

/** `user import`: one transaction for each row, so a wrong row is reported and the others are imported. */
@Injectable()
export class UserImport {
  constructor(
    private readonly users: UsersRepository,
    private readonly administration: UserAdministration,
  ) {}

  /** @param report is filled row by row, so that it also describes an import that was stopped */
  async run(file: string, report: ImportReport, { dryRun, rules, progress, signal }: ImportOptions): Promise<void> {
    const taken: Taken = new Set();
    for await (const { fields, problem } of readRows(file)) {
      report.rows += 1;
      try {
        if (problem !== undefined) throw new AccountProblem(problem);
        report[await this.importRow(fields, rules, dryRun ? taken : undefined)] += 1;
      } catch (error) {
        if (!(error instanceof AccountProblem)) throw error;
        const { login_name: name } = fields;
        report.failed.push({
          row: report.rows,
          login_name: typeof name === 'string' ? name : '',
          problem: error.message,
        });
      }
      if (report.rows % 1000 === 0) progress(report.rows);
      // Node handles signals between two iterations of the event loop. SQLite answers within one iteration, so this
      // wait lets Node handle a signal.
      await nextTurn();
      if (signal.aborted) return;
    }
  }

  /** @param taken is given in a dry run, because the database then does not contain the earlier rows */
  private async importRow(
    fields: Fields,
    rules: PasswordRules,
    taken: Taken | undefined,
  ): Promise<'created' | 'skipped'> {
    const unknown = Object.keys(fields).find((key) => !keys.has(key));
    if (unknown !== undefined) throw new AccountProblem(`unknown key ${JSON.stringify(unknown)}`);
    const loginName = asText(fields, 'login_name') ?? '';
    const name = `name ${identityKey(loginName)}`;
    if (taken?.has(name) || (await this.users.findByLoginName(loginName)) !== null) return 'skipped';
    const user = await this.userOf(fields, loginName, { rules, dryRun: taken !== undefined });
    if (taken === undefined) {
      try {
        await this.administration.create(operatorAuthority, user, 'USER_IMPORTED');
        return 'created';
      } catch (error) {
        // A parallel import of the same file may have created the account since the look-up.
        if (error instanceof AccountProblem && (await this.users.findByLoginName(loginName)) !== null) return 'skipped';
        throw error;
      }
    }
    const email = user.email === null ? name : `email ${identityKey(user.email)}`;
    if (taken.has(email)) throw new AccountProblem('the login name or the e-mail address is taken');
    await this.administration.rehearse(user);
    taken.add(name).add(email);
    return 'created';
  }

  private async userOf(fields: Fields, loginName: string, options: HashOptions): Promise<NewUser> {
    if (loginName.trim() === '') throw new AccountProblem('login_name is missing');
    const provider = asChoice(fields, 'provider', ['password', 'ldap'] as const, 'password');
    const owner = { loginName, email: asText(fields, 'email') ?? null, nickname: asText(fields, 'nickname') ?? null };
    return {
      ...owner,
      passwordHash: await this.hashOf(fields, owner, options),
      temporary: asFlag(fields, 'temporary'),
      status: Number(asChoice(fields, 'status', ['1', '0', '-1', '-2'] as const, '1')),
      mfaType: asChoice(fields, 'mfa_type', ['email', 'totp'] as const, 'email'),
      provider,
      isAdmin: asFlag(fields, 'is_admin'),
      tenantId: asText(fields, 'tenant_id') ?? rootTenant,
      orgUnitId: asText(fields, 'org_unit_id') ?? null,
    };
  }

  private async hashOf(fields: Fields, owner: PasswordOwner, { dryRun, rules }: HashOptions): Promise<string | null> {
    const hash = asText(fields, 'password_hash');
    const password = asText(fields, 'password');
    if (hash !== undefined && password !== undefined)
      throw new AccountProblem('password and password_hash are both given: give only one');
    if (hash !== undefined && !importableHash.test(hash)) {
      throw new AccountProblem('password_hash is not a bcrypt hash of cost 4 to 14');
    }
    if (password === undefined) return hash ?? null;
    if (!dryRun) return this.administration.hash(password, owner, rules);
    // A dry run does not hash, because the hashes of a large file take hours and would be discarded.
    await this.administration.assertAllowed(password, owner, rules);
    return '(not hashed)';
  }
}

function asText(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') throw new AccountProblem(`${key} must be text`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function asChoice<T extends string>(fields: Fields, key: string, allowed: readonly T[], fallback: T): T {
  const value = asText(fields, key) ?? fallback;
  if (!(allowed as readonly string[]).includes(value))
    throw new AccountProblem(`${key} must be one of ${allowed.join(', ')}`);
  return value as T;
}

function asFlag(fields: Fields, key: string): boolean {
  return ['true', '1'].includes(asChoice(fields, key, ['true', 'false', '1', '0'] as const, 'false'));
}
