import { Injectable } from '@nestjs/common';
import { DomainError } from '../shared/errors/domain-error';
import type { PresentedToken, SessionUser } from './current-session';
import { IntrospectedTokenStrategy } from './jwt/introspected-token.strategy';
import { LoginTokens } from './persistence/login-token.repository';
import type { TokenPayload } from './token-payload';

export interface LiveToken {
  readonly payload: TokenPayload;
  readonly user: SessionUser;
}

/** Tells other services whether a token is valid at this moment (RFC 7662, docs/spec/extensions.md#f). */
@Injectable()
export class TokenIntrospection {
  constructor(
    private readonly strategy: IntrospectedTokenStrategy,
    private readonly tokens: LoginTokens,
  ) {}

  /**
   * @param token an access token or a refresh token, or any other text
   * @returns undefined for a token that this service would refuse, whatever the reason is
   */
  async liveToken(token: string): Promise<LiveToken | undefined> {
    const presented = await this.verified(token);
    if (presented === undefined) return undefined;
    const { payload } = presented;
    const row = await this.tokens.find(payload);
    if (!row?.live || (await this.isReplaced(payload))) return undefined;
    return { payload, user: row.user };
  }

  private async verified(token: string): Promise<PresentedToken | undefined> {
    try {
      return (await this.strategy.check({ headers: {}, token })) || undefined;
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
