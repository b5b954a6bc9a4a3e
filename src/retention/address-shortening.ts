import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LogAddressSettings } from '../audit/log-settings';
import { logAddresses } from '../audit/log-tables';
import { enrolmentAddresses } from '../mfa/mfa-traces';
import { Database } from '../platform/database/database';
import type { OldAddresses } from '../platform/database/old-addresses';
import { day } from '../platform/database/old-rows';
import { type SqlValue, timeOf } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';
import { shortenedAddress } from '../shared/client-network';
import { Clock } from '../shared/clock';
import { JwtSettings } from '../sessions/jwt-settings';
import { deviceAddresses, sessionAddresses } from '../sessions/old-rows';
import { LockSettings } from '../users/account-settings';
import { ShortenedMarks } from './persistence/shortened-addresses.repository';

/** The most rows of one UPDATE, which takes some milliseconds. Other statements run between two batches. */
const batchRows = 500;
const pauseMs = 20;
const beforeEverything = new Date('1970-01-02T00:00:00Z');

interface Found {
  readonly id: string | number;
  readonly ip: string;
  readonly place: unknown;
}

/**
 * Shortens the addresses that are older than `LOG_IP_DAYS` (docs/spec/extensions.md#log-ip-days, ADR 0039). Each batch commits alone,
 * so a run may be stopped at any time, and the next one goes on.
 */
@Injectable()
export class AddressShortening {
  private readonly rules: readonly OldAddresses[];

  constructor(
    private readonly database: Database,
    private readonly marks: ShortenedMarks,
    private readonly clock: Clock,
    private readonly settings: LogAddressSettings,
    private readonly lock: LockSettings,
    { refreshTtlSeconds }: JwtSettings,
  ) {
    this.rules = [...logAddresses, sessionAddresses(refreshTtlSeconds), deviceAddresses, enrolmentAddresses];
  }

  /** @returns how many addresses this call has shortened; undefined with `LOG_IP_DAYS=0` */
  async shorten(): Promise<number | undefined> {
    const { days } = this.settings;
    if (days === 0) return undefined;
    // Whoever looks into an attack that has locked an account needs the addresses for as long as the lock lasts.
    const until = this.clock.secondsFromNow(-Math.max(days * day, this.lock.windowSeconds));
    let shortened = 0;
    for (const rule of this.rules) shortened += await this.shortenIn(rule, until);
    return shortened;
  }

  private async shortenIn(rule: OldAddresses, until: Date): Promise<number> {
    const { table, by } = rule;
    let from: readonly SqlValue[] = by.kind === 'key' ? [''] : [beforeEverything, ''];
    const mark = by.kind === 'marked' ? await this.marks.of(table) : undefined;
    if (mark !== undefined) from = [mark, 0];
    for (let shortened = 0; ;) {
      const rows = await this.next(rule, until, from);
      shortened += await this.write(rule, rows);
      const last = rows.at(-1);
      const isLast = last === undefined || rows.length < batchRows;
      if (by.kind === 'marked') await this.marks.advance(table, isLast ? until : timeOf(last.place));
      if (isLast) return shortened;
      from = by.kind === 'key' ? [last.id] : [timeOf(last.place), last.id];
      await pause(pauseMs);
    }
  }

  /** Reads by the primary key, or by the index of a time, which ends with the key. */
  private next(rule: OldAddresses, until: Date, from: readonly SqlValue[]): Promise<Found[]> {
    const { table, key, seen, by } = rule;
    const old = `${seen} < ? AND ip IS NOT NULL`;
    if (by.kind === 'key') {
      return this.database.rows<Found>(
        `SELECT ${key} AS id, ip, ${key} AS place FROM ${table} WHERE ${key} > ? AND ${old} ORDER BY ${key} LIMIT ${batchRows}`,
        [...from, until],
      );
    }
    const column = by.kind === 'expiry' ? by.column : seen;
    const end = by.kind === 'expiry' ? new Date(until.getTime() + by.lifetimeSeconds * 1000) : until;
    const [at = null, id = null] = from;
    return this.database.rows<Found>(
      `SELECT ${key} AS id, ip, ${column} AS place FROM ${table}
       WHERE ${column} >= ? AND (${column} > ? OR ${key} > ?) AND ${column} < ? AND ${old}
       ORDER BY ${column}, ${key} LIMIT ${batchRows}`,
      [at, at, id, end, until],
    );
  }

  /**
   * One statement by the primary key.
   * Race: `purge` that deletes the rows, and a device that is used meanwhile. A row that is gone or has another address by then is
   * not changed.
   */
  private async write({ table, key }: OldAddresses, rows: readonly Found[]): Promise<number> {
    const long = rows.filter(({ ip }) => shortenedAddress(ip) !== ip);
    if (long.length === 0) return 0;
    const filled = filledUp(long);
    const places = filled.map(() => '?').join(', ');
    const cases = filled.map(() => 'WHEN ? THEN ?').join(' ');
    return this.database.affected(
      `UPDATE ${table} SET ip = CASE ip ${cases} ELSE ip END WHERE ${key} IN (${places}) AND ip IN (${places})`,
      [
        ...filled.flatMap(({ ip }) => [ip, shortenedAddress(ip)]),
        ...filled.map(({ id }) => id),
        ...filled.map(({ ip }) => ip),
      ],
    );
  }
}
