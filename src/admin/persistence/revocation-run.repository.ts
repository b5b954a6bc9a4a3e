import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, Not, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { isDuplicate } from '../../platform/database/store-failure';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { RevocationRun } from './revocation-run.entity';

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
  private readonly rows: EntityRows<RevocationRun>;

  constructor(
    @InjectRepository(RevocationRun) rows: Repository<RevocationRun>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** @returns undefined if there was no run with these conditions, or if the newest one has finished */
  async interrupted(conditions: string): Promise<Place | undefined> {
    const run = await this.rows.findOne({ conditions, finishedAt: IsNull() });
    return run === null ? undefined : { after: run.afterUid, users: run.users };
  }

  /**
   * Makes a run the newest one with its conditions.
   * Race: two runs with the same conditions. Each one ends the sessions of its users. The one that began last owns the
   * row, and `advance` of the other one matches no row. So a resumed run never skips users whom only an older run did.
   */
  async begin(conditions: string, { after, users }: Place): Promise<Run> {
    const id = this.random.uuid();
    const run = { runId: id, afterUid: after, users, startedAt: this.clock.now(), finishedAt: null };
    const takeOver = () => this.rows.won(this.database, { conditions, runId: Not(id) }, run);
    if (await takeOver()) return { id, conditions };
    try {
      await this.rows.insert(this.database, { conditions, ...run });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      await takeOver();
    }
    return { id, conditions };
  }

  /** Records a batch in its transaction. @returns false when a newer run with the same conditions has begun */
  advance(tx: Transaction, { id, conditions }: Run, { after, users }: Place): Promise<boolean> {
    return this.rows.won(tx, { conditions, runId: id, afterUid: LessThan(after) }, { afterUid: after, users });
  }

  /** @returns false as `advance` does */
  finish(tx: Transaction, { id, conditions }: Run, users: number): Promise<boolean> {
    const unfinished = { conditions, runId: id, finishedAt: IsNull() };
    return this.rows.won(tx, unfinished, { users, finishedAt: this.clock.now() });
  }
}
