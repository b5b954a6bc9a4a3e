import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { Database } from '../../platform/database/database';
import { type Sql, timeOf, timeOrNull } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { isDuplicate } from '../../platform/database/store-failure';
import { type Lease, LeasedRows } from '../../platform/outbox/leased-rows';
import type { EndedSessions } from '../../sessions/session-ends';
import { LogoutLimits } from '../logout/logout-limits';
import { logoutStatus, type LogoutStatusName } from './application-logout.entity';

const table = {
  name: 'application_logouts',
  key: 'id',
  part: 'application_id',
  columns: ['id', 'application_id', 'user_id', 'sid', 'attempts', 'created_at'],
} as const;

interface Leasable {
  readonly id: string;
  readonly application_id: string;
  readonly user_id: string;
  readonly sid: string;
  readonly attempts: number;
  readonly created_at: unknown;
}
export type ClaimedLogout = Leasable & Lease;

/** How an attempt ended for good, and what the application answered. */
export interface Settled {
  readonly status: Exclude<LogoutStatusName, 'waiting'>;
  readonly answer: string | null;
}

/** The receipt: an application and the end of a session. */
export interface LogoutReceipt {
  readonly id: string;
  readonly sid: string;
  /** The name is null when the application was deleted. */
  readonly application: { readonly id: string; readonly name: string | null };
  readonly createdAt: Date;
  readonly status: LogoutStatusName;
  readonly attempts: number;
  readonly answeredAt: Date | null;
  readonly answer: string | null;
}

/** An application, and what it answered to the ends of some sessions. */
export interface ToldApplication {
  readonly id: string;
  /** Null when the application was deleted. */
  readonly name: string | null;
  readonly sessions: number;
  /** `waiting` while one of the sessions waits, then `failed` if one of them was given up. */
  readonly status: LogoutStatusName;
  readonly attempts: number;
  readonly answeredAt: Date | null;
  readonly answer: string | null;
  readonly nextAttemptAt: Date | null;
}

/** Where a list goes on: the time in milliseconds and the id of its last row. */
export type LogoutPlace = readonly [createdAt: number, id: string];

export const logoutStatusNames = Object.keys(logoutStatus) as readonly LogoutStatusName[];

/** Rows of one statement. A person has fewer sign-ins; a program that never logs out may have any number. */
const batchRows = 1000;
const mostCounted = 100_000;
export const applicationDeleted = 'application deleted';

/** The table `application_logouts`: the outbox of the logout tokens, and their receipts (ADR 0035). */
@Injectable()
export class ApplicationLogouts {
  private readonly leased: LeasedRows<Leasable>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    random: Random,
    limits: LogoutLimits,
  ) {
    this.leased = new LeasedRows(table, limits.leaseMs, { database, clock, random });
  }

  /**
   * Queues a logout token for each application that these sessions have signed in to, in the transaction that ends them.
   * Races with another end of the same session, on any replica, as log-out and password change. `logout_id` is the key, so
   * that one row is written: the second end finds it, or waits for it and gets a duplicate key. Then only this
   * statement is undone, and it runs again and finds the row. An application without `backchannel_logout_uri` gets a
   * row too, for the receipt.
   * @returns how many applications were queued
   */
  async queue(sql: Sql, sessions: EndedSessions): Promise<number> {
    let queued = 0;
    for (let batch = batchRows; batch === batchRows; queued += batch) {
      try {
        batch = await this.queueSome(sql, sessions);
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        batch = await this.queueSome(sql, sessions);
      }
    }
    return queued;
  }

  private queueSome(sql: Sql, sessions: EndedSessions): Promise<number> {
    const now = this.clock.now();
    const { waiting, not_offered: notOffered } = logoutStatus;
    const keys = 'sids' in sessions ? filledUp(sessions.sids) : [sessions.userId];
    const which = 'sids' in sessions ? `s.sid IN (${keys.map(() => '?').join(', ')})` : 's.user_id = ?';
    return sql.affected(
      `INSERT INTO application_logouts
         (id, application_id, user_id, sid, status, attempts, next_attempt_at, created_at, settled_at)
       SELECT s.logout_id, s.application_id, s.user_id, s.sid,
         CASE WHEN a.backchannel_logout_uri IS NULL THEN ${notOffered} ELSE ${waiting} END, 0, ?, ?,
         CASE WHEN a.backchannel_logout_uri IS NULL THEN ? ELSE NULL END
       FROM application_sessions s JOIN applications a ON a.id = s.application_id
       WHERE ${which} AND NOT EXISTS (SELECT 1 FROM application_logouts l WHERE l.id = s.logout_id)
       LIMIT ${batchRows}`,
      [now, now, now, ...keys],
    );
  }

  /** The applications with due rows. Reads one entry of an index for each application. */
  async due(): Promise<string[]> {
    const now = this.clock.now();
    const rows = await this.database.rows<{ id: string }>(
      `SELECT a.id FROM applications a WHERE EXISTS (SELECT 1 FROM application_logouts l
         WHERE l.application_id = a.id AND l.status = ? AND l.next_attempt_at <= ?
           AND (l.claimed_until IS NULL OR l.claimed_until <= ?))`,
      [logoutStatus.waiting, now, now],
    );
    return rows.map(({ id }) => id);
  }

  claim(applicationId: string, wanted: number): Promise<ClaimedLogout[]> {
    return this.leased.claim(logoutStatus.waiting, wanted, applicationId);
  }

  /** Race: a process whose lease has ended, and the new owner. Only the owner writes (`LeasedRows.end`). */
  settle(row: ClaimedLogout, { status, answer }: Settled): Promise<boolean> {
    const set = { status: logoutStatus[status], settled_at: this.clock.now(), answer };
    return this.leased.end(row, logoutStatus.waiting, set);
  }

  /** Race: as `settle`. */
  postpone(row: ClaimedLogout, again: Date, answer: string): Promise<boolean> {
    return this.leased.end(row, logoutStatus.waiting, { next_attempt_at: again, answer });
  }

  /**
   * The URI of the application now. Null when it has none, undefined when it was deleted. One that was made later with its id is another
   * application.
   */
  async uriOf({ application_id: id, created_at: queued }: ClaimedLogout): Promise<string | null | undefined> {
    const row = await this.database.row<{ uri: string | null }>(
      'SELECT backchannel_logout_uri AS uri FROM applications WHERE id = ? AND created_at <= ?',
      [id, timeOf(queued)],
    );
    return row?.uri;
  }

  /** What the applications of a user were told, the newest first. @param sid of one session only */
  async list(userId: string, limit: number, after?: LogoutPlace): Promise<LogoutReceipt[]> {
    const [at, last] = [new Date(after?.[0] ?? 0), after?.[1] ?? ''];
    const place = after === undefined ? '' : 'AND l.created_at <= ? AND (l.created_at < ? OR l.id > ?)';
    const rows = await this.database.rows<Record<string, unknown>>(
      `SELECT l.id, l.sid, l.application_id, a.name, l.created_at, l.status, l.attempts, l.settled_at, l.answer
       FROM application_logouts l LEFT JOIN applications a ON a.id = l.application_id
       WHERE l.user_id = ? ${place} ORDER BY l.created_at DESC, l.id LIMIT ${Math.trunc(limit)}`,
      after === undefined ? [userId] : [userId, at, at, last],
    );
    return rows.map(receiptOf);
  }

  /**
   * What the applications that had to be told of the end of a user's sessions have answered: of the ends between two moments, and
   * of earlier ones that no application had accepted then. One row for each application, by its name.
   */
  async told(userId: string, since: Date, before: Date): Promise<ToldApplication[]> {
    const { waiting, told, failed } = logoutStatus;
    const among = (status: number) => `SUM(CASE WHEN l.status = ${status} THEN 1 ELSE 0 END)`;
    const lastOf = (status: number) => `MAX(CASE WHEN l.status = ${status} THEN l.answer END)`;
    const rows = await this.database.rows<Record<string, unknown>>(
      `SELECT l.application_id AS id, a.name, COUNT(*) AS sessions, ${among(waiting)} AS waiting, ${among(told)} AS told,
         ${among(failed)} AS failed, MAX(l.attempts) AS attempts, MAX(l.settled_at) AS answered,
         MIN(CASE WHEN l.status = ${waiting} THEN l.next_attempt_at END) AS again,
         COALESCE(${lastOf(waiting)}, ${lastOf(failed)}, ${lastOf(told)}) AS answer
       FROM application_logouts l LEFT JOIN applications a ON a.id = l.application_id
       WHERE l.user_id = ? AND l.created_at < ? AND (l.created_at >= ? OR l.settled_at IS NULL OR l.settled_at >= ?)
       GROUP BY l.application_id, a.name ORDER BY a.name, l.application_id`,
      [userId, before, since, since],
    );
    return rows.map(toldApplicationOf);
  }

  /** How many rows of applications that exist have this status, at most 100,000, and the time of the oldest. */
  async counted(status: LogoutStatusName): Promise<{ count: number; oldest: Date | null }> {
    const row = await this.database.row<{ count: number; oldest: unknown }>(
      `SELECT COUNT(*) AS count, MIN(created_at) AS oldest FROM
       (SELECT l.created_at FROM application_logouts l JOIN applications a ON a.id = l.application_id
        WHERE l.status = ? ORDER BY l.created_at LIMIT ${mostCounted}) AS first`,
      [logoutStatus[status]],
    );
    return { count: Number(row?.count ?? 0), oldest: timeOrNull(row?.oldest) };
  }

  /** Applications whose rows wait since before `since`, with their number. */
  async overdue(since: Date): Promise<{ readonly id: string; readonly name: string; readonly waiting: number }[]> {
    const rows = await this.database.rows<{ id: string; name: string; waiting: number }>(
      `SELECT a.id, a.name, COUNT(*) AS waiting FROM
         (SELECT application_id FROM application_logouts WHERE status = ? AND created_at < ?
          ORDER BY created_at LIMIT ${mostCounted}) AS late
       JOIN applications a ON a.id = late.application_id GROUP BY a.id, a.name ORDER BY a.name`,
      [logoutStatus.waiting, since],
    );
    return rows.map((row) => ({ ...row, waiting: Number(row.waiting) }));
  }
}

/** A token that waits for an application that was deleted is never sent: `due` names applications that exist. */
function receiptOf(row: Record<string, unknown>): LogoutReceipt {
  const name = row.name as string | null;
  const status = logoutStatusNames.find((one) => logoutStatus[one] === Number(row.status))!;
  const isAbandoned = name === null && status === 'waiting';
  return {
    id: String(row.id),
    sid: String(row.sid),
    application: { id: String(row.application_id), name },
    createdAt: timeOf(row.created_at),
    status: isAbandoned ? 'failed' : status,
    attempts: Number(row.attempts),
    answeredAt: timeOrNull(row.settled_at),
    answer: isAbandoned ? applicationDeleted : (row.answer as string | null),
  };
}

function toldApplicationOf(row: Record<string, unknown>): ToldApplication {
  const name = row.name as string | null;
  const [waiting, failed, told] = [Number(row.waiting), Number(row.failed), Number(row.told)];
  const isAbandoned = name === null && waiting > 0;
  const settled = failed > 0 || isAbandoned ? 'failed' : told > 0 ? 'told' : 'not_offered';
  const isWaiting = waiting > 0 && !isAbandoned;
  return {
    id: String(row.id),
    name,
    sessions: Number(row.sessions),
    status: isWaiting ? 'waiting' : settled,
    attempts: Number(row.attempts),
    answeredAt: isWaiting ? null : timeOrNull(row.answered),
    answer: isAbandoned ? applicationDeleted : (row.answer as string | null),
    nextAttemptAt: isWaiting ? timeOrNull(row.again) : null,
  };
}
