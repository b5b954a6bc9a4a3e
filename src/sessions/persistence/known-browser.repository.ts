import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { isDuplicate } from '../../platform/database/store-failure';
import { KnownBrowser } from './known-browser.entity';

/** `seen_at` is exact to a day, so that most logins only read. */
const staleSeconds = 86_400;

/** The table `known_browsers`: the browsers from which an account was used. */
@Injectable()
export class KnownBrowsers {
  private readonly rows: EntityRows<KnownBrowser>;

  constructor(
    @InjectRepository(KnownBrowser) rows: Repository<KnownBrowser>,
    database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Remembers the browser. Of parallel logins from one new browser, on any replica, the first INSERT takes the primary
   * key and wins. The others wait for its commit, meet the duplicate and get false.
   * @returns true when the browser was not known, and this caller added it
   */
  async meet(tx: Transaction, userId: string, browser: string): Promise<boolean> {
    const known = await this.rows.findOne({ userId, browser }, tx);
    if (known === null) return this.add(tx, { userId, browser });
    if (known.seenAt <= this.clock.secondsFromNow(-staleSeconds)) {
      await this.rows.update(tx, { userId, browser }, { seenAt: this.clock.now() });
    }
    return false;
  }

  async removeAll(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }

  private async add(tx: Transaction, key: Pick<KnownBrowser, 'userId' | 'browser'>): Promise<boolean> {
    try {
      await this.rows.insert(tx, { ...key, seenAt: this.clock.now() });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
