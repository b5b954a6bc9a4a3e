import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { PendingLogins } from './pending-login.repository';
import { KnownBrowsers } from './persistence/known-browser.repository';
import { LoginTokens } from './persistence/login-token.repository';
import { SessionRows } from './persistence/session-rows';
import { TrustedDeviceRows } from './persistence/trusted-device.repository';
import { SessionEnds } from './session-ends';
import { toldBrowsers, toldDevices, toldPendingLogins, toldSessions } from './told-tables';

/** What the tables of this module keep of a user who is deleted, and of a session whose rows are (docs/spec/extensions.md#d). */
@Injectable()
export class SessionTraces implements UserTrace {
  readonly tables = ['known_browsers', 'login_tokens', 'pending_logins', 'trusted_devices'];

  readonly told: readonly ToldTable[] = [toldSessions, toldDevices, toldPendingLogins, toldBrowsers];

  constructor(
    traces: UserTraces,
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly rows: SessionRows,
    private readonly devices: TrustedDeviceRows,
    private readonly browsers: KnownBrowsers,
    private readonly pendingLogins: PendingLogins,
    private readonly ends: SessionEnds,
  ) {
    traces.register(this);
  }

  /** The rows of tokens stay until they expire, so that their tokens are answered as revoked. */
  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.devices.removeAll(tx, uid);
    await this.pendingLogins.remove(tx, uid);
    await this.eraseWhatLoginsWrite(tx, uid);
  }

  settle(uid: string): Promise<void> {
    return this.eraseWhatLoginsWrite(this.database, uid);
  }

  /**
   * Call it before `purge` deletes these rows. A session keeps the time of its last use. Where the first row of a session is
   * among them (`jti` = `sid`), what belongs to that session goes as well.
   */
  async beforePurge(jtis: readonly string[]): Promise<void> {
    await this.rows.keepUses(jtis);
    await this.ends.forget(jtis);
  }

  private async eraseWhatLoginsWrite(sql: Sql, uid: string): Promise<void> {
    await this.browsers.removeAll(sql, uid);
    await this.tokens.forgetClients(sql, uid);
  }
}
