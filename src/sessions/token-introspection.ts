import { Injectable } from '@nestjs/common';
import type { CurrentSession, SessionUser } from './current-session';
import { isRefusal, TokenStrategy } from './jwt/token.strategy';
import { LoginTokens } from './persistence/login-token.repository';
import { TokenBinding } from './token-binding';
import type { TokenPayload } from './token-payload';

export interface LiveToken {
  readonly payload: TokenPayload;
  readonly user: SessionUser;
  readonly groups: readonly string[];
}

/** Tells other services whether a token of either use is valid at this moment (RFC 7662, docs/spec/extensions.md#f). */
@Injectable()
export class TokenIntrospection {
  constructor(
    private readonly strategy: TokenStrategy,
    private readonly tokens: LoginTokens,
    private readonly binding: TokenBinding,
  ) {}

  /**
   * @param token an access token or a refresh token, or any other text
   * @returns undefined for a token that this service would refuse, whatever the reason is
   */
  async liveToken(token: string): Promise<LiveToken | undefined> {
    const session = await this.sessionOf(token);
    if (!session || !this.binding.admits(session.payload) || (await this.isReplaced(session.payload))) return undefined;
    const { payload, user, groups = [] } = session;
    return { payload, user, groups };
  }

  private async sessionOf(token: string): Promise<CurrentSession | false> {
    try {
      return await this.strategy.sessionOf(token, 'groups');
    } catch (error) {
      if (isRefusal(error)) return false;
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
