import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database';
import type { Sql } from '../../platform/database/sql';
import { isDuplicate } from '../../platform/database/store-failure';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';

/** How far a run has come. */
export interface Place {
  /** The last user. Empty before the first batch. */
  readonly after: string;
  /** The users of the whole run, with those before an interruption. */
  readonly users: number;
}

/** A run that is under way. */
export interface Run {
  readonly id: string;
  readonly conditions: string;
}

/** The table `revocation_runs`: one row for each set of conditions, for its newest run. */
@Injectable()
export class RevocationRuns {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** @returns undefined if there was no run with these conditions, or if the newest one has finished */
  interrupted(conditions: string): Promise<Place | undefined> {
    return this.database.row<Place>(
      'SELECT after_uid AS after, users FROM revocation_runs WHERE conditions = ? AND finished_at IS NULL',
      [conditions],
    );
  }

  /**
   * Makes a run the newest one with its conditions.
   * Race: two runs with the same conditions. Each one ends the sessions of its users. The one that began last owns the
   * row, and `advance` of the other one matches no row. So a resumed run never skips users whom only an older run did.
   */
  async begin(conditions: string, { after, users }: Place): Promise<Run> {
    const id = this.random.uuid();
    const takeOver = () =>
      this.database.won(
        `UPDATE revocation_runs SET run_id = ?, after_uid = ?, users = ?, started_at = ?, finished_at = NULL
         WHERE conditions = ? AND run_id <> ?`,
        [id, after, users, this.clock.now(), conditions, id],
      );
    if (await takeOver()) return { id, conditions };
    try {
      await this.database.affected(
        'INSERT INTO revocation_runs (conditions, run_id, after_uid, users, started_at) VALUES (?, ?, ?, ?, ?)',
        [conditions, id, after, users, this.clock.now()],
      );
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      await takeOver();
    }
    return { id, conditions };
  }

  /** Records a batch in its transaction. @returns false when a newer run with the same conditions has begun */
  advance(sql: Sql, { id, conditions }: Run, { after, users }: Place): Promise<boolean> {
    return sql.won(
      'UPDATE revocation_runs SET after_uid = ?, users = ? WHERE conditions = ? AND run_id = ? AND after_uid < ?',
      [after, users, conditions, id, after],
    );
  }

  /** @returns false as `advance` does */
  finish(sql: Sql, { id, conditions }: Run, users: number): Promise<boolean> {
    return sql.won(
      'UPDATE revocation_runs SET users = ?, finished_at = ? WHERE conditions = ? AND run_id = ? AND finished_at IS NULL',
      [users, this.clock.now(), conditions, id],
    );
  }
}
