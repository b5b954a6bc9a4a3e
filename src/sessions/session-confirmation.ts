import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { AuditTrail } from '../audit/audit-trail';
import type { LoginFactor } from '../audit/login-journal';
import type { Transaction } from '../platform/database/database';
import type { User } from '../users/user.entity';
import { TokenIssuer } from './jwt/token-issuer';
import { hasSecondFactor } from './authentication-context';
import type { LoginToken } from './persistence/login-token.entity';
import { LoginTokens } from './persistence/login-token.repository';
import { methodsOf, type TokenPair } from './session-opener';
import type { SignInOrigin } from './sign-in-origins';
import type { AuthenticationMethod } from './token-payload';

export interface ConfirmedSession {
  readonly sid: string;
  /** The second factor of this proof, or `passkey`; null for a password alone. */
  readonly mfa: LoginFactor | null;
  /** The new sign-in at an identity provider, instead of a password. */
  readonly origin?: Pick<SignInOrigin, 'mfa' | 'askedAt'>;
}

/**
 * A session whose user has proven again who they are (docs/spec/extensions.md#reauthenticate). It keeps its `sid`, its
 * beginning and its end. It is no login, so it is not logged as one: `SESSION_CONFIRMED` is in the audit log.
 */
@Injectable()
export class SessionConfirmation {
  constructor(
    private readonly tokens: LoginTokens,
    private readonly issuer: TokenIssuer,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * The caller has locked the row of the user under the version that was compared. The first row of the session is locked
   * before it is read, so of two confirmations the second one adds its factor to those of the first.
   * @returns the new tokens, or undefined when the session has ended
   */
  async confirmIn(
    tx: Transaction,
    user: User,
    { sid, mfa, origin }: ConfirmedSession,
    client: ClientInfo,
  ): Promise<TokenPair | undefined> {
    const { uid: userId, tenantId, orgUnitId, credentialVersion } = user;
    const session = { userId, sid, credentialVersion };
    const first = (await this.tokens.hold(tx, session)) ? await this.tokens.findRow(sid, tx) : null;
    if (first === null) return undefined;
    const { access, refresh } = this.issuer.firstTokens(first.expires);
    const amr = joined((first.amr?.split(' ') ?? ['pwd']) as AuthenticationMethod[], methodsOf(user, mfa, origin));
    const authenticatedAt = checkedAt({ mfa, origin }, first, refresh.createdAt);
    if (!(await this.tokens.confirm(tx, session, amr, authenticatedAt))) return undefined;
    await this.supersede(tx, sid, refresh.jti);
    await this.tokens.insert(tx, session, [access, refresh]);
    await this.audit.record(tx, 'SESSION_CONFIRMED', { userId, client, detail: { sid, mfa } });
    // A bound session proves its key here, so it keeps it. Another one is bound from now on.
    const claims = { userId, sid, tenantId, orgUnitId, amr, authenticatedAt, boundTo: client.provenKey };
    return {
      accessToken: await this.issuer.sign(claims, access, tx),
      refreshToken: await this.issuer.sign(claims, refresh, tx),
    };
  }

  /**
   * Makes the new refresh token the successor of the one in use, as a rotation does. So the former one is refused, or
   * leads to the new one within the grace period of a rotation.
   * Race: rotations of the same token. The first one stores its successor. If a refresh has won, its successor is the
   * token in use, and is replaced in turn.
   */
  private async supersede(tx: Transaction, sid: string, successor: string): Promise<void> {
    let current = await this.tokens.currentRefresh(tx, sid);
    while (current !== undefined && !(await this.tokens.claimSuccession(tx, current, successor))) {
      current = await this.tokens.currentRefresh(tx, sid);
    }
    if (current !== undefined) await this.tokens.redirectSuccession(tx, sid, current, successor);
  }
}

/**
 * A provider has asked the person before the browser came back, which may take minutes. Where nothing was checked here, that is the
 * time of the check, unless the session has proven something since.
 */
function checkedAt(
  { mfa, origin }: Pick<ConfirmedSession, 'mfa' | 'origin'>,
  { authenticatedAt: before }: Pick<LoginToken, 'authenticatedAt'>,
  now: Date,
): Date {
  if (origin === undefined || mfa !== null) return now;
  return before !== null && before > origin.askedAt ? before : origin.askedAt;
}

const order: readonly AuthenticationMethod[] = ['pwd', 'ext', 'otp', 'device', 'hwk', 'user', 'mfa'];

/**
 * What the session has proven, before and now. `device` says that a trusted device has left out the second factor, which is
 * no longer true once one was used.
 */
function joined(
  before: readonly AuthenticationMethod[],
  now: readonly AuthenticationMethod[],
): readonly AuthenticationMethod[] {
  const all = new Set([...before, ...now]);
  return order.filter((method) => all.has(method) && !(method === 'device' && hasSecondFactor([...all])));
}
