import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { PendingLogins } from './pending-login.repository';
import { KnownBrowsers } from './persistence/known-browser.repository';
import { LoginTokens } from './persistence/login-token.repository';
import { SessionRows } from './persistence/session-rows';
import { TrustedDeviceRows } from './persistence/trusted-device.repository';

/** What the tables of this module keep of a user who is deleted, and of a session whose rows are (docs/spec/extensions.md#d). */
@Injectable()
export class SessionTraces {
  constructor(
    private readonly tokens: LoginTokens,
    private readonly rows: SessionRows,
    private readonly devices: TrustedDeviceRows,
    private readonly browsers: KnownBrowsers,
    private readonly pendingLogins: PendingLogins,
  ) {}

  /**
   * Erases what identifies the user, in the transaction of the deletion. The rows of tokens stay until they expire, so that
   * their tokens are answered as revoked.
   */
  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.devices.removeAll(tx, uid);
    await this.pendingLogins.remove(tx, uid);
    await this.settle(tx, uid);
  }

  /** Erases what a login has written that was under way when its user was deleted. */
  async settle(sql: Sql, uid: string): Promise<void> {
    await this.browsers.removeAll(sql, uid);
    await this.tokens.forgetClients(sql, uid);
  }

  /** Call it before `purge` deletes these rows: a session keeps the time of its last use. */
  keepUses(jtis: readonly string[]): Promise<void> {
    return this.rows.keepUses(jtis);
  }
}
