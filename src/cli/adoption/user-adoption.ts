import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AdminChanges } from '../../admin/admin-changes';
import { operatorAuthority } from '../../admin/authority';
import { Database } from '../../platform/database/database';
import type { Sql } from '../../platform/database/sql';
import { isDuplicate } from '../../platform/database/store-failure';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { assertNoClient } from '../../admin/user-administration';
import { SubjectIds } from '../../users/subject-ids';
import { AdoptedUsers, type AdoptedUser } from '../../users/adopted-users';
import { AccountProblem, type NewUser } from '../../users/user-accounts';
import { type AgeCounts, PasswordAges } from '../../admin/password-ages';
import { adoptedUser, labelOf } from './adopted-user';
import type { AdoptionPlan } from './adoption-plan';
import { claimOf, Claims } from './claims';
import type { AdoptedRow, SourceTable } from './source-table';

export interface AdoptionReport {
  rows: number;
  created: number;
  /** Rows that an earlier run has adopted. Adopting the same table again therefore changes nothing. */
  skipped: number;
  failed: number;
}

export interface RefusedRow {
  /** The position of the row in the answer of the database, from 1. */
  readonly row: number;
  readonly uid: string | null;
  readonly login_name: string | null;
  readonly problem: string;
}

export interface AdoptionOptions {
  readonly dryRun: boolean;
  /** Counts the passwords of the created users. */
  readonly ages: AgeCounts;
  readonly refused: (row: RefusedRow) => Promise<void>;
  /** Called after each batch. */
  readonly progress: (rows: number) => void;
  /** Ends the adoption between two batches. */
  readonly signal: AbortSignal;
}

interface Candidate {
  readonly row: number;
  readonly source: AdoptedRow;
}

/** Rows of one transaction. A signal waits for the end of one. */
const batchSize = 200;

/**
 * `migrate --adopt`: one transaction for each batch, with an audit row for each user. A run that is killed loses its last
 * batch, and the next run skips what was committed. The memory does not grow with the table, except in a dry run.
 */
@Injectable()
export class UserAdoption {
  constructor(
    private readonly database: Database,
    private readonly changes: AdminChanges,
    private readonly users: AdoptedUsers,
    private readonly ids: SubjectIds,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly ages: PasswordAges,
  ) {}

  /** @param report is filled batch by batch, so that it also describes an adoption that was stopped */
  async run(source: SourceTable, plan: AdoptionPlan, report: AdoptionReport, options: AdoptionOptions): Promise<void> {
    // In a dry run the database does not contain the earlier rows.
    const remembered = options.dryRun ? new Claims() : undefined;
    let read = 0;
    let batch: Candidate[] = [];
    const adopt = async () => {
      await this.adopt(batch, plan, report, options, remembered);
      batch = [];
      options.progress(report.rows);
      // SQLite answers within one iteration of the event loop, and Node handles signals between two.
      await nextTurn();
    };
    for await (const row of source.rows()) {
      batch.push({ row: ++read, source: row });
      if (batch.length === batchSize) await adopt();
      if (options.signal.aborted) return;
    }
    if (batch.length > 0) await adopt();
  }

  private async adopt(
    batch: readonly Candidate[],
    plan: AdoptionPlan,
    report: AdoptionReport,
    options: AdoptionOptions,
    remembered: Claims | undefined,
    attempts = 3,
  ): Promise<void> {
    const { created, skipped, failed } = await this.judged(batch, plan, options.ages, remembered);
    try {
      if (remembered === undefined && created.length > 0) await this.create(created);
    } catch (error) {
      if (!(isDuplicate(error) || error instanceof AccountProblem) || attempts === 1) throw error;
      // Another process has created one of these accounts, or a client with one of their ids, since the look-up. The rows are judged again one by one, and
      // only the rows of that process are skipped or refused.
      for (const one of batch) await this.adopt([one], plan, report, options, remembered, attempts - 1);
      return;
    }
    for (const row of failed) await options.refused(row);
    report.rows += batch.length;
    report.created += created.length;
    report.skipped += skipped;
    report.failed += failed.length;
  }

  private async judged(
    batch: readonly Candidate[],
    plan: AdoptionPlan,
    ages: AgeCounts,
    remembered: Claims | undefined,
  ) {
    const failed: RefusedRow[] = [];
    const created: AdoptedUser[] = [];
    let skipped = 0;
    const judge = ({ row, source }: Candidate, work: () => void) => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof AccountProblem)) throw error;
        failed.push({ row, ...labelOf(source), problem: error.message });
      }
    };
    const readable: { candidate: Candidate; user: NewUser }[] = [];
    for (const candidate of batch) {
      judge(candidate, () => readable.push({ candidate, user: adoptedUser(candidate.source, plan, this.clock.now()) }));
    }
    const claims = remembered ?? new Claims();
    for (const user of await this.users.existing(
      this.database,
      readable.map(({ user }) => user),
    ))
      claims.add(user);
    const clients = await this.clientsAmong(
      readable.map(({ user }) => user),
      this.database,
    );
    for (const { candidate, user } of readable) {
      judge(candidate, () => {
        if (user.uid !== undefined) assertNoClient(clients, user.uid);
        if (claims.includes(user)) return void (skipped += 1);
        const accepted = { ...this.ages.assigned(user, ages), uid: user.uid ?? this.random.uuid() };
        claims.add(claimOf(accepted));
        created.push(accepted);
      });
    }
    return { created, skipped, failed: failed.sort((a, b) => a.row - b.row) };
  }

  private clientsAmong(users: readonly NewUser[], sql: Sql): Promise<ReadonlyMap<string, string>> {
    const uids = users.flatMap(({ uid }) => uid ?? []);
    return this.ids.elsewhere('a user', uids, sql);
  }

  private create(users: readonly AdoptedUser[]): Promise<void> {
    return this.changes.makeWithIds(operatorAuthority, async ({ tx, record }) => {
      const clients = await this.clientsAmong(users, tx);
      for (const { uid } of users) assertNoClient(clients, uid);
      await this.users.insert(tx, users);
      for (const { uid } of users) await record('USER_IMPORTED', { userId: uid });
    });
  }
}
