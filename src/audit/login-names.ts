import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { type Sql, timeOf } from '../platform/database/sql';

/** Rows of one UPDATE: some milliseconds. */
const batchRows = 1000;
/** Rows that one transaction changes. */
const someRows = 10 * batchRows;

interface Place {
  readonly at: Date;
  readonly id: string | number;
}

const beginning: Place = { at: new Date('1970-01-02T00:00:00Z'), id: 0 };

/** Replaces the login name in the rows of `login_logs` of a deleted user. */
@Injectable()
export class LoginNames {
  constructor(private readonly database: Database) {}

  /** @returns whether there are more rows than one transaction may change */
  async replaceSome(tx: Transaction, userId: string, name: string): Promise<boolean> {
    let place: Place | undefined = beginning;
    for (let rows = 0; rows < someRows && place !== undefined; rows += batchRows) {
      place = await this.replaceAfter(tx, userId, name, place);
    }
    return place !== undefined;
  }

  /** Each batch commits alone. */
  async replaceAll(userId: string, name: string): Promise<void> {
    let place: Place | undefined = beginning;
    while (place !== undefined) place = await this.replaceAfter(this.database, userId, name, place);
  }

  /** @returns the place of the last row, or undefined after the last batch */
  private async replaceAfter(sql: Sql, userId: string, name: string, { at, id }: Place): Promise<Place | undefined> {
    // The index on user and time ends with the id.
    const rows = await sql.rows<{ id: string | number; created_at: unknown }>(
      `SELECT id, created_at FROM login_logs
       WHERE user_id = ? AND created_at >= ? AND (created_at > ? OR id > ?)
       ORDER BY created_at, id LIMIT ${batchRows}`,
      [userId, at, at, id],
    );
    if (rows.length === 0) return undefined;
    await sql.affected(
      `UPDATE login_logs SET login_name = ? WHERE id IN (${rows.map(() => '?').join(', ')}) AND login_name <> ?`,
      [name, ...rows.map((row) => row.id), name],
    );
    const last = rows.at(-1);
    return last === undefined || rows.length < batchRows ? undefined : { at: timeOf(last.created_at), id: last.id };
  }
}
