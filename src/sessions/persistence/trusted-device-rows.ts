import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { isUuid } from '../../shared/uuid';
import { AppConfig } from '../../platform/config/app-config';
import { Database, type Transaction } from '../../platform/database/database';
import { type Sql, type SqlValue, timeOf, timeOrNull } from '../../platform/database/sql';
import type { User } from '../../users/user.entity';
import type { DeviceToken } from '../devices/device-token';

/** Seconds for which the replaced token still works: an answer can get lost, and a browser has several tabs. */
export const graceSeconds = 10;

/** More browsers than anybody uses. Without a maximum, a script that trusts a device at each login fills the table. */
export const maxDevices = 100;

/** The user to whom a device belongs, and the credential version under which the device is trusted. */
export type DeviceOwner = Pick<User, 'uid' | 'credentialVersion'>;

export interface TrustedDevice {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly ip: string;
  readonly userAgent: string;
}

export interface DeviceTokens {
  readonly id: string;
  readonly tokenHash: string;
  readonly previousHash: string | null;
  readonly replacedAt: Date | null;
}

type Row = Record<'id' | 'ip' | 'user_agent' | 'token_hash', string> &
  Record<'created_at' | 'last_used_at' | 'replaced_at', unknown> & { readonly previous_hash: string | null };

/**
 * Matches the devices of this user that are still trusted. The credential version ends them with a password change, a
 * disabling and `revoke-tokens` (ADR 0005). A lower `MFA_TRUSTED_DEVICE_DAYS` also applies to older devices.
 */
const live = 'user_id = ? AND credential_version = ? AND ended_at IS NULL AND expires > ? AND created_at > ?';

/**
 * The table `trusted_devices` and its guarded writes. A device that has ended keeps its row until `purge`. Every write
 * except the first finds its row by the primary key or by the user, and changes no indexed column, so that two of them
 * never deadlock.
 */
@Injectable()
export class TrustedDeviceRows {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  async insert(tx: Transaction, id: string, owner: DeviceOwner, token: DeviceToken, client: ClientInfo): Promise<void> {
    const now = this.clock.now();
    const expires = this.clock.secondsFromNow(this.seconds);
    await tx.affected(
      `INSERT INTO trusted_devices (id, user_id, series_hash, token_hash, credential_version, ip, user_agent,
       last_used_at, expires, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[id, owner.uid, token.seriesHash, token.hash, owner.credentialVersion, client.ip, client.userAgent],
        ...[now, expires, now],
      ],
    );
  }

  /** Finds the device of a token, also when the token was replaced long ago. */
  async find(sql: Sql, owner: DeviceOwner, { seriesHash }: DeviceToken): Promise<DeviceTokens | undefined> {
    const row = await sql.row<Row>(
      `SELECT id, token_hash, previous_hash, replaced_at FROM trusted_devices WHERE series_hash = ? AND ${live}`,
      [seriesHash, ...this.liveFor(owner)],
    );
    if (row === undefined) return undefined;
    const { id, token_hash: tokenHash, previous_hash: previousHash } = row;
    return { id, tokenHash, previousHash, replacedAt: timeOrNull(row.replaced_at) };
  }

  /**
   * Uses the current token and replaces it.
   * Race: parallel logins with one token, on any replica. The first UPDATE replaces the token and wins. The others match
   * no row and use the token as the replaced one. A password change, a new second factor or a removal that commits first
   * wins as well: the login then needs a code.
   */
  replace(tx: Transaction, owner: DeviceOwner, id: string, used: DeviceToken, next: DeviceToken, client: ClientInfo) {
    const now = this.clock.now();
    return tx.won(
      `UPDATE trusted_devices SET token_hash = ?, previous_hash = ?, replaced_at = ?, last_used_at = ?, ip = ?,
       user_agent = ? WHERE id = ? AND token_hash = ? AND ${live}`,
      [...[next.hash, used.hash, now, now, client.ip, client.userAgent], ...[id, used.hash, ...this.liveFor(owner)]],
    );
  }

  /** Uses the replaced token within its grace. Races like `replace`, and with the use of the token that replaced it. */
  useReplaced(tx: Transaction, owner: DeviceOwner, id: string, used: DeviceToken): Promise<boolean> {
    return tx.won(
      `UPDATE trusted_devices SET last_used_at = ? WHERE id = ? AND previous_hash = ? AND replaced_at >= ? AND ${live}`,
      [this.clock.now(), id, used.hash, this.clock.secondsFromNow(-graceSeconds), ...this.liveFor(owner)],
    );
  }

  /** Of parallel calls, one ends the device. */
  end(sql: Sql, owner: DeviceOwner, id: string): Promise<boolean> {
    if (!isUuid(id)) return Promise.resolve(false);
    return sql.won(`UPDATE trusted_devices SET ended_at = ? WHERE id = ? AND ${live}`, [
      this.clock.now(),
      id,
      ...this.liveFor(owner),
    ]);
  }

  /** The transaction must hold the row of the user, so that no accepted code adds a device meanwhile. */
  endAll(tx: Transaction, userId: string): Promise<number> {
    return tx.affected('UPDATE trusted_devices SET ended_at = ? WHERE user_id = ? AND ended_at IS NULL', [
      this.clock.now(),
      userId,
    ]);
  }

  /**
   * Ends the devices above the maximum, the longest unused ones. The transaction must hold the row of the user.
   * @returns their ids
   */
  async endSurplus(tx: Transaction, owner: DeviceOwner): Promise<string[]> {
    const surplus = await tx.rows<{ id: string }>(
      `SELECT id FROM trusted_devices WHERE ${live} ORDER BY last_used_at DESC, id LIMIT 1000 OFFSET ${maxDevices}`,
      this.liveFor(owner),
    );
    for (const { id } of surplus) await this.end(tx, owner, id);
    return surplus.map(({ id }) => id);
  }

  /** The trusted devices, the last used one first. */
  async list(owner: DeviceOwner): Promise<TrustedDevice[]> {
    const rows = await this.database.rows<Row>(
      `SELECT id, created_at, last_used_at, ip, user_agent FROM trusted_devices WHERE ${live}
       ORDER BY last_used_at DESC, id LIMIT ${maxDevices}`,
      this.liveFor(owner),
    );
    return rows.map(({ id, created_at, last_used_at, ip, user_agent: userAgent }) => ({
      ...{ id, ip, userAgent },
      createdAt: timeOf(created_at),
      lastUsedAt: timeOf(last_used_at),
    }));
  }

  private liveFor({ uid, credentialVersion }: DeviceOwner): SqlValue[] {
    return [uid, credentialVersion, this.clock.now(), this.clock.secondsFromNow(-this.seconds)];
  }

  private get seconds(): number {
    return this.config.mfa.trustedDeviceDays * 86_400;
  }
}
