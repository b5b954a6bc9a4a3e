import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/database';
import { isDuplicate } from '../../platform/database/store-failure';
import { Clock } from '../../shared/clock';

export interface Warning {
  readonly userId: string;
  readonly passwordId: number;
  /** The smallest number of days that was announced for this password. */
  readonly days: number;
}

/** The table `password_expiry_warnings`: the last warning of each account. */
@Injectable()
export class WarningClaims {
  constructor(private readonly clock: Clock) {}

  /**
   * Races with the passes of other replicas. The first INSERT takes the primary key, or the first UPDATE finds the
   * former warning, and wins. The others get false and queue no mail.
   * @param former the warning that was read before; undefined when the account had none
   */
  async claim(tx: Transaction, warning: Warning, former: Omit<Warning, 'userId'> | undefined): Promise<boolean> {
    const { userId, passwordId, days } = warning;
    const now = this.clock.now();
    if (former !== undefined) {
      return tx.won(
        `UPDATE password_expiry_warnings SET password_id = ?, days = ?, warned_at = ?
         WHERE user_id = ? AND password_id = ? AND days = ?`,
        [passwordId, days, now, userId, former.passwordId, former.days],
      );
    }
    try {
      return await tx.won(
        'INSERT INTO password_expiry_warnings (user_id, password_id, days, warned_at) VALUES (?, ?, ?, ?)',
        [userId, passwordId, days, now],
      );
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
