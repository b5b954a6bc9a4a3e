import { Injectable } from '@nestjs/common';
import { type SessionEndListener, SessionEnds } from '../sessions/session-ends';
import { ExternalSessions } from './external-sessions.repository';

/**
 * The rows of sessions go with `purge`. The end of a session writes nothing here: a row whose session has ended leads to
 * nothing, and a DELETE of rows that most sessions do not have would lock gaps into which other sign-ins insert.
 */
@Injectable()
export class ExternalSessionEnds implements SessionEndListener {
  constructor(
    ends: SessionEnds,
    private readonly sessions: ExternalSessions,
  ) {
    ends.register(this);
  }

  ended(): Promise<void> {
    return Promise.resolve();
  }

  forgotten(sids: readonly string[]): Promise<void> {
    return this.sessions.remove(sids);
  }
}
