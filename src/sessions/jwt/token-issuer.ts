import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import type { Sql } from '../../platform/database/sql';
import { acrOf } from '../authentication-context';
import { JwtSettings } from '../jwt-settings';
import type { NewToken, Scope, SessionKey } from '../persistence/login-token.repository';
import type { AuthenticationMethod, TokenPayload } from '../token-payload';
import { refreshTokenType } from './compact-jws';
import { RefreshAudience } from './refresh-audience';

/** The values from which the claims of all tokens of a session are made. */
export interface SessionClaims extends Scope, Pick<SessionKey, 'userId' | 'sid'> {
  readonly amr: readonly AuthenticationMethod[];
  /** The last check of a credential. Null when no version has stored it: the tokens then have no `auth_time`. */
  readonly authenticatedAt: Date | null;
  /** The thumbprint of the key that the tokens are bound to. Undefined: to none. */
  readonly boundTo: string | undefined;
}

/** The lifetimes, the claims and the signature of every token (docs/spec/decisions.md#4). */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly jwt: JwtService,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly settings: JwtSettings,
    private readonly refreshAudience: RefreshAudience,
  ) {}

  /**
   * The first tokens of a session. The `jti` of the refresh token is the `sid` of the session (ADR 0005).
   * @param end when the session ends, if it replaces another one
   */
  firstTokens(end?: Date): { readonly access: NewToken; readonly refresh: NewToken } {
    const createdAt = this.clock.now();
    const expires = end ?? after(createdAt, this.settings.refreshTtlSeconds);
    return {
      access: this.newAccessToken(expires, createdAt),
      refresh: this.newRefreshToken(expires, createdAt),
    };
  }

  /** @param sessionEnd when the refresh token of the session expires; no access token lives longer */
  newAccessToken(sessionEnd: Date, createdAt = this.clock.now()): NewToken {
    const expires = after(createdAt, this.settings.accessTtlSeconds);
    return { jti: this.random.uuid(), use: 'access', createdAt, expires: expires < sessionEnd ? expires : sessionEnd };
  }

  newRefreshToken(expires: Date, createdAt: Date): NewToken {
    return { jti: this.random.uuid(), use: 'refresh', createdAt, expires };
  }

  /** Signs with the configured algorithm and the current key. @param sql the transaction of the caller, or the database */
  async sign(session: SessionClaims, token: NewToken, sql: Sql): Promise<string> {
    const { userId, sid, tenantId, orgUnitId, amr, authenticatedAt, boundTo } = session;
    const { issuer, audience, signing, algorithm } = this.settings;
    const isAccess = token.use === 'access';
    const claims: TokenPayload = {
      sub: userId,
      jti: token.jti,
      sid,
      token_use: token.use,
      iss: issuer,
      aud: isAccess ? audience : await this.refreshAudience.current(sql),
      iat: seconds(token.createdAt),
      exp: seconds(token.expires),
      tenant_id: tenantId,
      org_unit_id: orgUnitId,
      amr,
      ...(isAccess && authenticatedAt !== null && { auth_time: seconds(authenticatedAt) }),
      ...(isAccess && { acr: acrOf(amr) }),
      ...(boundTo !== undefined && { cnf: { jkt: boundTo } }),
    };
    const header = { typ: isAccess ? 'JWT' : refreshTokenType };
    return this.jwt.sign(claims, { secret: signing.key, algorithm, keyid: signing.kid, header } as object);
  }
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
