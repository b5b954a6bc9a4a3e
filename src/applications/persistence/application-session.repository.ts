import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { ApplicationSession } from './application-session.entity';

/** The table `application_sessions`: which application a session of the service has signed in to (ADR 0035). */
@Injectable()
export class ApplicationSessions {
  private readonly rows: EntityRows<ApplicationSession>;

  constructor(
    @InjectRepository(ApplicationSession) rows: Repository<ApplicationSession>,
    private readonly database: Database,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Stores that the session has signed in to the application. The transaction must hold the session (`UserSessions.hold`).
   * Races with the end of the session. If the end commits first, `hold` fails, and there is no sign-in. If it comes
   * later, it waits for this transaction, finds the row, and tells the application. So no application has a session whose end
   * nobody tells. Races with another sign-in to the application: the key lets one row be written, which both need.
   */
  async begin(tx: Transaction, session: { readonly sid: string; readonly userId: string }, applicationId: string) {
    const { sid, userId } = session;
    if ((await this.rows.findOne({ sid, applicationId }, tx)) !== null) return;
    await this.rows.insert(tx, { sid, applicationId, userId, logoutId: this.random.uuid(), beganAt: this.clock.now() });
  }

  /** @param sids up to a thousand. Some are of rows that are no session. */
  async remove(sids: readonly string[]): Promise<void> {
    const keys = filledUp(sids);
    await this.database.affected(
      `DELETE FROM application_sessions WHERE sid IN (${keys.map(() => '?').join(', ')})`,
      keys,
    );
  }

  /** The user is deleted, and the end of the sessions is queued. */
  async removeOf(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }
}
