import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import type { VersionedUser } from '../users/user-locks';
import { UsersRepository } from '../users/users.repository';
import type { CurrentSession } from './current-session';
import { PendingLogins } from './pending-login.repository';
import { LoginTokens } from './persistence/login-token.repository';
import { TrustedDeviceRows } from './persistence/trusted-device.repository';

/**
 * Ends one session (logout), or all sessions of a user (password change, disabling, operator;
 * docs/spec/service.md#3.3).
 */
@Injectable()
export class TokenRevoker {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly pendingLogins: PendingLogins,
    private readonly devices: TrustedDeviceRows,
    private readonly users: UsersRepository,
    private readonly audit: AuditTrail,
  ) {}

  /** Ends the session of the presented token. Other sessions of the user stay valid. */
  revokeSession({ payload }: CurrentSession, client: ClientInfo): Promise<void> {
    return this.endSession(payload.sub, payload.sid, client);
  }

  /**
   * Also for a session that its user ended somewhere else: at an application (docs/spec/extensions.md#j).
   * Race: several log-outs of one session, on any replica. The first one ends it and writes the audit row. The others succeed,
   * because the session has ended, and write none.
   */
  async endSession(userId: string, sid: string, client: ClientInfo): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (await this.tokens.revokeSession(tx, sid))
        await this.audit.record(tx, 'SESSION_CLOSED', { userId, client, detail: { sid } });
    });
  }

  /**
   * Ends all sessions, pending logins, trusted devices and password change requests of the user.
   * Races with parallel logins and refreshes, on any replica. The tokens that they insert have the former credential
   * version and are invalid.
   * @returns the number of tokens that this call marked as revoked
   */
  async revokeAll(tx: Transaction, userId: string): Promise<number> {
    await this.users.endEverythingIssued(tx, userId);
    return this.markRevoked(tx, userId);
  }

  /** `revokeAll` for an off-boarding. @returns what it has ended, for the receipt */
  async leave(tx: Transaction, { uid, credentialVersion }: VersionedUser): Promise<Readonly<Record<string, number>>> {
    const sessions = await this.tokens.countLive(uid, credentialVersion, tx);
    await this.users.endEverythingIssued(tx, uid);
    const pending_logins = await this.pendingLogins.close(tx, uid);
    const trusted_devices = await this.devices.endAll(tx, uid);
    await this.tokens.markRevoked(tx, uid);
    return { sessions, trusted_devices, pending_logins };
  }

  /** For another channel of the second factor. The transaction must hold the row of the user. */
  async endTrustedDevices(tx: Transaction, userId: string): Promise<void> {
    await this.devices.endAll(tx, userId);
  }

  /**
   * Only marks the rows. The transaction must already have increased the credential version, by setting a
   * password or by UserSelection.
   * Every change of a password calls this method: what else a new password ends belongs here.
   */
  async markRevoked(tx: Transaction, userId: string): Promise<number> {
    await this.pendingLogins.close(tx, userId);
    await this.devices.endAll(tx, userId);
    return this.tokens.markRevoked(tx, userId);
  }
}
