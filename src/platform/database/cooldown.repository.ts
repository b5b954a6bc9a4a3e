import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThanOrEqual, MoreThan, type Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { DomainError, secondsUntil } from '../../shared/errors/domain-error';
import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { Cooldown, type CooldownKind } from './cooldown.entity';
import { Database, type Transaction } from './database';
import { EntityRows } from './entity-rows';
import type { Sql } from './sql';
import { isDuplicate, storeUnavailable } from './store-failure';

export type { Cooldown } from './cooldown.entity';

/** Names one row of `cooldowns`, the gate row. */
export interface GateRow<Kind extends CooldownKind = CooldownKind> {
  readonly kind: Kind;
  /** A user's uid, a keyed hash of a name without a user, or the hash of a logout token. */
  readonly subject: string;
}

/** A cooldown to start, for so many seconds. */
export interface Interval<Kind extends CooldownKind = CooldownKind> extends GateRow<Kind> {
  readonly seconds: number;
}

declare const gate: unique symbol;

/** A transaction that holds a gate row. Only `once` and `serialise` make it. A method that needs the lock takes it. */
export type Gated<Kind extends CooldownKind> = Transaction & { readonly [gate]: Kind };

const longAgo = new Date('2000-01-01T00:00:00Z');

/**
 * Limits an action to once per interval, over all replicas (docs/spec/service.md#8). Each method is the whole protocol:
 * it creates the gate row before the transaction, and locks the row as the first statement of the transaction. If an
 * INSERT inside the transaction met a duplicate, it would keep a shared lock, and two such transactions deadlock
 * (ADR 0009).
 */
@Injectable()
export class Cooldowns {
  private readonly rows: EntityRows<Cooldown>;

  constructor(
    @InjectRepository(Cooldown) rows: Repository<Cooldown>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Runs the work and starts the cooldown in one transaction. When the work throws, no cooldown starts. Race: parallel
   * requests of one subject, on any replica. One of them wins. The others wait for its commit and are refused.
   * @throws DomainError `refusal` with the remaining seconds; the work did not run
   */
  async once<Kind extends CooldownKind, T>(
    { seconds, refusal, ...row }: Interval<Kind> & { readonly refusal: CatalogueEntry },
    work: (tx: Gated<Kind>) => Promise<T>,
  ): Promise<T> {
    await this.create(row);
    return this.database.transaction(async (tx) => {
      if (!(await this.claim(tx, row, seconds))) {
        throw new DomainError(refusal, { retry_after: await this.remaining(tx, row) });
      }
      return work(tx as Gated<Kind>);
    });
  }

  /**
   * Starts the cooldown in one statement, without a transaction. Race: as for `once`.
   * @returns false when the cooldown of an earlier call is not over
   */
  async start({ seconds, ...row }: Interval): Promise<boolean> {
    await this.create(row);
    return this.claim(this.database, row, seconds);
  }

  /**
   * Runs the work in one transaction that holds the gate row. A running cooldown neither refuses it nor starts again.
   * Race: several calls of `once` and `serialise` for one gate row. All of them run, one after the other.
   * @throws DomainError COMMON_503001 when `purge` deleted the row after its creation, because nothing would be locked
   */
  async serialise<Kind extends CooldownKind, T>(row: GateRow<Kind>, work: (tx: Gated<Kind>) => Promise<T>): Promise<T> {
    await this.create(row);
    return this.database.transaction(async (tx) => {
      const gated = tx as Gated<Kind>;
      if (!(await this.touch(gated, row))) throw storeUnavailable(new Error('the gate row is gone'));
      return work(gated);
    });
  }

  /**
   * Writes the gate row that the transaction locks, without a change of the cooldown.
   * @returns false when `purge` deleted the row
   */
  touch<Kind extends CooldownKind>(tx: Gated<Kind>, { subject, kind }: GateRow<Kind>): Promise<boolean> {
    return this.rows.won(tx, { subject, kind }, { held: () => 'held + 1' });
  }

  /** How many cooldowns of these subjects are not over. */
  running(kind: CooldownKind, subjects: readonly string[]): Promise<number> {
    return this.rows.count({ subject: In(subjects), kind, until: MoreThan(this.clock.now()) });
  }

  /** When a cooldown ends or has ended. Undefined without a row. @param sql a transaction to read in */
  async endOf({ subject, kind }: GateRow, sql: Sql): Promise<Date | undefined> {
    return (await this.rows.findOne({ subject, kind }, sql))?.until;
  }

  private async create({ subject, kind }: GateRow): Promise<void> {
    if ((await this.rows.findOne({ subject, kind })) !== null) return;
    try {
      await this.rows.insert(this.database, { subject, kind, until: longAgo });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  /** The first UPDATE that finds `until` in the past sets a new one and wins. Other UPDATEs then match no row. */
  private claim(sql: Sql, { subject, kind }: GateRow, seconds: number): Promise<boolean> {
    const isOver = { subject, kind, until: LessThanOrEqual(this.clock.now()) };
    return this.rows.won(sql, isOver, { until: this.clock.secondsFromNow(seconds) });
  }

  /**
   * Reads the clock again, because a caller that lost has waited for the commit of the winner. With the earlier time
   * the result could exceed the cooldown.
   */
  private async remaining(sql: Sql, { subject, kind }: GateRow): Promise<number> {
    const found = await this.rows.findOne({ subject, kind }, sql);
    return found === null ? 1 : secondsUntil(found.until, this.clock.now());
  }
}
