import { Injectable } from '@nestjs/common';
import type { Sql } from '../platform/database/sql';
import { type EndedSessions, type SessionEndListener, SessionEnds } from '../sessions/session-ends';
import { LogoutWorker } from './logout/logout-worker';
import { OpenIdSettings } from './openid-settings';
import { ApplicationLogouts } from './persistence/application-logout.repository';
import { ApplicationSessions } from './application-sessions.repository';

/**
 * One end for everything (docs/spec/extensions.md#j, ADR 0035): the transaction that ends a session queues a logout token for
 * each application that the session has signed in to.
 */
@Injectable()
export class ApplicationEnds implements SessionEndListener {
  constructor(
    ends: SessionEnds,
    private readonly sessions: ApplicationSessions,
    private readonly logouts: ApplicationLogouts,
    private readonly worker: LogoutWorker,
    private readonly settings: OpenIdSettings,
  ) {
    ends.register(this);
  }

  /** With `OIDC=off` this sends no statement. */
  async ended(sql: Sql, sessions: EndedSessions): Promise<void> {
    if (this.settings.openId === undefined) return;
    const queued = await this.logouts.queue(sql, sessions);
    if (queued > 0) sql.afterCommit(() => this.worker.nudge());
  }

  /** Not before: a session that has ended may still have to be told to an application. */
  forgotten(sids: readonly string[]): Promise<void> {
    return this.sessions.remove(sids);
  }
}
