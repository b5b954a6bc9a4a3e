import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenInvalid, accessTokenRevoked } from '../../shared/errors/error-catalogue';
import { AppConfig } from '../../platform/config/app-config';
import { type CurrentSession, needsAccount } from '../current-session';
import { LoginTokens } from '../persistence/login-tokens';
import { bearer, presentedToken, verification } from './presented-token';

/**
 * Turns a JWT into a session (docs/spec/service.md#5.3). It checks the signature, the claims and the expiry, then the
 * row of the token, the first row of its session and its user. The guard of a route decides which kinds of token it
 * accepts.
 */
@Injectable()
export class TokenStrategy extends PassportStrategy(Strategy, 'token') {
  constructor(
    private readonly tokens: LoginTokens,
    private readonly clock: Clock,
    config: AppConfig,
  ) {
    super(verification(config.jwt, bearer));
  }

  async validate(request: FastifyRequest, claims: Record<string, unknown>): Promise<CurrentSession> {
    const presented = presentedToken(bearer(request), claims, this.clock);
    const { payload } = presented;
    const row = await (needsAccount(request) ? this.tokens.findWithAccount(payload) : this.tokens.find(payload));
    if (row === undefined) throw new DomainError(accessTokenInvalid);
    if (!row.live) throw new DomainError(accessTokenRevoked);
    const { user, credentialVersion, expires, account } = row;
    return { ...presented, user, credentialVersion, expires, account };
  }
}
