import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../shared/errors/domain-error';
import { youngSessionRequired } from '../shared/errors/error-catalogue';
import type { CurrentSession } from './current-session';
import { LiveSessions } from './live-sessions';

/**
 * Refuses a session whose last credential check is older than `STEP_UP_MAX_AGE_SECONDS` (docs/spec/extensions.md#young-session).
 * The first row of the session has the time of that check, so neither a refresh nor a rotation makes the session younger.
 * A session of a version that did not store the time is old. A session that has to use the second factor of its account,
 * and has not, gets the same answer (`LiveSessions.mustProveFactor`).
 */
@Injectable()
export class YoungSessionGuard implements CanActivate {
  constructor(private readonly sessions: LiveSessions) {}

  /** @throws DomainError AUTH_403002 */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { payload, user } = context.switchToHttp().getRequest<FastifyRequest & { user: CurrentSession }>().user;
    const isYoung = await this.sessions.isYoungSession(payload.sid);
    if (!isYoung || (await this.sessions.mustProveFactor(user, payload.amr)))
      throw new DomainError(youngSessionRequired);
    return true;
  }
}
