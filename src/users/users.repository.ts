import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import { isUuid } from '../shared/uuid';
import { AppConfig } from '../platform/config/app-config';
import { Database } from '../platform/database/database';
import { type Sql, timeOrNull } from '../platform/database/sql';
import { saltOf } from '../hashing/bcrypt-format';
import { User, userStatus } from './user.entity';

/** The lock of §3.1 as a condition; COALESCE, because a count without a time would otherwise be locked for ever. */
export const notLocked = 'NOT (login_failed_count >= ? AND COALESCE(last_login_failed_time > ?, FALSE))';

/** The rule of LOGIN_401008 as a condition; its first parameter is `ACCOUNT_DORMANT_DAYS`, where 0 means never. */
const notDormant = '(? = 0 OR COALESCE(last_login_success_time, created_at) >= ?)';

const newestPasswordChange =
  '(SELECT l.created_at FROM user_change_pwd_logs l WHERE l.user_id = users.uid ORDER BY l.id DESC LIMIT 1)';

/** Rows of `users`: look-ups by the normalised names, and the guarded writes that login is decided by. */
@Injectable()
export class UsersRepository {
  private selection: string | undefined;

  constructor(
    @InjectRepository(User) private readonly rows: Repository<User>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  findByLoginName(typed: string): Promise<User | null> {
    const key = identityKey(typed);
    return key === '' || key.length > 255 ? Promise.resolve(null) : this.findBy('login_name_key', key);
  }

  findByUid(uid: string): Promise<User | null> {
    return isUuid(uid) ? this.findBy('uid', uid) : Promise.resolve(null);
  }

  findByEmail(typed: string): Promise<User | null> {
    const key = identityKey(typed);
    return key === '' || key.length > 255 ? Promise.resolve(null) : this.findBy('email_key', key);
  }

  /**
   * Racers: parallel wrong guesses, on any replica. The database counts them one after the other, and only while the
   * account is open: exactly `MAX_LOCK_COUNT` of them are counted, whatever the parallelism.
   * @returns false when the account was locked by then: the guess must be answered LOGIN_401004, right or wrong.
   */
  recordLoginFailure(uid: string): Promise<boolean> {
    return this.database.won(
      `UPDATE users SET login_failed_count = login_failed_count + 1, last_login_failed_time = ? WHERE uid = ? AND ${notLocked}`,
      [this.clock.now(), uid, ...this.lockBounds()],
    );
  }

  /**
   * Racers: a right guess among wrong ones, a disabling, a password change. The success is recorded only on an account
   * that is enabled, not dormant, not locked, and has the password that was compared; otherwise the login has lost.
   * Status is never written here: the known defect of §3.1 is not reproduced.
   */
  recordLoginSuccess(user: User): Promise<boolean> {
    return this.database.won(
      `UPDATE users SET login_failed_count = 0, last_login_success_time = ?
       WHERE uid = ? AND status = ${userStatus.enabled} AND credential_version = ? AND ${notLocked} AND ${notDormant}`,
      [this.clock.now(), user.uid, user.credentialVersion, ...this.lockBounds(), ...this.dormancyBounds()],
    );
  }

  /**
   * A new password: hash, salt, counters and version in one statement of the caller's unit. From its commit on,
   * everything issued under the former password is dead; `status` stays what it was. Racers: an operator, and a reset by
   * link, which gives the version it was issued under and loses (false) when that has moved.
   */
  setPassword(
    sql: Sql,
    uid: string,
    hash: string,
    options: { readonly temporary: boolean; readonly issuedUnder?: number },
  ): Promise<boolean> {
    return sql.won(
      `UPDATE users SET password = ?, salt = ?, must_change_password = ?, login_failed_count = 0,
       last_login_failed_time = NULL, credential_version = credential_version + 1
       WHERE uid = ? AND provider = 'password' AND credential_version = COALESCE(?, credential_version)`,
      [hash, saltOf(hash), options.temporary, uid, options.issuedUnder ?? null],
    );
  }

  /** The version that is in force at this statement; undefined when there is no such user. */
  async credentialVersion(sql: Sql, uid: string): Promise<number | undefined> {
    const row = await sql.row<{ version: number }>('SELECT credential_version AS version FROM users WHERE uid = ?', [
      uid,
    ]);
    return row?.version;
  }

  /** The same password under a new cost: nothing issued before it dies. Racers: a password change wins, this loses. */
  renewHash(user: User, hash: string): Promise<boolean> {
    return this.database.won(
      'UPDATE users SET password = ?, salt = ? WHERE uid = ? AND password = ? AND credential_version = ?',
      [hash, saltOf(hash), user.uid, user.password, user.credentialVersion],
    );
  }

  /** Ends every token, pending login and change request of the user from this commit on. */
  endEverythingIssued(sql: Sql, uid: string): Promise<boolean> {
    return sql.won('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [uid]);
  }

  /**
   * In every login, and so one prepared statement: TypeORM's finder builds its text anew at each call. The columns and
   * their conversion are TypeORM's, which knows them once it has been connected.
   */
  private async findBy(key: 'uid' | 'login_name_key' | 'email_key', value: string): Promise<User | null> {
    const { metadata, manager } = this.rows;
    this.selection ??= metadata.columns.map(({ databaseName }) => databaseName).join(', ');
    const row = await this.database.row<Record<string, unknown>>(
      `SELECT ${this.selection}, ${newestPasswordChange} AS password_set_at FROM users WHERE ${key} = ?`,
      [value],
    );
    if (row === undefined) return null;
    const user = this.rows.create();
    for (const column of metadata.columns) {
      column.setEntityValue(user, manager.dataSource.driver.prepareHydratedValue(row[column.databaseName], column));
    }
    user.passwordSetAt = timeOrNull(row.password_set_at);
    return user;
  }

  private lockBounds(): [number, Date] {
    return [this.config.lock.maxCount, this.clock.secondsFromNow(-this.config.lock.windowSeconds)];
  }

  private dormancyBounds(): [number, Date] {
    const { dormantDays } = this.config.lock;
    return [dormantDays, this.clock.secondsFromNow(-dormantDays * 86_400)];
  }
}
