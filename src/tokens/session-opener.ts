import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { LoginJournal } from '../audit/login-journal';
import { Database, type Transaction } from '../platform/database/database';
import type { MfaType, User } from '../users/user.entity';
import { type SessionClaims, TokenIssuer } from './jwt/token-issuer';
import { SignInNotices } from './sign-in/sign-in-notices';
import { LoginTokens } from './persistence/login-tokens';

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Opens the session of a successful login: two `login_tokens` rows and one `login_logs` row in one transaction. */
@Injectable()
export class SessionOpener {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly issuer: TokenIssuer,
    private readonly journal: LoginJournal,
    private readonly notices: SignInNotices,
  ) {}

  /** @param mfa the second factor of this login; null when none was required */
  open(user: User, client: ClientInfo, mfa: MfaType | null): Promise<TokenPair> {
    return this.database.transaction((tx) => this.openIn(tx, user, client, mfa));
  }

  /** Opens the session in the caller's transaction, so that a code is spent if and only if its session is opened. */
  async openIn(tx: Transaction, user: User, client: ClientInfo, mfa: MfaType | null): Promise<TokenPair> {
    const { uid: userId, loginName, provider, tenantId, orgUnitId, credentialVersion } = user;
    const { access, refresh } = this.issuer.firstTokens();
    const sid = refresh.jti;
    await this.tokens.insert(tx, { userId, sid, credentialVersion }, [access, refresh]);
    await this.notices.notify(tx, user, client);
    await this.journal.succeeded(tx, { userId, loginName, provider, mfa }, client);
    const session: SessionClaims = { userId, sid, tenantId, orgUnitId, amr: mfa === null ? ['pwd'] : ['pwd', 'otp'] };
    return {
      accessToken: this.issuer.sign(session, access),
      refreshToken: this.issuer.sign(session, refresh),
    };
  }
}
