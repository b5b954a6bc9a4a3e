import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { DomainError, secondsUntil } from '../../shared/errors/domain-error';
import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { Database, type Transaction } from './database';
import { type Sql, timeOf } from './sql';
import { isDuplicate, storeUnavailable } from './store-failure';

/**
 * `otp`: sending codes. `reset`: /forget-password, and the lock under which all writes to the change requests of a user
 * run one after the other. `ldap`: guesses at a directory user who has no row yet.
 */
export type CooldownKind = 'otp' | 'reset' | 'ldap';

/** Names one row of `cooldowns`, the gate row. `subject` is a user's uid, or a keyed hash of a name without a user. */
export interface GateRow<Kind extends CooldownKind = CooldownKind> {
  readonly kind: Kind;
  readonly subject: string;
}

export interface Cooldown<Kind extends CooldownKind = CooldownKind> extends GateRow<Kind> {
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
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs the work and starts the cooldown in one transaction. When the work throws, no cooldown starts. Race: parallel
   * requests of one subject, on any replica. One of them wins. The others wait for its commit and are refused.
   * @throws DomainError `refusal` with the remaining seconds; the work did not run
   */
  async once<Kind extends CooldownKind, T>(
    { seconds, refusal, ...row }: Cooldown<Kind> & { readonly refusal: CatalogueEntry },
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
  async start({ seconds, ...row }: Cooldown): Promise<boolean> {
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
  touch<Kind extends CooldownKind>(tx: Gated<Kind>, row: GateRow<Kind>): Promise<boolean> {
    return tx.won('UPDATE cooldowns SET held = held + 1 WHERE subject = ? AND kind = ?', keyOf(row));
  }

  private async create(row: GateRow): Promise<void> {
    const known = await this.database.row('SELECT 1 AS one FROM cooldowns WHERE subject = ? AND kind = ?', keyOf(row));
    if (known !== undefined) return;
    try {
      await this.database.affected('INSERT INTO cooldowns (subject, kind, until) VALUES (?, ?, ?)', [
        ...keyOf(row),
        longAgo,
      ]);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  /** The first UPDATE that finds `until` in the past sets a new one and wins. Other UPDATEs then match no row. */
  private claim(sql: Sql, row: GateRow, seconds: number): Promise<boolean> {
    return sql.won('UPDATE cooldowns SET until = ? WHERE subject = ? AND kind = ? AND until <= ?', [
      this.clock.secondsFromNow(seconds),
      ...keyOf(row),
      this.clock.now(),
    ]);
  }

  /**
   * Reads the clock again, because a caller that lost has waited for the commit of the winner. With the earlier time
   * the result could exceed the cooldown.
   */
  private async remaining(sql: Sql, row: GateRow): Promise<number> {
    const found = await sql.row<{ until: unknown }>(
      'SELECT until FROM cooldowns WHERE subject = ? AND kind = ?',
      keyOf(row),
    );
    return found === undefined ? 1 : secondsUntil(timeOf(found.until), this.clock.now());
  }
}

function keyOf({ subject, kind }: GateRow): [string, string] {
  return [subject, kind];
}
