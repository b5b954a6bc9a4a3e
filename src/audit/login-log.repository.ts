import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { type Sql, timeOf } from '../platform/database/sql';
import { tombstoneName, type UserTrace, UserTraces } from '../platform/database/user-traces';
import type { LoginRow } from './log-sink';
import { toldLogs, type UserCondition } from './log-tables';

export interface PastLogin {
  readonly id: number;
  readonly createdAt: Date;
  readonly ip: string;
  readonly userAgent: string;
  readonly provider: string;
  readonly mfa: string | null;
  /** `success` or the error code. */
  readonly outcome: string;
}

/** The most rows of one answer. */
export const maxPastLogins = 100;

const newestLogins = 2000;
/** Rows of one UPDATE of an erasure: some milliseconds. */
const erasedRows = 1000;
/** Rows that the transaction of an erasure changes. */
const erasedAtOnce = 10 * erasedRows;

interface Counted {
  readonly logins: number;
  readonly attempts: number;
}

/** A place in the order of time and id, which is that of the index on user and time. */
interface Place {
  readonly at: Date;
  readonly id: string | number;
}

const beginning: Place = { at: new Date('1970-01-02T00:00:00Z'), id: 0 };

type Row = Omit<PastLogin, 'createdAt' | 'id'> & { readonly createdAt: unknown; readonly id: unknown };

const columns = 'id, created_at AS createdAt, ip, user_agent AS userAgent, provider, mfa, outcome';

/** The table `login_logs`: its rows of one user, and its counts. LogSearch searches it. */
@Injectable()
export class LoginLogs implements UserTrace {
  readonly tables = ['login_logs'];
  readonly told = toldLogs;

  constructor(
    traces: UserTraces,
    private readonly database: Database,
  ) {
    traces.register(this);
  }

  /** Plain SQL, because each login writes a row. @returns its id */
  insert(sql: Sql, row: LoginRow): Promise<number> {
    const { userId, loginName, provider, ip, userAgent, outcome, mfa, requestId, createdAt } = row;
    return sql.inserted(
      `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, mfa, request_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [userId, loginName, provider, ip, userAgent, outcome, mfa, requestId, createdAt],
    );
  }

  /**
   * Returns the newest logins first, failed ones included. The index on user and time gives this order, because an
   * entry of the index ends with the id. The statement always reads `maxPastLogins`: a limit in its text would need a
   * prepared statement for each number.
   */
  async newest(userId: string, limit: number): Promise<PastLogin[]> {
    return (await this.page(userId, maxPastLogins)).slice(0, limit);
  }

  /** Returns the newest logins of the user before a place in their order, the newest first. */
  async page(userId: string, limit: number, before?: { readonly at: Date; readonly id: number }): Promise<PastLogin[]> {
    const [place, values] = before
      ? [' AND created_at <= ? AND (created_at < ? OR id < ?)', [before.at, before.at, before.id]]
      : ['', []];
    const rows = await this.database.rows<Row>(
      `SELECT ${columns} FROM login_logs
       WHERE user_id = ?${place} ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
      [userId, ...values],
    );
    return rows.map(pastLogin);
  }

  /** The different user agents of the newest successful logins of a user. Bounded, because services log in often. */
  async userAgentsOf(sql: Sql, userId: string): Promise<string[]> {
    const rows = await sql.rows<{ user_agent: string }>(
      `SELECT DISTINCT user_agent FROM (SELECT user_agent FROM login_logs
       WHERE user_id = ? AND outcome = 'success' ORDER BY created_at DESC LIMIT ${newestLogins}) AS newest`,
      [userId],
    );
    return rows.map((row) => row.user_agent);
  }

  /**
   * Counts the logins of a time. One statement, and so one snapshot: a login between two statements would be counted as
   * a failure.
   * @param to the first moment that is not counted
   */
  async count(from: Date, to: Date, only?: UserCondition): Promise<{ logins: number; failures: number }> {
    const row = await (only === undefined ? this.countAll(from, to) : this.countSome(from, to, only));
    const logins = Number(row?.logins);
    return { logins, failures: Number(row?.attempts) - logins };
  }

  /** Each count reads the entries of an index alone. */
  private countAll(from: Date, to: Date): Promise<Counted | undefined> {
    const among = (condition: string) =>
      `(SELECT COUNT(*) FROM login_logs WHERE ${condition} created_at >= ? AND created_at < ?)`;
    return this.database.row<Counted>(
      `SELECT ${among(`outcome = 'success' AND`)} AS logins, ${among('')} AS attempts`,
      [...[from, to], ...[from, to]],
    );
  }

  /** Looks up the user of each row once. */
  private countSome(from: Date, to: Date, only: UserCondition): Promise<Counted | undefined> {
    const { text, values } = only('login_logs.user_id');
    return this.database.row<Counted>(
      `SELECT COUNT(*) AS attempts, COUNT(CASE WHEN outcome = 'success' THEN 1 END) AS logins FROM login_logs
       WHERE created_at >= ? AND created_at < ? AND ${text}`,
      [from, to, ...values],
    );
  }

  /** Replaces the login name, at most in as many rows as one transaction may change. `settle` finds the others. */
  async erase(tx: Transaction, uid: string): Promise<void> {
    let place: Place | undefined = beginning;
    for (let rows = 0; rows < erasedAtOnce && place !== undefined; rows += erasedRows) {
      place = await this.replaceNamesAfter(tx, uid, place);
    }
  }

  /** Each batch commits alone. */
  async settle(uid: string): Promise<void> {
    let place: Place | undefined = beginning;
    while (place !== undefined) place = await this.replaceNamesAfter(this.database, uid, place);
  }

  /** @returns the place of the last row, or undefined after the last batch */
  private async replaceNamesAfter(sql: Sql, uid: string, { at, id }: Place): Promise<Place | undefined> {
    const rows = await sql.rows<{ id: string | number; created_at: unknown }>(
      `SELECT id, created_at FROM login_logs
       WHERE user_id = ? AND created_at >= ? AND (created_at > ? OR id > ?)
       ORDER BY created_at, id LIMIT ${erasedRows}`,
      [uid, at, at, id],
    );
    if (rows.length === 0) return undefined;
    const name = tombstoneName(uid);
    await sql.affected(
      `UPDATE login_logs SET login_name = ? WHERE id IN (${rows.map(() => '?').join(', ')}) AND login_name <> ?`,
      [name, ...rows.map((row) => row.id), name],
    );
    const last = rows.at(-1);
    return last === undefined || rows.length < erasedRows ? undefined : { at: timeOf(last.created_at), id: last.id };
  }
}

/** The driver of MySQL returns a BIGINT as text. */
const pastLogin = (row: Row): PastLogin => ({ ...row, id: Number(row.id), createdAt: timeOf(row.createdAt) });
