import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../shared/errors/domain-error';
import { accessTokenInvalid, refreshTokenRejected } from '../shared/errors/error-catalogue';
import { SessionLimit } from '../platform/limits/session-limit';
import type { CurrentSession, PresentedToken } from './current-session';
import { RefreshTokenStrategy } from './jwt/refresh-token.strategy';
import { isRefusal, TokenStrategy } from './jwt/token.strategy';
import type { Proof } from './proof/proof-reader';
import { TokenBinding } from './token-binding';
import type { TokenUse } from './token-payload';

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

  constructor(
    private readonly strategy: TokenStrategy,
    protected readonly binding: TokenBinding,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const proof = this.proofOf(request);
    request.user = await this.session(request, proof);
    // Last, so that only the clients of live tokens write to the memory of proofs, or somebody who asks for tokens.
    await this.binding.use(proof, request);
    return true;
  }

  protected proofOf(request: FastifyRequest): Proof | undefined {
    return this.binding.proofOf(request);
  }

  protected async session(request: FastifyRequest, proof: Proof | undefined): Promise<CurrentSession | null> {
    const session = accepted(await this.strategy.check(request), this.accepts);
    this.binding.assertHolder(session, proof, request);
    return session;
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

/** Accepts everybody who asks for tokens by a login, with a good proof of possession or none (AUTH_401011). */
@Injectable()
export class SignInGuard implements CanActivate {
  constructor(private readonly binding: TokenBinding) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const proof = this.binding.proofOf(request);
    this.binding.assertProven(proof);
    await this.binding.use(proof, request);
    return true;
  }
}

/**
 * For anonymous routes that use an access token when there is one. `@Session()` is null without a valid access token. A
 * database that is down is answered with 503, not treated as a missing token.
 */
@Injectable()
export class OptionalSessionGuard extends SessionGuard {
  protected readonly accepts = ['access'] as const;

  protected override async session(request: FastifyRequest, proof: Proof | undefined): Promise<CurrentSession | null> {
    try {
      return await super.session(request, proof);
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }
}

/** Like OptionalSessionGuard, for a route that answers tokens. */
@Injectable()
export class SignInOrSessionGuard extends OptionalSessionGuard {
  protected override session(request: FastifyRequest, proof: Proof | undefined): Promise<CurrentSession | null> {
    this.binding.assertProven(proof);
    return super.session(request, proof);
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
    private readonly binding: TokenBinding,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const proof = this.binding.proofOf(request);
    try {
      request.user = accepted(await this.strategy.check(request), ['refresh']);
    } catch (reason) {
      if (isRefusal(reason)) throw new DomainError(refreshTokenRejected);
      throw reason;
    }
    this.binding.assertHolder(request.user, proof, request);
    await this.limit.count(request.user.payload.sid);
    await this.binding.use(proof, request);
    return true;
  }
}
