import { Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { DomainError } from '../../shared/errors/domain-error';
import type { CurrentSession } from '../../tokens/current-session';

/**
 * Anonymous routes that know their owner by his access token, if he sends it: `@Session()` is null without a good one.
 * A store that is down is no missing token, and passes through as 503.
 */
@Injectable()
export class OptionalSessionGuard extends AuthGuard('token') {
  override handleRequest<Session>(error: unknown, session: CurrentSession | false): Session {
    const refused = error instanceof DomainError && error.entry.status === 401;
    if (error && !refused) throw error as Error;
    const good = !refused && session && session.payload.token_use === 'access';
    return (good ? session : null) as Session;
  }
}
