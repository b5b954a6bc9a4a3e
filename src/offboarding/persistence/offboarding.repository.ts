import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThanOrEqual, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { OffboardingRow, offboardingStatus } from './offboarding.entity';

const { open, complete } = offboardingStatus;
/** Somebody who leaves, comes back and leaves again has a few. */
const mostOfAUser = 50;

/** The table `offboardings`. */
@Injectable()
export class OffboardingRows {
  private readonly rows: EntityRows<OffboardingRow>;

  constructor(
    @InjectRepository(OffboardingRow) rows: Repository<OffboardingRow>,
    private readonly database: Database,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  async insert(
    tx: Transaction,
    row: Omit<OffboardingRow, 'status' | 'completedAt' | 'receivers' | 'restoredAt' | 'restoredBy'>,
  ): Promise<void> {
    await this.rows.insert(tx, { ...row, status: open });
  }

  /** The newest first. Of two that began at the same time, the one that was not undone is the newer one. */
  of(userId: string): Promise<OffboardingRow[]> {
    const order = { beganAt: 'DESC', restoredAt: 'ASC', id: 'ASC' } as const;
    return this.rows.find({ userId }, { order, limit: mostOfAUser });
  }

  /**
   * Whether one was not undone. The times do not tell which one is the newest: two can begin at once, and the clocks of two
   * replicas differ. The transaction must hold the row of the user.
   */
  async lasts(tx: Transaction, userId: string): Promise<boolean> {
    return (await this.rows.find({ userId, restoredAt: IsNull() }, { limit: 1 }, tx)).length > 0;
  }

  /** The open ones that are due, the longest due first. */
  due(now: Date, limit: number): Promise<OffboardingRow[]> {
    const where = { status: open, nextCheckAt: LessThanOrEqual(now) };
    return this.rows.find(where, { order: { nextCheckAt: 'ASC' }, limit });
  }

  /** How many are open, and when the oldest of them began. Only a few are open at once. */
  async openOnes(): Promise<{ count: number; oldest: Date | null }> {
    const rows = await this.rows.find({ status: open }, { order: { beganAt: 'ASC' }, limit: 10_000 });
    return { count: rows.length, oldest: rows[0]?.beganAt ?? null };
  }

  /** Race: replicas that look at the same row. Any of their times will do. */
  async postpone(id: string, nextCheckAt: Date): Promise<void> {
    await this.rows.update(this.database, { id, status: open }, { nextCheckAt });
  }

  /**
   * Ends the off-boarding, in the transaction of its event.
   * Race: replicas that see at once that each receiver has answered. The first UPDATE finds the row open and wins; the
   * others match no row, and write no event.
   */
  complete(tx: Transaction, id: string, end: { completedAt: Date; receivers: string }): Promise<boolean> {
    return this.rows.won(tx, { id, status: open }, { ...end, status: complete });
  }

  /**
   * Notes that the account was enabled again. The transaction holds the row of the user, so of parallel calls one finds
   * an off-boarding that was not undone. An account that was only disabled has none.
   */
  async restore(tx: Transaction, userId: string, restoredAt: Date, restoredBy: string | null): Promise<void> {
    await this.rows.update(tx, { userId, restoredAt: IsNull() }, { restoredAt, restoredBy });
  }
}
