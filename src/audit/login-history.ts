import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { timeOf } from '../platform/database/sql';

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

type Row = Omit<PastLogin, 'createdAt' | 'id'> & { readonly createdAt: unknown; readonly id: unknown };

const columns = 'id, created_at AS createdAt, ip, user_agent AS userAgent, provider, mfa, outcome';

/** Reads the rows of `login_logs` of one user. */
@Injectable()
export class LoginHistory {
  constructor(private readonly database: Database) {}

  /**
   * Returns the newest logins first, failed ones included. The index on user and time gives this order, because an
   * entry of the index ends with the id. The statement always reads `maxPastLogins`: a limit in its text would need a
   * prepared statement for each number.
   */
  async newest(userId: string, limit: number): Promise<PastLogin[]> {
    const rows = await this.database.rows<Row>(
      `SELECT ${columns} FROM login_logs
       WHERE user_id = ? ORDER BY created_at DESC, id DESC LIMIT ${maxPastLogins}`,
      [userId],
    );
    return rows.slice(0, limit).map(pastLogin);
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
}

/** The driver of MySQL returns a BIGINT as text. */
const pastLogin = (row: Row): PastLogin => ({ ...row, id: Number(row.id), createdAt: timeOf(row.createdAt) });
