import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { ApplicationSession } from './persistence/application-session.entity';

/** The table `application_sessions`: which applications a session of the service has signed in to. */
@Injectable()
export class ApplicationSessions {
  private readonly rows: EntityRows<ApplicationSession>;

  constructor(
    @InjectRepository(ApplicationSession) rows: Repository<ApplicationSession>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** Idempotent. Race: two codes of one session for one application. The primary key keeps one row. */
  async begin(session: Pick<ApplicationSession, 'sid' | 'applicationId' | 'userId'>): Promise<void> {
    const { sid, applicationId } = session;
    if ((await this.rows.findOne({ sid, applicationId })) !== null) return;
    await this.rows.added(this.database, { ...session, beganAt: this.clock.now() });
  }

  /** @param sql a transaction to read in */
  ofSession(sid: string, sql?: Sql): Promise<ApplicationSession[]> {
    return this.rows.find({ sid }, { order: { beganAt: 'ASC', applicationId: 'ASC' } }, sql);
  }
}
