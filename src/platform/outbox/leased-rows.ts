import type { Clock } from '../../shared/clock';
import type { Random } from '../../shared/random';
import type { Database } from '../database/database';
import type { SqlValue } from '../database/sql';

/**
 * A table that several processes work off. Its names become part of the SQL text, so they must be constants of the code.
 * Besides `columns` the table has `status`, `next_attempt_at`, `claimed_by` and `claimed_until`, and an index on
 * `status` and `next_attempt_at`.
 */
export interface LeasedTable {
  readonly name: string;
  /** The primary key. */
  readonly key: string;
  /** A column that divides the rows, with an index on it, `status` and `next_attempt_at`: a claim may name one of its values. */
  readonly part?: string;
  /** What a claim returns. It contains the key and `attempts`. */
  readonly columns: readonly string[];
}

/** The row belongs to this process until its lease ends. */
export interface Lease {
  /** The random value of `claimed_by`. */
  readonly claim: string;
  /** Start of the lease. */
  readonly claimedAt: Date;
}

interface Ports {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
}

/** Gives each row one owner at a time, over all replicas, by a lease that is not renewed (ADR 0007). */
export class LeasedRows<Row extends { readonly attempts: number }> {
  constructor(
    private readonly table: LeasedTable,
    private readonly leaseMs: number,
    private readonly ports: Ports,
  ) {}

  /**
   * Claims up to `wanted` due rows with this status, the longest due first. Their `attempts` include this one.
   * @param part the value of the column `part`; all rows without it
   */
  async claim(status: number, wanted: number, part?: string | number): Promise<(Row & Lease)[]> {
    const { database, clock, random } = this.ports;
    const { name, columns, part: column } = this.table;
    const [only, values] = column === undefined || part === undefined ? ['', []] : [`${column} = ? AND `, [part]];
    const now = clock.now();
    // Reads more rows than wanted, because other replicas read the same rows and claim some of them first.
    const rows = await database.rows<Row>(
      `SELECT ${columns.join(', ')} FROM ${name}
       WHERE ${only}status = ? AND next_attempt_at <= ? AND (claimed_until IS NULL OR claimed_until <= ?)
       ORDER BY next_attempt_at LIMIT ${4 * Math.trunc(wanted)}`,
      [...values, status, now, now],
    );
    const claimed: (Row & Lease)[] = [];
    for (const row of rows) {
      if (claimed.length === wanted) break;
      const claim = random.uuid();
      if (await this.take(row, status, claim, now)) {
        claimed.push({ ...row, attempts: row.attempts + 1, claim, claimedAt: now });
      }
    }
    return claimed;
  }

  /**
   * All replicas compete for the row. The first UPDATE wins, and its replica owns the row until the lease ends. The
   * other UPDATEs match no row, because the row is leased or not due. Their replicas go on to the next row.
   */
  private take(row: Row, status: number, claim: string, now: Date): Promise<boolean> {
    const { name, key } = this.table;
    return this.ports.database.won(
      `UPDATE ${name} SET claimed_by = ?, claimed_until = ?, attempts = attempts + 1
       WHERE ${key} = ? AND status = ? AND next_attempt_at <= ? AND (claimed_until IS NULL OR claimed_until <= ?)`,
      [claim, new Date(now.getTime() + this.leaseMs), this.keyOf(row), status, now, now],
    );
  }

  /**
   * Writes the result and ends the lease. After the lease has ended, another process may have claimed the row.
   * `claimed_by` lets only the current owner win. The former owner gets false and changes nothing.
   * @param status the status that the row had when it was claimed
   */
  end(row: Row & Lease, status: number, set: Readonly<Record<string, SqlValue>>): Promise<boolean> {
    const { name, key } = this.table;
    const columns = Object.keys(set).map((column) => `${column} = ?`);
    return this.ports.database.won(
      `UPDATE ${name} SET ${[...columns, 'claimed_by = NULL', 'claimed_until = NULL'].join(', ')}
       WHERE ${key} = ? AND status = ? AND claimed_by = ?`,
      [...Object.values(set), this.keyOf(row), status, row.claim],
    );
  }

  private keyOf(row: Row): string {
    return (row as unknown as Record<string, string>)[this.table.key]!;
  }
}
