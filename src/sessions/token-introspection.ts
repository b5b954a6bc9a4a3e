import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { JwtSettings } from './jwt-settings';
import type { PresentedToken, SessionUser } from './current-session';
import { checkBy, newlyPresented, verification } from './jwt/presented-token';
import { LoginTokens } from './persistence/login-token.repository';
import type { TokenPayload } from './token-payload';

export interface LiveToken {
  readonly payload: TokenPayload;
  readonly user: SessionUser;
  readonly groups: readonly string[];
}

/** Another service asks about a token, which is not that of the request. */
interface TokenQuestion {
  readonly headers: object;
  readonly token: string;
}

/**
 * Tells other services whether a token is valid at this moment (RFC 7662, docs/spec/extensions.md#f). Its strategy checks
 * the signature, the claims and the expiry of a token of either use.
 */
@Injectable()
export class TokenIntrospection extends PassportStrategy(Strategy, 'introspected-token') {
  private readonly check = checkBy<PresentedToken, TokenQuestion>(this);

  constructor(
    private readonly tokens: LoginTokens,
    private readonly clock: Clock,
    private readonly settings: JwtSettings,
  ) {
    super(verification(settings, (question) => (question as unknown as TokenQuestion).token));
  }

  /**
   * @param token an access token or a refresh token, or any other text
   * @returns undefined for a token that this service would refuse, whatever the reason is
   */
  async liveToken(token: string): Promise<LiveToken | undefined> {
    const presented = await this.verified(token);
    if (presented === undefined) return undefined;
    const { payload } = presented;
    const row = await this.tokens.findWithGroups(payload);
    if (!row?.live || (await this.isReplaced(payload))) return undefined;
    return { payload, user: row.user, groups: row.groups ?? [] };
  }

  validate({ token }: TokenQuestion, claims: Record<string, unknown>): PresentedToken {
    return newlyPresented(token, claims, this.clock, this.settings);
  }

  private async verified(token: string): Promise<PresentedToken | undefined> {
    try {
      return (await this.check({ headers: {}, token })) || undefined;
    } catch (error) {
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  }

  /** A refresh token that was used while rotation was on has a successor. */
  private async isReplaced({ token_use: use, jti }: TokenPayload): Promise<boolean> {
    if (use !== 'refresh') return false;
    const row = await this.tokens.findRow(jti);
    return row?.successorJti !== null;
  }
}
