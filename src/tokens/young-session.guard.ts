import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../shared/errors/domain-error';
import { freshLoginRequired } from '../shared/errors/error-catalogue';
import { Database } from '../platform/database/database';
import { timeOrNull } from '../platform/database/sql';
import type { CurrentSession } from './current-session';
import { LiveSessions } from './live-sessions';
import { AccessTokenGuard } from './tokens.guard';

/**
 * Refuses a session whose last credential check is older than `STEP_UP_MAX_AGE_SECONDS` (docs/spec/extensions.md#young-session).
 * The first row of the session has the time of that check, so neither a refresh nor a rotation makes the session younger.
 * A session of a version that did not store the time is old. The same answer gets an administrator who has a second
 * factor and has not used it in this session (`LiveSessions.lacksFactor`).
 */
@Injectable()
export class YoungSessionGuard implements CanActivate {
  constructor(
    private readonly database: Database,
    private readonly sessions: LiveSessions,
  ) {}

  /** @throws DomainError AUTH_403002 */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { payload, user } = context.switchToHttp().getRequest<FastifyRequest & { user: CurrentSession }>().user;
    const row = await this.database.row<{ authenticated_at: unknown; has_factor: unknown }>(
      `SELECT t.authenticated_at, u.topt_secret IS NOT NULL OR u.own_factors = 1 AS has_factor
       FROM login_tokens t JOIN users u ON u.uid = t.user_identity WHERE t.jti = ?`,
      [payload.sid],
    );
    const authenticatedAt = timeOrNull(row?.authenticated_at);
    const weak = Number(row?.has_factor) === 1 && this.sessions.lacksFactor(user, payload.amr);
    if (weak || !this.sessions.isYoung({ authenticatedAt })) throw new DomainError(freshLoginRequired);
    return true;
  }
}

/** `@YoungSession()`: the route takes an access token of a young session (AUTH_401001, 401002, 401004, AUTH_403002). */
export function YoungSession(): MethodDecorator {
  return applyDecorators(UseGuards(AccessTokenGuard, YoungSessionGuard));
}
