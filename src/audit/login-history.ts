import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { timeOf } from '../platform/database/sql';

export interface PastLogin {
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

type Row = Omit<PastLogin, 'createdAt'> & { readonly createdAt: unknown };

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
      `SELECT created_at AS createdAt, ip, user_agent AS userAgent, provider, mfa, outcome FROM login_logs
       WHERE user_id = ? ORDER BY created_at DESC, id DESC LIMIT ${maxPastLogins}`,
      [userId],
    );
    return rows.slice(0, limit).map((row) => ({ ...row, createdAt: timeOf(row.createdAt) }));
  }
}
