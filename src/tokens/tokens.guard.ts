import { Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { DomainError } from '../shared/errors/domain-error';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  type CatalogueEntry,
  refreshTokenRejected,
} from '../shared/errors/error-catalogue';
import type { CurrentSession, PresentedToken } from './current-session';
import type { TokenUse } from './token-payload';

const refusals = new Set<CatalogueEntry>([accessTokenInvalid, accessTokenExpired, accessTokenRevoked]);

/**
 * Returns the token that the strategy has checked, if its use is accepted. Rethrows an error of the strategy, also one
 * of the database.
 */
function accepted<Token extends PresentedToken>(
  error: unknown,
  token: Token | false,
  uses: readonly TokenUse[],
): Token {
  if (error instanceof Error) throw error;
  if (!token || !uses.includes(token.payload.token_use)) throw new DomainError(accessTokenInvalid);
  return token;
}

abstract class SessionGuard extends AuthGuard('token') {
  protected abstract readonly accepts: readonly TokenUse[];

  override handleRequest<Session>(error: unknown, session: CurrentSession | false): Session {
    return accepted(error, session, this.accepts) as Session;
  }
}

/** Accepts an access token only (AUTH_401001, AUTH_401002, AUTH_401004). */
@Injectable()
export class AccessTokenGuard extends SessionGuard {
  protected readonly accepts = ['access'] as const;
}

/** Accepts an access token or a refresh token: logout takes both. */
@Injectable()
export class SessionTokenGuard extends SessionGuard {
  protected readonly accepts = ['access', 'refresh'] as const;
}

/** Accepts a refresh token as bearer or in the body (AUTH_401006). SessionRefresher checks its row. */
@Injectable()
export class RefreshTokenGuard extends AuthGuard('refresh-token') {
  override handleRequest<Token>(error: unknown, token: PresentedToken | false): Token {
    try {
      return accepted(error, token, ['refresh']) as Token;
    } catch (reason) {
      if (reason instanceof DomainError && refusals.has(reason.entry)) throw new DomainError(refreshTokenRejected);
      throw reason;
    }
  }
}
