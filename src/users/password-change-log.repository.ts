import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { ChangeType } from '../shared/change-type';
import { Clock } from '../shared/clock';
import type { Language } from '../shared/languages';
import { PasswordSettings } from './password-settings';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { PasswordChangeLog } from './persistence/password-change-log.entity';
import type { User } from './user.entity';

type PasswordAge = Pick<User, 'provider' | 'passwordSetAt' | 'createdAt'>;

/** The table `user_change_pwd_logs`: how old the current password is, and which ones may not be used again. */
@Injectable()
export class PasswordHistory {
  private readonly rows: EntityRows<PasswordChangeLog>;

  constructor(
    @InjectRepository(PasswordChangeLog) rows: Repository<PasswordChangeLog>,
    database: Database,
    private readonly clock: Clock,
    private readonly settings: PasswordSettings,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * A password expires `PASSWORD_EXPIRE_DAYS` after the newest entry or, without an entry, after the creation of the
   * account.
   */
  isExpired(user: PasswordAge): boolean {
    const expiresAt = this.expiresAt(user);
    return expiresAt !== null && expiresAt < this.clock.now();
  }

  /** Returns null when passwords do not expire. The directory decides about the passwords of its users. */
  expiresAt({ provider, passwordSetAt, createdAt }: PasswordAge): Date | null {
    const { expireDays } = this.settings;
    if (expireDays === 0 || provider !== 'password') return null;
    return new Date((passwordSetAt ?? createdAt).getTime() + expireDays * 86_400_000);
  }

  /**
   * Returns the hashes that a new password is compared with, the newest first: the last `PASSWORD_HISTORY` entries, and
   * the current hash when it is not among them. An imported hash, and one that was renewed under another cost, is not.
   */
  async lastHashes(user: User): Promise<string[]> {
    const { history } = this.settings;
    if (history === 0) return [];
    const newest = await this.rows.find({ userId: user.uid }, { order: { id: 'DESC' }, limit: history });
    const hashes = newest.map((row) => row.password);
    if (user.password !== null && !hashes.includes(user.password)) hashes.unshift(user.password);
    return hashes;
  }

  /** @param choice.language the language of the browser in which the password was chosen; the warning of its expiry uses it */
  async append(
    sql: Sql,
    userId: string,
    type: ChangeType,
    hash: string,
    { language, setAt = this.clock.now() }: { language?: Language; setAt?: Date } = {},
  ): Promise<void> {
    await sql.affected(
      'INSERT INTO user_change_pwd_logs (user_id, type, password, language, created_at) VALUES (?, ?, ?, ?, ?)',
      [userId, type, hash, language ?? null, setAt],
    );
  }

  /** The user has no password here any more, so nothing is kept of the former ones. */
  async removeAll(tx: Transaction, userId: string): Promise<void> {
    await this.rows.remove(tx, { userId });
  }
}
