import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, MoreThanOrEqual, type Repository } from 'typeorm';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { isUuid } from '../../shared/uuid';
import { TrustedDeviceSettings } from '../session-settings';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import type { User } from '../../users/user.entity';
import type { DeviceToken } from './device-token';
import { TrustedDevice } from './trusted-device.entity';

/** Seconds for which the replaced token still works: an answer can get lost, and a browser has several tabs. */
const graceSeconds = 10;

/** More browsers than anybody uses. Without a maximum, a script that trusts a device at each login fills the table. */
const maxDevices = 100;

/** The user to whom a device belongs, and the credential version under which the device is trusted. */
export type DeviceOwner = Pick<User, 'uid' | 'credentialVersion'>;

const lastUsedFirst = { lastUsedAt: 'DESC', id: 'ASC' } as const;

/**
 * The table `trusted_devices` and its guarded writes. A device that has ended keeps its row until `purge`. Every write
 * except the first finds its row by the primary key or by the user, and changes no indexed column, so that two of them
 * never deadlock.
 */
@Injectable()
export class TrustedDeviceRows {
  private readonly rows: EntityRows<TrustedDevice>;

  constructor(
    @InjectRepository(TrustedDevice) rows: Repository<TrustedDevice>,
    database: Database,
    private readonly clock: Clock,
    private readonly settings: TrustedDeviceSettings,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  async insert(tx: Transaction, id: string, owner: DeviceOwner, token: DeviceToken, client: ClientInfo): Promise<void> {
    const [now, expires] = [this.clock.now(), this.clock.secondsFromNow(this.seconds)];
    await this.rows.insert(tx, {
      ...{ id, userId: owner.uid, credentialVersion: owner.credentialVersion },
      ...{ seriesHash: token.seriesHash, tokenHash: token.hash, ip: client.ip, userAgent: client.userAgent },
      ...{ createdAt: now, lastUsedAt: now, expires },
    });
  }

  /** Finds the device of a token, also when the token was replaced long ago. */
  find(owner: DeviceOwner, { seriesHash }: DeviceToken, sql?: Sql): Promise<TrustedDevice | null> {
    return this.rows.findOne({ seriesHash, ...this.live(owner) }, sql);
  }

  /**
   * Uses the current token and replaces it.
   * Race: parallel logins with one token, on any replica. The first UPDATE replaces the token and wins. The others match
   * no row and use the token as the replaced one. A password change, a new second factor or a removal that commits first
   * wins as well: the login then needs a code.
   */
  replace(tx: Transaction, owner: DeviceOwner, id: string, used: DeviceToken, next: DeviceToken, client: ClientInfo) {
    const now = this.clock.now();
    return this.rows.won(
      tx,
      { id, tokenHash: used.hash, ...this.live(owner) },
      {
        ...{ tokenHash: next.hash, previousHash: used.hash, replacedAt: now },
        ...{ lastUsedAt: now, ip: client.ip, userAgent: client.userAgent },
      },
    );
  }

  /** Uses the replaced token within its grace. Races like `replace`, and with the use of the token that replaced it. */
  useReplaced(tx: Transaction, owner: DeviceOwner, id: string, used: DeviceToken): Promise<boolean> {
    const replacedAt = MoreThanOrEqual(this.clock.secondsFromNow(-graceSeconds));
    const replaced = { id, previousHash: used.hash, replacedAt, ...this.live(owner) };
    return this.rows.won(tx, replaced, { lastUsedAt: this.clock.now() });
  }

  /** Of parallel calls, one ends the device. */
  end(sql: Sql, owner: DeviceOwner, id: string): Promise<boolean> {
    if (!isUuid(id)) return Promise.resolve(false);
    return this.rows.won(sql, { id, ...this.live(owner) }, { endedAt: this.clock.now() });
  }

  /** The transaction must hold the row of the user, so that no accepted code adds a device meanwhile. */
  endAll(tx: Transaction, userId: string): Promise<number> {
    return this.rows.update(tx, { userId, endedAt: IsNull() }, { endedAt: this.clock.now() });
  }

  /**
   * Ends the devices above the maximum, the longest unused ones. The transaction must hold the row of the user.
   * @returns their ids
   */
  async endSurplus(tx: Transaction, owner: DeviceOwner): Promise<string[]> {
    const devices = await this.rows.find(this.live(owner), { order: lastUsedFirst, limit: maxDevices + 1000 }, tx);
    const surplus = devices.slice(maxDevices).map(({ id }) => id);
    for (const id of surplus) await this.end(tx, owner, id);
    return surplus;
  }

  /** The trusted devices, the last used one first. */
  list(owner: DeviceOwner): Promise<TrustedDevice[]> {
    return this.rows.find(this.live(owner), { order: lastUsedFirst, limit: maxDevices });
  }

  async removeAll(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }

  /**
   * Matches the devices of this user that are still trusted. The credential version ends them with a password change, a
   * disabling and `revoke-tokens` (ADR 0005). A lower `MFA_TRUSTED_DEVICE_DAYS` also applies to older devices.
   */
  private live({ uid, credentialVersion }: DeviceOwner) {
    const createdAt = MoreThan(this.clock.secondsFromNow(-this.seconds));
    return { userId: uid, credentialVersion, endedAt: IsNull(), expires: MoreThan(this.clock.now()), createdAt };
  }

  private get seconds(): number {
    return this.settings.trustedDeviceDays * 86_400;
  }
}
