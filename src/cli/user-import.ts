import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { identityKey } from '../shared/identity-key';
import type { PasswordOwner } from '../password-reset/password-checks';
import { AccountProblem, identityIsTaken, type NewUser } from '../users/user-accounts';
import { UsersRepository } from '../users/users.repository';
import { type Fields, readRows, type Row, type RowFormat } from './import-rows';
import { type Identity, identityOf, userOf } from './imported-user';
import { type AgeCounts, PasswordAges } from './password-ages';
import { readAhead } from './read-ahead';
import { operatorAuthority } from '../admin/authority';
import { PasswordHasher } from '../hashing/password-hasher';
import { Clock } from '../shared/clock';
import { type PasswordRules, UserAdministration } from '../admin/user-administration';

export interface ImportReport {
  rows: number;
  created: number;
  /** Rows whose login name exists already. Importing the same file again therefore changes nothing. */
  skipped: number;
  failed: { row: number; login_name: string; problem: string }[];
}

export interface ImportOptions {
  readonly format: RowFormat;
  readonly dryRun: boolean;
  /** Applies to rows with a password. A hash does not show whether its password meets the policy. */
  readonly rules: PasswordRules;
  /** Counts the passwords of the created users. */
  readonly ages: AgeCounts;
  /** Called after every 1000 rows. */
  readonly progress: (rows: number) => void;
  /** Ends the import between two rows. */
  readonly signal: AbortSignal;
}

type HashOptions = Pick<ImportOptions, 'dryRun' | 'rules'>;

/** The names and addresses of the earlier rows of a dry run. */
type Taken = Set<string>;

/** A row that was checked, and its password hashed. */
interface Prepared {
  readonly fields: Fields;
  /** Missing if the row does not show it. */
  readonly identity?: Identity;
  readonly result: NewUser | 'exists' | AccountProblem;
}

/** `user import`: one transaction for each row, so a wrong row is reported and the others are imported. */
@Injectable()
export class UserImport {
  constructor(
    private readonly users: UsersRepository,
    private readonly administration: UserAdministration,
    private readonly hasher: PasswordHasher,
    private readonly clock: Clock,
    private readonly ages: PasswordAges,
  ) {}

  /** @param report is filled row by row, so that it also describes an import that was stopped */
  async run(
    file: string,
    report: ImportReport,
    { format, dryRun, rules, ages, progress, signal }: ImportOptions,
  ): Promise<void> {
    const taken: Taken | undefined = dryRun ? new Set() : undefined;
    // One row for each hash thread. More rows would wait in the queue, which refuses a job that waits too long.
    const width = this.hasher.stats().concurrency;
    for await (const row of readAhead(readRows(file, format), width, (read) => this.prepare(read, { dryRun, rules }))) {
      report.rows += 1;
      try {
        report[await this.importRow(row, ages, taken)] += 1;
      } catch (error) {
        if (!(error instanceof AccountProblem)) throw error;
        const { login_name: name } = row.fields;
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

  /** Rows are prepared in parallel, before the rows above them are written. */
  private async prepare({ fields, problem }: Row, options: HashOptions): Promise<Prepared> {
    let identity: Identity | undefined;
    try {
      if (problem !== undefined) throw new AccountProblem(problem);
      identity = identityOf(fields);
      if (await this.exists(identity)) return { fields, result: 'exists' };
      const hash = (password: string, owner: PasswordOwner) => this.hash(password, owner, options);
      return { fields, identity, result: await userOf(fields, identity, this.clock.now(), hash) };
    } catch (error) {
      if (error instanceof AccountProblem) return { fields, identity, result: error };
      throw error;
    }
  }

  /** @param taken is given in a dry run, because the database then does not contain the earlier rows */
  private async importRow(row: Prepared, ages: AgeCounts, taken: Taken | undefined): Promise<'created' | 'skipped'> {
    const { identity, result: user } = row;
    if (user === 'exists') return 'skipped';
    if (user instanceof AccountProblem) {
      // An earlier row of the same name may have been written after this one was prepared.
      if (identity && (taken ? taken.has(keyOf(identity)) : await this.exists(identity))) return 'skipped';
      throw user;
    }
    if (taken === undefined) {
      try {
        await this.administration.create(operatorAuthority, this.ages.assigned(user, ages), 'USER_IMPORTED');
        return 'created';
      } catch (error) {
        // An earlier row, or a parallel import of the same file, may have created the account since the look-up.
        if (error instanceof AccountProblem && (await this.exists(user))) return 'skipped';
        throw error;
      }
    }
    if (taken.has(keyOf(user))) return 'skipped';
    const all = keysOf(user);
    if (all.some((key) => taken.has(key))) throw identityIsTaken(user.uid);
    await this.administration.rehearse(user);
    for (const key of [...all, keyOf(user)]) taken.add(key);
    this.ages.assigned(user, ages);
    return 'created';
  }

  /** @throws AccountProblem when the name and the uid belong to different accounts */
  private async exists({ loginName, uid }: Identity): Promise<boolean> {
    const user = await this.users.findByLoginName(loginName);
    if (user !== null && uid !== undefined && user.uid !== uid) {
      throw new AccountProblem(`the login name belongs to the account ${user.uid}`);
    }
    if (user === null && uid !== undefined && (await this.users.findByUid(uid)) !== null) {
      throw new AccountProblem('the uid belongs to an account with another login name');
    }
    return user !== null;
  }

  private async hash(password: string, owner: PasswordOwner, { dryRun, rules }: HashOptions): Promise<string> {
    if (!dryRun) return this.administration.hash(password, owner, rules);
    // A dry run does not hash, because the hashes of a large file take hours and would be discarded.
    await this.administration.assertAllowed(password, owner, rules);
    return '(not hashed)';
  }
}

/** What a dry run remembers of an earlier row: the account as a whole, and each of its unique values. */
const nameKey = ({ loginName }: Identity) => `name ${identityKey(loginName)}`;
const keyOf = (user: Identity) => (user.uid === undefined ? nameKey(user) : `${nameKey(user)} of ${user.uid}`);
const keysOf = (user: NewUser) => [
  nameKey(user),
  ...(user.uid === undefined ? [] : [`uid ${user.uid}`]),
  ...(user.email === null ? [] : [`email ${identityKey(user.email)}`]),
];
