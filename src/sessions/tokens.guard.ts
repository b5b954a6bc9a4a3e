import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../shared/errors/domain-error';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  type CatalogueEntry,
  refreshTokenRejected,
} from '../shared/errors/error-catalogue';
import { SessionLimit } from '../platform/limits/session-limit';
import type { CurrentSession, PresentedToken } from './current-session';
import { RefreshTokenStrategy } from './jwt/refresh-token.strategy';
import { TokenStrategy } from './jwt/token.strategy';
import type { TokenUse } from './token-payload';

const refusals = new Set<CatalogueEntry>([accessTokenInvalid, accessTokenExpired, accessTokenRevoked]);

type Guarded = FastifyRequest & { user: PresentedToken | null };

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Guarded>();

/** Returns the token that the strategy has checked, if its use is accepted. */
function accepted<Token extends PresentedToken>(token: Token | false, uses: readonly TokenUse[]): Token {
  if (!token || !uses.includes(token.payload.token_use)) throw new DomainError(accessTokenInvalid);
  return token;
}

@Injectable()
abstract class SessionGuard implements CanActivate {
  protected abstract readonly accepts: readonly TokenUse[];

  constructor(private readonly strategy: TokenStrategy) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    request.user = await this.session(request);
    return true;
  }

  protected async session(request: FastifyRequest): Promise<CurrentSession | null> {
    return accepted(await this.strategy.check(request), this.accepts);
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

/**
 * For anonymous routes that use an access token when there is one. `@Session()` is null without a valid access token. A
 * database that is down is answered with 503, not treated as a missing token.
 */
@Injectable()
export class OptionalSessionGuard extends SessionGuard {
  protected readonly accepts = ['access'] as const;

  protected override async session(request: FastifyRequest): Promise<CurrentSession | null> {
    try {
      return await super.session(request);
    } catch (error) {
      if (error instanceof DomainError && error.entry.status === 401) return null;
      throw error;
    }
  }
}

/**
 * Accepts a refresh token as bearer or in the body (AUTH_401006), and counts the refreshes of its session
 * (COMMON_429001). SessionRefresher checks its row.
 */
@Injectable()
export class RefreshTokenGuard implements CanActivate {
  constructor(
    private readonly strategy: RefreshTokenStrategy,
    private readonly limit: SessionLimit,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    try {
      request.user = accepted(await this.strategy.check(request), ['refresh']);
    } catch (reason) {
      if (reason instanceof DomainError && refusals.has(reason.entry)) throw new DomainError(refreshTokenRejected);
      throw reason;
    }
    await this.limit.count(request.user.payload.sid);
    return true;
  }
}
