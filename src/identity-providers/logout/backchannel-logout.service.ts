import { Injectable, Logger } from '@nestjs/common';
import { AuditTrail } from '../../audit/audit-trail';
import { sha256Hex } from '../../platform/crypto/key-ring';
import { Cooldowns } from '../../platform/database/cooldown.repository';
import type { Transaction } from '../../platform/database/database';
import { UserSessions } from '../../sessions/user-sessions';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { identityProviderUnavailable, requestInvalid } from '../../shared/errors/error-catalogue';
import { LogThrottle } from '../../shared/log-throttle';
import { ExternalIdentities } from '../external-identities.repository';
import { ExternalSessions } from '../external-sessions.repository';
import { ExternalSignIns } from '../external-sign-ins.repository';
import { IdentityProviders } from '../identity-providers.repository';
import { type LogoutClaims, ProviderAway, ProviderConnection, ProviderRefused } from '../provider-connection';
import { ProviderSecrets } from '../provider-secrets';

/** Real ones have less than a kilobyte. */
const longestToken = 16_384;

/**
 * The provider tells that somebody has signed out there, or is disabled (OpenID Connect Back-Channel Logout 1.0,
 * docs/spec/extensions.md#k). The sessions end in one transaction with the logout tokens for the applications.
 */
@Injectable()
export class BackchannelLogout {
  private readonly logger = new Logger('identity-providers');
  private readonly refusals = new LogThrottle();

  constructor(
    private readonly providers: IdentityProviders,
    private readonly secrets: ProviderSecrets,
    private readonly connection: ProviderConnection,
    private readonly identities: ExternalIdentities,
    private readonly external: ExternalSessions,
    private readonly signIns: ExternalSignIns,
    private readonly sessions: UserSessions,
    private readonly cooldowns: Cooldowns,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns false for a token that is not genuine, or that was sent before
   * @throws DomainError LOGIN_503002 when the keys of the provider cannot be read: the provider may send the token again
   */
  async end(providerId: string, token: unknown, client: ClientInfo): Promise<boolean> {
    const claims = await this.verified(providerId, token);
    if (claims === undefined) return false;
    try {
      await this.once(providerId, claims, (tx) => this.endIn(tx, providerId, claims, client));
      return true;
    } catch (error) {
      if (!(error instanceof DomainError) || error.entry !== requestInvalid) throw error;
      this.refuse(providerId, 'replayed');
      return false;
    }
  }

  private async verified(providerId: string, token: unknown): Promise<LogoutClaims | undefined> {
    const provider = await this.providers.find(providerId);
    if (provider === null || typeof token !== 'string' || token.length > longestToken) return undefined;
    const { issuer, clientId } = provider;
    try {
      const asClient = { issuer, clientId, clientSecret: this.secrets.open(provider) };
      return await this.connection.verifyLogoutToken(asClient, token);
    } catch (error) {
      if (error instanceof ProviderAway) throw new DomainError(identityProviderUnavailable);
      if (!(error instanceof ProviderRefused)) throw error;
      this.refuse(providerId, error.reason);
      return undefined;
    }
  }

  /**
   * Race: one token that arrives twice, at any replica. The first transaction takes the gate row of its `jti` and ends the
   * sessions. The other one waits for the commit and is refused. When the first one fails, nothing is taken, and the provider
   * can send the token again.
   */
  private once(providerId: string, { jti, expires }: LogoutClaims, work: (tx: Transaction) => Promise<void>) {
    const seconds = Math.max(1, Math.ceil((expires.getTime() - this.clock.now().getTime()) / 1000)) + 60;
    const subject = sha256Hex(JSON.stringify([providerId, jti]));
    return this.cooldowns.once({ kind: 'idp-logout', subject, seconds, refusal: requestInvalid }, work);
  }

  /** A user who is unknown here has nothing to end, which is a success, as OpenID Connect Back-Channel Logout 1.0 wants. */
  private async endIn(tx: Transaction, providerId: string, { sub, sid }: LogoutClaims, client: ClientInfo) {
    const userId = await this.userOf(tx, providerId, sub, sid);
    if (userId === undefined) return;
    const ended = await this.sessions.endByOthers(tx, userId, async () => {
      await this.identities.signOut(tx, providerId, userId);
      return sid === undefined ? 'all' : this.external.toEnd(tx, providerId, userId, sid);
    });
    const detail = { identity_provider: providerId, ended };
    if (ended > 0) await this.audit.record(tx, 'EXTERNAL_LOGOUT', { userId, client, detail });
  }

  private async userOf(tx: Transaction, providerId: string, sub: string | undefined, sid = '') {
    if (sub !== undefined) return (await this.identities.find(providerId, sub, tx))?.userId;
    return (await this.external.userOf(tx, providerId, sid)) ?? this.signIns.userOf(tx, providerId, sid);
  }

  private refuse(identityProvider: string, reason: string): void {
    if (!this.refusals.allows(this.clock.now())) return;
    this.logger.warn({ identityProvider, reason }, 'a logout token was refused');
  }
}
