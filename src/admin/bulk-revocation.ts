import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { TokenRevoker } from '../sessions/token-revoker';
import { assertTenant } from '../users/tenant.repository';
import { type UserConditions, UserSelection } from '../users/user-selection';
import { AdminChanges } from './admin-changes';
import { operatorAuthority } from './authority';
import { type Place, type Run, RevocationRuns } from './persistence/revocation-run.repository';

export interface RevocationReport {
  /** Users whose sessions this run has ended. */
  users: number;
  /** Tokens that were not revoked before. */
  revoked: number;
  /** Users that the interrupted run had done. */
  skipped: number;
}

export interface RevocationOptions {
  /** Called after each batch. */
  readonly progress: () => void;
  /** Ends the run between two batches. */
  readonly signal: AbortSignal;
}

/** Users of one transaction. A login of one of them waits for its end. */
const batchSize = 100;

/**
 * `user revoke-tokens` for many users. Each batch is one transaction with an audit row for each user and one for the
 * batch, and stores how far the run has come. A run that is killed loses its last batch.
 */
@Injectable()
export class BulkRevocation {
  constructor(
    private readonly database: Database,
    private readonly changes: AdminChanges,
    private readonly selection: UserSelection,
    private readonly revoker: TokenRevoker,
    private readonly runs: RevocationRuns,
  ) {}

  /** @throws AccountProblem when there is no such tenant */
  async count(conditions: UserConditions): Promise<number> {
    if (conditions.tenantId !== undefined) await assertTenant(this.database, conditions.tenantId);
    return this.selection.count(conditions);
  }

  /** @returns where the newest run with these conditions has stopped; undefined if there is none, or if it has finished */
  interrupted(conditions: UserConditions): Promise<Place | undefined> {
    return this.runs.interrupted(textOf(conditions));
  }

  /**
   * A session that was opened before the batch of its user ends. One that is opened after it lives.
   * @param report is filled batch by batch, so that it also describes a run that was stopped
   * @param from where an interrupted run goes on
   */
  async run(
    conditions: UserConditions,
    report: RevocationReport,
    { progress, signal }: RevocationOptions,
    from: Place = { after: '', users: 0 },
  ): Promise<void> {
    report.skipped = from.users;
    const run = await this.runs.begin(textOf(conditions), from);
    for (let { after } = from; !signal.aborted;) {
      const uids = await this.selection.next(conditions, after, batchSize);
      const last = uids.at(-1) ?? null;
      const done = await this.revoke(run, uids, conditions, report.skipped + report.users);
      report.users += done.users;
      report.revoked += done.revoked;
      if (last === null) return;
      after = last;
      progress();
      // SQLite answers within one iteration of the event loop, and Node handles signals between two.
      await nextTurn();
    }
  }

  /** @param before the users of the batches before this one */
  private revoke(run: Run, uids: readonly string[], conditions: UserConditions, before: number) {
    return this.changes.make(operatorAuthority, async ({ tx, record }) => {
      const done = { users: 0, revoked: 0 };
      // In the order of the ids, so that two runs at once never wait for each other.
      for (const userId of uids) {
        if (!(await this.selection.endEverythingIssued(tx, userId, conditions))) continue;
        const revoked = await this.revoker.markRevoked(tx, userId);
        await record('USER_TOKENS_REVOKED', { userId, detail: { revoked } });
        done.users += 1;
        done.revoked += revoked;
      }
      const after = uids.at(-1) ?? null;
      const users = before + done.users;
      await (after === null ? this.runs.finish(tx, run, users) : this.runs.advance(tx, run, { after, users }));
      await record('REVOCATION_BATCH', {
        detail: { conditions: run.conditions, revoked: done.revoked, after, users },
      });
      return done;
    });
  }
}

/** The same text for the same conditions, in whichever order they were given. */
function textOf(conditions: UserConditions): string {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? 'all'
    : given
        .map(([name, value]) => `${name}=${String(value)}`)
        .sort()
        .join(' ');
}
