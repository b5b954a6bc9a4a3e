import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { type LoginFactor, LoginJournal } from '../audit/login-journal';
import { Database, type Transaction } from '../platform/database/database';
import type { User } from '../users/user.entity';
import { type SessionClaims, TokenIssuer } from './jwt/token-issuer';
import type { LiveSession } from './live-sessions';
import { SignInNotices } from './sign-in-notices';
import { type SignInOrigin, SignInOrigins } from './sign-in-origins';
import { LoginTokens } from './persistence/login-token.repository';
import type { AuthenticationMethod } from './token-payload';

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** The session in which an authenticator was enrolled. */
export type EnrollingSession = LiveSession & { readonly sid: string };

export type ReplacedSession = Pick<LiveSession, 'amr' | 'end' | 'startedAt'>;

/** Opens the session of a successful login: two `login_tokens` rows and one `login_logs` row in one transaction. */
@Injectable()
export class SessionOpener {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly issuer: TokenIssuer,
    private readonly journal: LoginJournal,
    private readonly notices: SignInNotices,
    private readonly origins: SignInOrigins,
  ) {}

  /**
   * @param mfa the second factor of this login, or `passkey`; null when none was required
   * @param origin the sign-in at an identity provider
   */
  open(user: User, client: ClientInfo, mfa: LoginFactor | null, origin?: SignInOrigin): Promise<TokenPair> {
    return this.database.transaction((tx) => this.openIn(tx, user, client, mfa, origin));
  }

  /** Opens the session in the caller's transaction, so that a code is spent if and only if its session is opened. */
  async openIn(
    tx: Transaction,
    user: User,
    client: ClientInfo,
    mfa: LoginFactor | null,
    origin?: SignInOrigin,
  ): Promise<TokenPair> {
    // A code is a check of this moment. A trusted device is none.
    const authenticatedAt = mfa === null || mfa === 'device' ? origin?.askedAt : undefined;
    // The row of the user comes before those of the session, as in every transaction that ends sessions.
    await origin?.follow(tx, user, client);
    const { sid, ...tokens } = await this.issue(
      tx,
      user,
      { amr: methodsOf(user, mfa, origin), authenticatedAt },
      client,
    );
    await origin?.began(tx, sid);
    await this.announce(tx, user, client, mfa);
    return tokens;
  }

  /**
   * Opens the session that the first code of a new authenticator is answered with, beside the session that enrols. That
   * code proves who holds the new authenticator, not who the user is. So the session begins and ends with the one that enrols,
   * and is no stronger and no younger than the caller says: an old, stolen access token must not become a young session
   * (ADR 0008). It is no login either, so it is not logged. `TOTP_ENROLLED` is in the audit log.
   */
  async openBeside(tx: Transaction, user: User, session: EnrollingSession, client: ClientInfo): Promise<TokenPair> {
    const { sid, ...tokens } = await this.issue(tx, user, session, client);
    await this.origins.share(tx, user, session.sid, sid);
    return tokens;
  }

  /**
   * Opens the session of a user who has just confirmed the password, in place of the session of the request. It keeps
   * the factors, the beginning and the end of that session: no second factor was checked again. It is no login, so it is
   * not logged. The transaction ends the former session.
   */
  async replaceIn(tx: Transaction, user: User, replaced: ReplacedSession, client: ClientInfo): Promise<TokenPair> {
    const { accessToken, refreshToken } = await this.issue(tx, user, replaced, client);
    return { accessToken, refreshToken };
  }

  private async announce(tx: Transaction, user: User, client: ClientInfo, mfa: LoginFactor | null): Promise<void> {
    const { uid: userId, loginName, provider } = user;
    await this.notices.notify(tx, user, client);
    await this.journal.succeeded(tx, { userId, loginName, provider, mfa }, client);
  }

  /** Without `authenticatedAt`, a credential was checked now. */
  private async issue(
    tx: Transaction,
    { uid: userId, tenantId, orgUnitId, credentialVersion }: User,
    { amr, end, authenticatedAt, startedAt }: Pick<LiveSession, 'amr'> & Partial<LiveSession>,
    client: ClientInfo,
  ): Promise<TokenPair & { readonly sid: string }> {
    const { access, refresh } = this.issuer.firstTokens(end);
    const sid = refresh.jti;
    const checkedAt = authenticatedAt === undefined ? refresh.createdAt : authenticatedAt;
    const start = { ...client, amr, authenticatedAt: checkedAt, startedAt: startedAt ?? refresh.createdAt };
    await this.tokens.insert(tx, { userId, sid, credentialVersion }, [access, refresh], start);
    const claims = { userId, sid, tenantId, orgUnitId, amr, authenticatedAt: checkedAt };
    const session: SessionClaims = { ...claims, boundTo: client.provenKey };
    return {
      sid,
      accessToken: await this.issuer.sign(session, access, tx),
      refreshToken: await this.issuer.sign(session, refresh, tx),
    };
  }
}

/**
 * A trusted device only replaces the code. Its sessions have no second factor (docs/spec/extensions.md#d). A passkey is
 * both factors, and no password is involved. An identity provider stands for the password, and for the code where it is
 * trusted in this.
 */
export function methodsOf(
  { provider }: Pick<User, 'provider'>,
  mfa: LoginFactor | null,
  origin?: Pick<SignInOrigin, 'mfa'>,
): AuthenticationMethod[] {
  if (mfa === 'passkey') return ['hwk', 'user', 'mfa'];
  const first = provider === 'oidc' ? 'ext' : 'pwd';
  if (mfa === null) return origin?.mfa === true ? [first, 'mfa'] : [first];
  return [first, mfa === 'device' ? 'device' : 'otp'];
}
