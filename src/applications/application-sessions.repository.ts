import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, type Repository } from 'typeorm';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';
import { LiveSessions } from '../sessions/live-sessions';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { ApplicationSession } from './persistence/application-session.entity';

const removedAtOnce = 1000;

type SignIn = Pick<ApplicationSession, 'sid' | 'applicationId' | 'userId'>;

/** The table `application_sessions`: which applications a session of the service has signed in to (ADR 0035). */
@Injectable()
export class ApplicationSessions {
  private readonly rows: EntityRows<ApplicationSession>;

  constructor(
    @InjectRepository(ApplicationSession) rows: Repository<ApplicationSession>,
    private readonly database: Database,
    private readonly sessions: LiveSessions,
    private readonly audit: AuditTrail,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Stores that the session has signed in to the application, in a transaction that holds the session.
   * Races with the end of the session. If the end commits first, nothing is stored, and the code that the application gets
   * is dead. If it comes later, it waits for this transaction, finds the row, and tells the application. Races with another
   * code for the same application: the second one waits, and finds the row of the first.
   * @returns false when the session has ended
   */
  async begin({ sid, applicationId, userId }: SignIn, client?: ClientInfo): Promise<boolean> {
    if ((await this.rows.findOne({ sid, applicationId })) !== null) return true;
    return this.database.transaction(async (tx) => {
      if (!(await this.sessions.holdOf(tx, sid, userId))) return false;
      if ((await this.rows.findOne({ sid, applicationId }, tx)) !== null) return true;
      const began = { logoutId: this.random.uuid(), beganAt: this.clock.now() };
      await this.rows.insert(tx, { sid, applicationId, userId, ...began });
      const detail = { application: applicationId, sid };
      await this.audit.record(tx, 'APPLICATION_SIGNED_IN', { userId, client, detail });
      return true;
    });
  }

  /** @param sids up to a thousand; some are of rows that are no session */
  async remove(sids: readonly string[]): Promise<void> {
    const keys = filledUp(sids);
    const places = keys.map(() => '?').join(', ');
    await this.database.affected(`DELETE FROM application_sessions WHERE sid IN (${places})`, keys);
  }

  /**
   * Removes the rows that a deleted application has left. No index begins with the application, so the method reads each row of the
   * table once. It locks only the rows that it deletes.
   */
  async removeAt(tx: Sql, applicationId: string): Promise<void> {
    let after = '';
    for (;;) {
      const wanted = { applicationId, sid: MoreThan(after) };
      const found = await this.rows.find(wanted, { order: { sid: 'ASC' }, limit: removedAtOnce }, tx);
      if (found.length === 0) return;
      await this.rows.remove(tx, { applicationId, sid: In(found.map(({ sid }) => sid)) });
      after = found.at(-1)!.sid;
    }
  }

  /** The user is deleted, and the end of the sessions is queued. */
  async removeOf(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }
}
