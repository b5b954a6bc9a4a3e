import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database';
import { timeOf } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';

/** A refresh that finds more rows of its session than this removes the oldest ones. */
export const crowdedRows = 950;
/** The newest rows of a session, which always stay. Together with the first row and the current refresh token, below 1,000. */
export const keptRows = 900;
const batchRows = 1000;

/** SQL that is 1 when the session in the column `sid` is crowded. It reads at most `crowdedRows` entries of one index. */
export const crowded = (sid: string): string =>
  `(SELECT c.created_at FROM login_tokens c WHERE c.sid = ${sid} ORDER BY c.created_at LIMIT 1 OFFSET ${crowdedRows}) IS NOT NULL`;

interface Place {
  readonly jti: string;
  readonly created_at: unknown;
}

/**
 * Bounds the rows of a session (ADR 0005). Every refresh inserts a row, so a client that never stops would otherwise
 * make a session that is too large to be read.
 */
@Injectable()
export class SessionRows {
  private readonly logger = new Logger('tokens');
  private readonly running = new Set<string>();

  constructor(private readonly database: Database) {}

  /** Trims in the background. The answer of the refresh does not wait, and a failure is left to the next refresh. */
  trimLater(sid: string): void {
    if (this.running.has(sid)) return;
    this.running.add(sid);
    this.trim(sid)
      .catch((error: unknown) => this.logger.warn({ err: error, sid }, 'the rows of a session were not trimmed'))
      .finally(() => this.running.delete(sid));
  }

  /**
   * Deletes the oldest rows, in batches that each commit alone. The first row, which decides about the session, stays,
   * and so does the refresh token without a successor.
   *
   * Races with refreshes and with a second replica that trims. The newest row that goes is read once. A row that is
   * inserted later is newer and stays, so two replicas together delete no more than one. Races with the end of the
   * session: its statements and this one lock the rows in the order of their key.
   * @returns the number of deleted rows
   */
  async trim(sid: string): Promise<number> {
    const newest = await this.database.row<Place>(
      `SELECT jti, created_at FROM login_tokens WHERE sid = ? ORDER BY created_at DESC, jti DESC LIMIT 1 OFFSET ${keptRows}`,
      [sid],
    );
    if (newest === undefined) return 0;
    const last = [timeOf(newest.created_at), timeOf(newest.created_at), newest.jti] as const;
    let removed = 0;
    // Continues after the last batch: the start of the index still holds its delete marks.
    for (let from: Place = { jti: '', created_at: new Date(0) }; ;) {
      const after = [timeOf(from.created_at), timeOf(from.created_at), from.jti] as const;
      const rows = await this.database.rows<Place>(
        `SELECT jti, created_at FROM login_tokens
         WHERE sid = ? AND (created_at > ? OR (created_at = ? AND jti > ?))
           AND (created_at < ? OR (created_at = ? AND jti <= ?))
         ORDER BY created_at, jti LIMIT ${batchRows}`,
        [sid, ...after, ...last],
      );
      if (rows.length > 0) removed += await this.remove(rows.map(({ jti }) => jti));
      const end = rows.at(-1);
      if (end === undefined || rows.length < batchRows) return removed;
      from = end;
    }
  }

  private remove(jtis: readonly string[]): Promise<number> {
    const keys = filledUp(jtis);
    return this.database.affected(
      `DELETE FROM login_tokens WHERE jti IN (${keys.map(() => '?').join(', ')})
         AND jti <> sid AND (token_type = 'access' OR successor_jti IS NOT NULL)`,
      keys,
    );
  }
}
