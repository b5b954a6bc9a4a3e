import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { filledUp } from '../../platform/database/statement-keys';
import { Clock } from '../../shared/clock';
import { ExpiryWarning } from './expiry-warning.entity';

/** The table `password_expiry_warnings`: the last warning of each account. */
@Injectable()
export class WarningClaims {
  private readonly rows: EntityRows<ExpiryWarning>;

  constructor(
    @InjectRepository(ExpiryWarning) rows: Repository<ExpiryWarning>,
    database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** The last warnings of these accounts, which may be about earlier passwords. */
  async last(userIds: readonly string[]): Promise<ReadonlyMap<string, ExpiryWarning>> {
    if (userIds.length === 0) return new Map();
    const found = await this.rows.find({ userId: In(filledUp(userIds)) });
    return new Map(found.map((warning) => [warning.userId, warning]));
  }

  /**
   * Races with the passes of other replicas. The first INSERT takes the primary key, or the first UPDATE finds the
   * former warning, and wins. The others get false and queue no mail.
   * @param former the warning that was read before; undefined when the account had none
   */
  claim(
    tx: Transaction,
    { userId, passwordId, days }: Omit<ExpiryWarning, 'warnedAt'>,
    former: Pick<ExpiryWarning, 'passwordId' | 'days'> | undefined,
  ): Promise<boolean> {
    const warning = { passwordId, days, warnedAt: this.clock.now() };
    if (former === undefined) return this.rows.added(tx, { userId, ...warning });
    return this.rows.won(tx, { userId, passwordId: former.passwordId, days: former.days }, warning);
  }

  async removeAll(tx: Transaction, userId: string): Promise<void> {
    await this.rows.remove(tx, { userId });
  }
}
