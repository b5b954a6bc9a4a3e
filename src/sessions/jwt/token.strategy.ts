import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenInvalid, accessTokenRevoked } from '../../shared/errors/error-catalogue';
import { RecentKeys } from '../../shared/recent-keys';
import { JwtSettings } from '../jwt-settings';
import { type CurrentSession, needsAccount, needsGroups, type PresentedToken } from '../current-session';
import { LoginTokens } from '../persistence/login-token.repository';
import type { CheckedToken } from '../persistence/token-checks';
import type { TokenPayload } from '../token-payload';
import { bearer, checkBy, newlyPresented, presentedToken, verification } from './presented-token';

type Claims = Record<string, unknown>;

/**
 * Texts of live access tokens whose signature was good. A page asks about the same token many times during its 15
 * minutes. The claims, the expiry and the rows are checked at each use (ADR 0014). At most 5 MB.
 */
const rememberedTokens = 4096;

/**
 * Turns a JWT into a session (docs/spec/service.md#5.3). It checks the signature, the claims and the expiry, then the
 * row of the token, the first row of its session and its user. The guard of a route decides which kinds of token it
 * accepts.
 */
@Injectable()
export class TokenStrategy extends PassportStrategy(Strategy, 'token') {
  private readonly verify = checkBy<CurrentSession>(this);
  private readonly verified = new RecentKeys<Claims>(rememberedTokens);

  constructor(
    private readonly tokens: LoginTokens,
    private readonly clock: Clock,
    private readonly settings: JwtSettings,
  ) {
    super(verification(settings, bearer));
  }

  /**
   * @returns false when the token is missing or not ours
   * @throws DomainError AUTH_401001, AUTH_401002, AUTH_401004
   */
  async check(request: FastifyRequest): Promise<CurrentSession | false> {
    const token = bearer(request) ?? '';
    const claims = this.verified.get(token);
    if (claims === undefined) return this.verify(request);
    return this.sessionOf(request, presentedToken(token, claims, this.clock), claims);
  }

  validate(request: FastifyRequest, claims: Claims): Promise<CurrentSession> {
    return this.sessionOf(request, newlyPresented(bearer(request), claims, this.clock, this.settings), claims);
  }

  private async sessionOf(request: FastifyRequest, presented: PresentedToken, claims: Claims): Promise<CurrentSession> {
    const { payload } = presented;
    const row = await this.rowOf(request, payload);
    if (row === undefined) throw new DomainError(accessTokenInvalid);
    if (!row.live) throw new DomainError(accessTokenRevoked);
    this.remember(presented, claims);
    const { user, credentialVersion, expires, account, groups } = row;
    return { ...presented, user, credentialVersion, expires, account, groups };
  }

  private rowOf(request: FastifyRequest, payload: TokenPayload): Promise<CheckedToken | undefined> {
    if (needsAccount(request)) return this.tokens.findWithAccount(payload);
    return needsGroups(request) ? this.tokens.findWithGroups(payload) : this.tokens.find(payload);
  }

  private remember({ token, payload }: PresentedToken, claims: Claims): void {
    if (payload.token_use !== 'access' || this.verified.get(token) !== undefined) return;
    const issuedMs = payload.iat * 1000;
    this.verified.set(token, claims, this.clock.now().getTime(), payload.exp * 1000 - issuedMs);
  }
}
