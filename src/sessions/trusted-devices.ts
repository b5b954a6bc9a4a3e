import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Random } from '../shared/random';
import { isUuid } from '../shared/uuid';
import { AuditTrail } from '../audit/audit-trail';
import { TrustedDeviceSettings } from './session-settings';
import { KeyRing } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';
import { type DeviceToken, newDeviceToken, parseDeviceToken, successorOf } from './persistence/device-token';
import type { TrustedDevice } from './persistence/trusted-device.entity';
import { type DeviceOwner, TrustedDeviceRows } from './persistence/trusted-device.repository';
import { SessionOpener, type TokenPair } from './session-opener';
import type { SignInOrigin } from './sign-in-origins';

export type { TrustedDevice } from './persistence/trusted-device.entity';
export type { DeviceOwner } from './persistence/trusted-device.repository';

export interface DeviceLogin {
  readonly tokens: TokenPair;
  /** Replaces the token that the client presented. */
  readonly deviceToken: string;
}

/** Browsers on which a login needs no code for `MFA_TRUSTED_DEVICE_DAYS` (docs/spec/extensions.md#trusted-devices). */
@Injectable()
export class TrustedDevices {
  private readonly logger = new Logger('tokens');

  constructor(
    private readonly database: Database,
    private readonly rows: TrustedDeviceRows,
    private readonly sessions: SessionOpener,
    private readonly secondFactor: SecondFactor,
    private readonly audit: AuditTrail,
    private readonly keys: KeyRing,
    private readonly random: Random,
    private readonly settings: TrustedDeviceSettings,
  ) {}

  /**
   * Trusts the browser whose code this transaction accepts. The transaction must hold the row of the user. Above 100
   * devices, the one that was not used for the longest time ends.
   * @returns the token, of which only the hash is stored; null when no device is trusted
   */
  async trust(tx: Transaction, user: User, client: ClientInfo): Promise<string | null> {
    if (!this.on) return null;
    const token = newDeviceToken(this.random);
    const id = this.random.uuid();
    await this.rows.insert(tx, id, user, token, client);
    await this.audit.record(tx, 'TRUSTED_DEVICE_ADDED', { userId: user.uid, client, detail: { device: id } });
    for (const device of await this.rows.endSurplus(tx, user)) {
      await this.audit.record(tx, 'TRUSTED_DEVICE_REMOVED', { userId: user.uid, client, detail: { device, by: id } });
    }
    return token.text;
  }

  /**
   * Opens a session by a token instead of a code. The password of the user must have been checked.
   * @returns undefined when the token is not one of a trusted device of this user: the login then needs a code
   */
  async logIn(user: User, text: string, client: ClientInfo, origin?: SignInOrigin): Promise<DeviceLogin | undefined> {
    const token = this.on ? parseDeviceToken(text) : undefined;
    if (token === undefined) return undefined;
    const found = await this.rows.find(user, token);
    if (found === null) return undefined;
    const login = await this.database.transaction((tx) => this.use(tx, user, found.id, token, { client, origin }));
    if (login !== 'reused') return login;
    this.logger.warn(
      { requestId: client.requestId, userId: user.uid, device: found.id },
      'a replaced token of a trusted device was used, the device has ended',
    );
    return undefined;
  }

  /** The devices on which a login needs no code now, the last used one first. */
  list(owner: DeviceOwner): Promise<TrustedDevice[]> {
    return this.rows.list(owner);
  }

  /** @returns false when this user has no such device */
  remove(owner: DeviceOwner, id: string, client: ClientInfo): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const ended = await this.rows.end(tx, owner, id);
      if (ended)
        await this.audit.record(tx, 'TRUSTED_DEVICE_REMOVED', { userId: owner.uid, client, detail: { device: id } });
      return ended;
    });
  }

  /**
   * Ends the trust in one device for an administrator, who writes the audit row. The transaction must hold the row of the user.
   * Races with a login by the device, and with other removals, on any replica. If the removal commits first, the login needs a
   * code. Of parallel removals, one gets true.
   */
  async removeFor(tx: Transaction, owner: DeviceOwner, id: string): Promise<boolean> {
    return isUuid(id) && (await this.rows.end(tx, owner, id));
  }

  /** Ends all devices of a user for an operator. @returns how many devices it has ended */
  revokeAll(userId: string): Promise<number> {
    return this.database.transaction(async (tx) => {
      await this.secondFactor.lock(tx, userId);
      const revoked = await this.rows.endAll(tx, userId);
      await this.audit.record(tx, 'TRUSTED_DEVICES_REVOKED', { userId, detail: { revoked } });
      return revoked;
    });
  }

  /**
   * Ends all devices of a user. The transaction must hold the row of the user.
   * @returns how many devices this call has ended
   */
  endAll(tx: Transaction, userId: string): Promise<number> {
    return this.rows.endAll(tx, userId);
  }

  /**
   * The successor is made from the token and a key of the service. Parallel requests with one token therefore get the
   * same successor, also from another replica, and it need not be stored.
   */
  private async use(
    tx: Transaction,
    user: User,
    id: string,
    token: DeviceToken,
    { client, origin }: { readonly client: ClientInfo; readonly origin: SignInOrigin | undefined },
  ): Promise<DeviceLogin | 'reused' | undefined> {
    const successors = this.keys.macs('trusted-device', token.text).map((mac) => successorOf(token, mac));
    const [next] = successors;
    const open = async ({ text }: DeviceToken): Promise<DeviceLogin> => ({
      tokens: await this.sessions.openIn(tx, user, client, 'device', origin),
      deviceToken: text,
    });
    if (await this.rows.replace(tx, user, id, token, next!, client)) return open(next!);
    const device = await this.rows.find(user, token, tx);
    if (device === null) return undefined;
    const current = successors.find(({ hash }) => hash === device.tokenHash);
    if (current !== undefined && (await this.rows.useReplaced(tx, user, id, token))) return open(current);
    if (!(await this.rows.end(tx, user, id))) return undefined;
    await this.audit.record(tx, 'TRUSTED_DEVICE_TOKEN_REUSED', { userId: user.uid, client, detail: { device: id } });
    return 'reused';
  }

  private get on(): boolean {
    return this.settings.trustedDeviceDays > 0;
  }
}
