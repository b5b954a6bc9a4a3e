import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/database';
import { timeOf } from '../../platform/database/sql';
import { isDuplicate } from '../../platform/database/store-failure';
import { Clock } from '../../shared/clock';

/** `seen_at` is exact to a day, so that most logins only read. */
const staleSeconds = 86_400;

/** The table `known_browsers`: the browsers from which an account was used. */
@Injectable()
export class KnownBrowsers {
  constructor(private readonly clock: Clock) {}

  /**
   * Remembers the browser. Of parallel logins from one new browser, on any replica, the first INSERT takes the primary
   * key and wins. The others wait for its commit, meet the duplicate and get false.
   * @returns true when the browser was not known, and this caller added it
   */
  async meet(tx: Transaction, userId: string, browser: string): Promise<boolean> {
    const key = [userId, browser];
    const known = await tx.row<{ seen_at: unknown }>(
      'SELECT seen_at FROM known_browsers WHERE user_id = ? AND browser = ?',
      key,
    );
    if (known === undefined) return this.add(tx, key);
    if (timeOf(known.seen_at) <= this.clock.secondsFromNow(-staleSeconds)) {
      await tx.affected('UPDATE known_browsers SET seen_at = ? WHERE user_id = ? AND browser = ?', [
        this.clock.now(),
        ...key,
      ]);
    }
    return false;
  }

  private async add(tx: Transaction, key: readonly string[]): Promise<boolean> {
    try {
      return await tx.won('INSERT INTO known_browsers (user_id, browser, seen_at) VALUES (?, ?, ?)', [
        ...key,
        this.clock.now(),
      ]);
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
