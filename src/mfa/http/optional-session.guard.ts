import { Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { DomainError } from '../../shared/errors/domain-error';
import type { CurrentSession } from '../../tokens/current-session';

/**
 * For anonymous routes that use an access token when there is one. `@Session()` is null without a valid access token. A
 * database that is down is answered with 503, not treated as a missing token.
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
