import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  type CatalogueEntry,
} from '../../shared/errors/error-catalogue';
import { RecentKeys } from '../../shared/recent-keys';
import { JwtSettings } from '../jwt-settings';
import { type AlsoRead, alsoReadFor, type CurrentSession, type PresentedToken } from '../current-session';
import { LoginTokens } from '../persistence/login-token.repository';
import type { CheckedToken } from '../persistence/token-checks';
import type { Claims, TokenPayload } from '../token-payload';
import { bearer, checkBy, newlyPresented, presentedToken, verification } from './presented-token';

interface TokenQuestion {
  readonly token: string;
}

/**
 * Texts of live access tokens whose signature was good. A page uses the same token many times during its 15 minutes, and a
 * service asks about the tokens of its users again and again. The claims, the expiry and the rows are checked at each use (ADR 0014).
 * At most 5 MB.
 */
const rememberedTokens = 4096;

const refusals = new Set<CatalogueEntry>([accessTokenInvalid, accessTokenExpired, accessTokenRevoked]);

/** Whether the error is about the token. Any other one is about the service. */
export const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && refusals.has(error.entry);

/**
 * Turns a JWT into a session (docs/spec/service.md#5.3). It checks the signature, the claims and the expiry, then the
 * row of the token, the first row of its session and its user. The guard of a route decides which kinds of token it
 * accepts. Every check of a token is made here, of the token of a request and of any other.
 */
@Injectable()
export class TokenStrategy extends PassportStrategy(Strategy, 'token') {
  private readonly verify = checkBy<PresentedToken, TokenQuestion>(this);
  private readonly verified = new RecentKeys<TokenPayload>(rememberedTokens);

  constructor(
    private readonly tokens: LoginTokens,
    private readonly clock: Clock,
    private readonly settings: JwtSettings,
  ) {
    super(verification<TokenQuestion>(settings, ({ token }) => token));
  }

  /**
   * @returns false when the token is missing or not ours
   * @throws DomainError AUTH_401001, AUTH_401002, AUTH_401004
   */
  check(request: FastifyRequest): Promise<CurrentSession | false> {
    return this.sessionOf(bearer(request) ?? '', alsoReadFor(request));
  }

  /** Like `check`, for a token that need not be that of the request. */
  async sessionOf(token: string, also?: AlsoRead): Promise<CurrentSession | false> {
    const known = this.verified.get(token);
    if (known !== undefined) return this.live(presentedToken(token, known, this.clock), also);
    const presented = await this.verify({ token });
    if (presented === false) return false;
    const session = await this.live(presented, also);
    this.remember(session);
    return session;
  }

  validate({ token }: TokenQuestion, claims: Claims): PresentedToken {
    return newlyPresented(token, claims, this.clock, this.settings);
  }

  private async live(presented: PresentedToken, also?: AlsoRead): Promise<CurrentSession> {
    const { payload, token } = presented;
    const row = await this.rowOf(payload, also);
    if (row === undefined) throw new DomainError(accessTokenInvalid);
    if (!row.live) throw new DomainError(accessTokenRevoked);
    const { user, credentialVersion, expires, account, groups } = row;
    // A copy by `...presented` takes V8 a hundred times as long (ADR 0014).
    return { payload, token, user, credentialVersion, expires, account, groups };
  }

  private rowOf(payload: TokenPayload, also?: AlsoRead): Promise<CheckedToken | undefined> {
    if (also === 'account') return this.tokens.findWithAccount(payload);
    return also === 'groups' ? this.tokens.findWithGroups(payload) : this.tokens.find(payload);
  }

  private remember({ token, payload }: PresentedToken): void {
    if (payload.token_use !== 'access') return;
    const issuedMs = payload.iat * 1000;
    this.verified.set(token, payload, this.clock.now().getTime(), payload.exp * 1000 - issuedMs);
  }
}
