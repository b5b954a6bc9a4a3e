import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { PasswordHasher } from '../hashing/password-hasher';
import type { PasswordOwner } from '../password-reset/password-checks';
import { rootTenant } from '../platform/settings/system-settings';
import { Clock } from '../shared/clock';
import { identityTaken, notPermitted } from '../shared/errors/error-catalogue';
import { identityKey } from '../shared/identity-key';
import { AccountProblem, identityIsTaken, type NewUser } from '../users/user-accounts';
import { UsersRepository } from '../users/users.repository';
import { everyTenant } from './admin-scope';
import { type Authority, rulesAdministrators } from './authority';
import { asText } from './import-fields';
import type { Fields, Row } from './import-rows';
import { type Identity, identityOf, type ImportContext, userOf } from './import/imported-user';
import { readAhead } from './import/read-ahead';
import { type AgeCounts, PasswordAges } from './password-ages';
import { type ImportedUser, type PasswordRules, UserAdministration } from './user-administration';

export interface ImportOptions {
  readonly by: Authority;
  readonly dryRun: boolean;
  /** Applies to rows with a password. A hash does not show whether its password meets the policy. */
  readonly rules: PasswordRules;
  /** Counts the passwords of the created users. */
  readonly ages: AgeCounts;
  /** Rows that are checked and hashed at once. By default one for each hash thread. */
  readonly width?: number;
}

/** What became of a row. `exists`: its login name exists already, so importing a file again changes nothing. */
export interface ImportedRow {
  readonly row: Row;
  readonly outcome: 'created' | 'exists' | AccountProblem;
  /** Given when the user was created, or in a dry run would be. */
  readonly user?: ImportedUser;
}

/** The names and addresses of the earlier rows of a dry run. */
type Taken = Set<string>;

/** A row that was checked, and its password hashed. */
interface Prepared {
  readonly row: Row;
  /** Missing if the row does not show it. */
  readonly identity?: Identity;
  readonly result: ImportedUser | 'exists' | AccountProblem;
}

/** `user import` and POST /admin/users/import: one transaction for each row, so a wrong row is reported and the others are imported. */
@Injectable()
export class UserImport {
  constructor(
    private readonly users: UsersRepository,
    private readonly administration: UserAdministration,
    private readonly hasher: PasswordHasher,
    private readonly clock: Clock,
    private readonly ages: PasswordAges,
  ) {}

  /**
   * Imports the rows in their order. The import ends when its caller asks for no further row.
   * @throws DomainError when the store does not answer, or the rights of the caller have ended
   */
  async *run(rows: AsyncIterable<Row>, options: ImportOptions): AsyncGenerator<ImportedRow> {
    const taken: Taken | undefined = options.dryRun ? new Set() : undefined;
    // More rows than hash threads would wait in the queue, which refuses a job that waits too long.
    const width = Math.min(options.width ?? Infinity, this.hasher.stats().concurrency);
    for await (const prepared of readAhead(rows, width, (row) => this.prepare(row, options))) {
      const outcome = await this.outcomeOf(prepared, options, taken);
      yield { row: prepared.row, outcome, ...(outcome === 'created' && { user: prepared.result as ImportedUser }) };
      // SQLite answers within one iteration of the event loop. Node handles signals and requests between two.
      await nextTurn();
    }
  }

  private async outcomeOf(
    row: Prepared,
    options: ImportOptions,
    taken: Taken | undefined,
  ): Promise<ImportedRow['outcome']> {
    try {
      return await this.importRow(row, options, taken);
    } catch (error) {
      if (error instanceof AccountProblem) return error;
      throw error;
    }
  }

  /** Rows are prepared in parallel, before the rows above them are written. */
  private async prepare(row: Row, options: ImportOptions): Promise<Prepared> {
    let identity: Identity | undefined;
    try {
      if (row.problem !== undefined) throw new AccountProblem(row.problem);
      identity = identityOf(row.fields);
      if (await this.exists(identity)) return { row, identity, result: 'exists' };
      assertOwnFields(options.by, row.fields);
      return { row, identity, result: await userOf(row.fields, identity, this.contextOf(options)) };
    } catch (error) {
      if (error instanceof AccountProblem) return { row, identity, result: error };
      throw error;
    }
  }

  /** @param taken is given in a dry run, because the database then does not contain the earlier rows */
  private async importRow(
    { identity, result: user }: Prepared,
    { by, ages }: ImportOptions,
    taken: Taken | undefined,
  ): Promise<'created' | 'exists'> {
    if (user === 'exists') return 'exists';
    if (user instanceof AccountProblem) {
      // An earlier row of the same name may have been written after this one was prepared.
      if (identity && (taken ? taken.has(keyOf(identity)) : await this.exists(identity))) return 'exists';
      throw user;
    }
    if (taken === undefined) {
      try {
        await this.administration.create(by, this.ages.assigned(user, ages), 'USER_IMPORTED');
        return 'created';
      } catch (error) {
        // An earlier row, or a parallel import of the same file, may have created the account since the look-up.
        if (error instanceof AccountProblem && (await this.exists(user))) return 'exists';
        throw error;
      }
    }
    if (taken.has(keyOf(user))) return 'exists';
    const all = keysOf(user);
    if (all.some((key) => taken.has(key))) throw identityIsTaken(user.uid);
    await this.administration.rehearse(by, user);
    for (const key of [...all, keyOf(user)]) taken.add(key);
    this.ages.assigned(user, ages);
    return 'created';
  }

  /** @throws AccountProblem when the name and the uid belong to different accounts */
  private async exists({ loginName, uid }: Identity): Promise<boolean> {
    const user = await this.users.findByLoginName(loginName);
    if (user !== null && uid !== undefined && user.uid !== uid) {
      throw new AccountProblem(`the login name belongs to the account ${user.uid}`, identityTaken);
    }
    if (user === null && uid !== undefined && (await this.users.findByUid(uid)) !== null) {
      throw new AccountProblem('the uid belongs to an account with another login name', identityTaken);
    }
    return user !== null;
  }

  private contextOf(options: ImportOptions): ImportContext {
    const { tenantId } = options.by.scope;
    return {
      now: this.clock.now(),
      tenant: tenantId === everyTenant ? rootTenant : tenantId,
      hash: (password, owner) => this.hash(password, owner, options),
    };
  }

  private async hash(password: string, owner: PasswordOwner, { dryRun, rules }: ImportOptions): Promise<string> {
    if (!dryRun) return this.administration.hash(password, owner, rules);
    // A dry run does not hash, because the hashes of a large file take hours and would be discarded.
    await this.administration.assertAllowed(password, owner, rules);
    return '(not hashed)';
  }
}

/** What an administrator of a tenant cannot give, so such a row is refused instead of being imported without it. */
const rootFields = ['is_admin', 'role', 'provider', 'legacy_login'];
const harmless = ['', 'false', '0', 'password'];

/** @throws AccountProblem AUTH_403001 */
function assertOwnFields(by: Authority, fields: Fields): void {
  if (rulesAdministrators(by) || rootFields.every((key) => harmless.includes(asText(fields, key) ?? ''))) return;
  throw new AccountProblem('only administrators of the root tenant give rights and kinds of sign-in', notPermitted);
}

/** What a dry run remembers of an earlier row: the account as a whole, and each of its unique values. */
const nameKey = ({ loginName }: Identity) => `name ${identityKey(loginName)}`;
const keyOf = (user: Identity) => (user.uid === undefined ? nameKey(user) : `${nameKey(user)} of ${user.uid}`);
const keysOf = (user: NewUser) => [
  nameKey(user),
  ...(user.uid === undefined ? [] : [`uid ${user.uid}`]),
  ...(user.email === null ? [] : [`email ${identityKey(user.email)}`]),
];
