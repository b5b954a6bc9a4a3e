import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { saltOf } from '../hashing/bcrypt-format';
import { LockSettings } from './account-settings';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql, SqlValue } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import type { Language } from '../shared/languages';
import { isUserId } from '../shared/user-id';
import { OwnFactors } from './own-factors';
import { selectSigningIn, selectUserBy, type UserKey, type UserRow, userOf } from './persistence/user-row';
import type { WithinTenant } from './tenant.repository';
import { addressProven, User, userStatus } from './user.entity';
import { UserLocks, type VersionedUser } from './user-locks';

/**
 * The account is not locked (docs/spec/service.md#3.1). COALESCE is needed for a count without a time: the comparison
 * with NULL would otherwise lock the account forever.
 */
export const notLocked = 'NOT (login_failed_count >= ? AND COALESCE(last_login_failed_time > ?, FALSE))';

/** The account is not dormant (LOGIN_401008, `dormancyBounds`). */
export const notDormant = '(? = 0 OR COALESCE(last_login_success_time, created_at) >= ? OR enabled_at >= ?)';

/** The parameters of `notDormant`: `ACCOUNT_DORMANT_DAYS`, of which 0 turns the rule off, and the earliest time that counts. */
export function dormancyBounds({ dormantDays }: LockSettings, clock: Clock): [days: number, Date, Date] {
  const earliest = clock.secondsFromNow(-dormantDays * 86_400);
  return [dormantDays, earliest, earliest];
}

/** What a reset link needs to know. */
export interface ResetState {
  readonly credentialVersion: number;
  readonly email: string | null;
  readonly hasPasskeys: boolean;
}

export type PasswordOwner = Pick<User, 'credentialVersion' | 'loginName'>;

/** The table `users`: look-ups by the normalised names, and the guarded writes that decide a login. */
@Injectable()
export class UsersRepository {
  private readonly rows: EntityRows<User>;

  constructor(
    @InjectRepository(User) rows: Repository<User>,
    private readonly database: Database,
    private readonly locks: UserLocks,
    private readonly factors: OwnFactors,
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  findByLoginName(typed: string): Promise<User | null> {
    const key = identityKey(typed);
    return key === '' || key.length > 255 ? Promise.resolve(null) : this.findBy('login_name_key', key);
  }

  /** Finds the user whom somebody names to sign in with: a login name, or the address of a local user. The name wins. */
  async findSigningIn(typed: string): Promise<User | null> {
    const key = identityKey(typed);
    if (key === '' || key.length > 255) return null;
    const row = await this.database.row<UserRow>(selectSigningIn, [key, key]);
    return row === undefined ? null : userOf(row);
  }

  findByUid(uid: string): Promise<User | null> {
    return isUserId(uid) ? this.findBy('uid', uid) : Promise.resolve(null);
  }

  /** Finds a user who is not deleted. @param sql a transaction to read in */
  findWithin({ tenantId }: WithinTenant, uid: string, sql?: Sql): Promise<User | null> {
    return this.findExisting(uid, tenantId === undefined ? {} : { tenant_id: tenantId }, sql);
  }

  /** Finds the user while enabled, and under this credential version. @param sql a transaction to read in */
  findUnchanged({ uid, credentialVersion }: VersionedUser, sql?: Sql): Promise<User | null> {
    return this.findExisting(uid, { status: userStatus.enabled, credential_version: credentialVersion }, sql);
  }

  /**
   * Locks the row of an enabled user until the transaction ends, and reads it again.
   * Races with a new address, a deletion, a disabling and a password change. If one of them commits first, the caller
   * gets the new address, or null when the user is no longer enabled under the credential version that was read. If it
   * comes later, it waits for the transaction and ends what was mailed.
   */
  async hold(tx: Transaction, user: VersionedUser): Promise<User | null> {
    await this.locks.holdUnchanged(tx, user);
    return this.findUnchanged(user, tx);
  }

  findByEmail(typed: string): Promise<User | null> {
    const key = identityKey(typed);
    return key === '' || key.length > 255 ? Promise.resolve(null) : this.findBy('email_key', key);
  }

  /** Finds the directory user that is bound to the entry with this id. */
  findByDirectoryId(id: string): Promise<User | null> {
    return this.findBy('directory_id', id);
  }

  /**
   * Finds the user whom another system calls so, among those of one identity provider.
   * @returns undefined when nobody has this id, and when several have it
   */
  async findByExternalId(identityProviderId: string, externalId: string): Promise<User | undefined> {
    const rows = await this.rows.find({ provider: 'oidc', identityProviderId, externalId, deletedAt: IsNull() });
    // MySQL ignores spaces at the end of a text that it compares.
    const exact = rows.filter((row) => row.externalId === externalId && row.identityProviderId === identityProviderId);
    const [only] = exact;
    return exact.length === 1 && only !== undefined ? ((await this.findByUid(only.uid)) ?? undefined) : undefined;
  }

  /**
   * Race: parallel wrong guesses, on any replica. While the account is not locked, the database counts them one after
   * the other, so exactly `MAX_LOCK_COUNT` guesses are counted. The UPDATEs of the others match no row.
   * @returns false when the account is locked by now: the answer is LOGIN_401004, whether the guess was correct or not
   */
  recordLoginFailure(uid: string): Promise<boolean> {
    return this.database.won(
      `UPDATE users SET login_failed_count = login_failed_count + 1, last_login_failed_time = ? WHERE uid = ? AND ${notLocked}`,
      [this.clock.now(), uid, ...this.lockBounds()],
    );
  }

  /**
   * Races with wrong guesses that lock the account, a disabling and a password change. The success is recorded only
   * while the account is enabled, not dormant, not locked, and has the password that was compared. Otherwise this
   * returns false and the login is refused. The status is never written here, unlike in the known defect of
   * docs/spec/service.md#3.1.
   * The lock protects a password that is kept here or in a directory. Wrong ones do not keep out a user of an identity
   * provider, who has none.
   * @param language the language of the request; undefined leaves the one of the account
   */
  recordLoginSuccess(user: User, language?: Language): Promise<boolean> {
    return this.database.won(
      `UPDATE users SET login_failed_count = 0, last_login_success_time = ?, language = COALESCE(?, language)
       WHERE uid = ? AND status = ${userStatus.enabled} AND credential_version = ?
         AND (provider = 'oidc' OR ${notLocked}) AND ${notDormant}`,
      [
        ...[this.clock.now(), language ?? null, user.uid, user.credentialVersion],
        ...[...this.lockBounds(), ...dormancyBounds(this.settings, this.clock)],
      ],
    );
  }

  /**
   * Races like `recordLoginSuccess`, for a user who is signed in and has typed the right password again. It is no login,
   * so the time of the last one does not change.
   */
  recordPasswordConfirmed(user: User): Promise<boolean> {
    return this.database.won(
      `UPDATE users SET login_failed_count = 0
       WHERE uid = ? AND status = ${userStatus.enabled} AND credential_version = ? AND ${notLocked}`,
      [user.uid, user.credentialVersion, ...this.lockBounds()],
    );
  }

  /**
   * Sets a new password: hash, salt, counters and version in one statement of the caller's transaction. From its commit
   * on, everything that was issued under the former password is invalid. `status` does not change.
   * Race: an operator sets a password while a reset link is used. The link passes the version that it was issued under
   * as `issuedUnder`. When the version has changed since then, this method returns false and the link is refused.
   * `mailed` says that the link came by mail. A new address ends such links, so the address is the one that got the mail.
   */
  setPassword(
    sql: Sql,
    uid: string,
    hash: string,
    options: { readonly temporary: boolean; readonly issuedUnder?: number; readonly mailed?: boolean },
  ): Promise<boolean> {
    const { temporary, issuedUnder, mailed = false } = options;
    const issued = issuedUnder === undefined ? {} : { credentialVersion: issuedUnder };
    return this.rows.won(
      sql,
      { uid, provider: 'password', deletedAt: IsNull(), ...issued },
      {
        ...{ password: hash, salt: saltOf(hash), mustChangePassword: temporary, legacyLogin: false },
        ...{ loginFailedCount: 0, lastLoginFailedTime: null, ...this.rows.incremented('credentialVersion') },
        ...(mailed ? addressProven : {}),
      },
    );
  }

  /**
   * Demands another password at the next login. What was issued before stays valid.
   * Races with a change of the password, which clears the demand, and with another demand. The commit that comes second
   * decides whether the password has to change, and the second demand changes nothing and returns false. A login that
   * has read the row before the commit is one from before the demand.
   */
  requirePasswordChange(sql: Sql, uid: string): Promise<boolean> {
    const open = { uid, provider: 'password', deletedAt: IsNull(), mustChangePassword: false } as const;
    return this.rows.won(sql, open, { mustChangePassword: true });
  }

  /** One statement. Returns undefined when there is no such user, or when the user was deleted. */
  async resetState(sql: Sql, uid: string): Promise<ResetState | undefined> {
    const row = await sql.row<{ version: number; email: string | null; passkeys: number }>(
      `SELECT credential_version AS version, email, ${this.factors.count('passkeys', 'users.uid')} AS passkeys
       FROM users WHERE uid = ? AND deleted_at IS NULL`,
      [uid],
    );
    return row && { credentialVersion: row.version, email: row.email, hasPasskeys: Number(row.passkeys) > 0 };
  }

  /** Returns the current version, or undefined when there is no such user. */
  async credentialVersion(sql: Sql, uid: string): Promise<number | undefined> {
    return (await this.rows.findOne({ uid, deletedAt: IsNull() }, sql))?.credentialVersion;
  }

  /** The user whose password a link can change: undefined when there is none, and for a directory user. */
  async passwordOwner(sql: Sql, uid: string): Promise<PasswordOwner | undefined> {
    const row = await this.rows.findOne({ uid, deletedAt: IsNull(), provider: 'password' }, sql);
    return row === null ? undefined : { credentialVersion: row.credentialVersion, loginName: row.loginName };
  }

  /**
   * Stores the same password as a hash of the current kind and cost. Everything that was issued before stays valid.
   * Races with a password change and a reset, which always win: if they commit first, this UPDATE matches no row.
   */
  renewHash(user: User, hash: string): Promise<boolean> {
    const { uid, password, credentialVersion } = user;
    const asRead = { uid, password: password!, credentialVersion };
    return this.rows.won(this.database, asRead, { password: hash, salt: saltOf(hash) });
  }

  /**
   * Stores the password that the old system has called right, and takes the mark `legacy_login` away: one statement of the
   * caller's transaction. Everything that was issued before stays valid.
   * Races with another login of the user, with a change, a reset and an invitation, and with a move to another kind of
   * sign-in. The first commit wins, because each of them ends the state that this WHERE names. If it comes later, this UPDATE
   * matches no row and returns false, and the password of the winner stays.
   * @param temporary the password breaks the policy, so it has to be changed before a session begins
   */
  adoptPassword(sql: Sql, user: User, hash: string, temporary: boolean): Promise<boolean> {
    const { uid, credentialVersion } = user;
    const asRead = { uid, credentialVersion, provider: 'password', legacyLogin: true, password: IsNull() } as const;
    const adopted = { password: hash, salt: saltOf(hash), mustChangePassword: temporary, legacyLogin: false };
    return this.rows.won(sql, asRead, adopted);
  }

  /** How many users the old system still has to be asked about. It reads the whole table: for `doctor`. */
  async legacyLogins(): Promise<number> {
    const row = await this.database.row<{ n: unknown }>(
      'SELECT COUNT(*) AS n FROM users WHERE legacy_login = 1 AND password IS NULL AND deleted_at IS NULL',
    );
    return Number(row?.n ?? 0);
  }

  /** Whether the tenant has an enabled administrator. */
  async hasAdministrator(sql: Sql, tenantId: string): Promise<boolean> {
    return (await this.rows.findOne({ isAdmin: true, tenantId, status: userStatus.enabled }, sql)) !== null;
  }

  /** Invalidates every token, pending login and change request of the user from this commit on. */
  endEverythingIssued(sql: Sql, uid: string): Promise<boolean> {
    return this.rows.won(sql, { uid }, this.rows.incremented('credentialVersion'));
  }

  private async findExisting(
    uid: string,
    conditions: Readonly<Record<string, SqlValue>>,
    sql: Sql = this.database,
  ): Promise<User | null> {
    if (!isUserId(uid)) return null;
    const also = Object.keys(conditions).map((column) => ` AND ${column} = ?`);
    const where = `${selectUserBy('uid')} AND deleted_at IS NULL${also.join('')}`;
    const row = await sql.row<UserRow>(where, [uid, ...Object.values(conditions)]);
    return row === undefined ? null : userOf(row);
  }

  private async findBy(key: UserKey, value: string): Promise<User | null> {
    const row = await this.database.row<UserRow>(selectUserBy(key), [value]);
    return row === undefined ? null : userOf(row);
  }

  private lockBounds(): [number, Date] {
    return [this.settings.maxCount, this.clock.secondsFromNow(-this.settings.windowSeconds)];
  }
}

/** Writes to the table and changes nothing, to find out whether the database takes writes. */
export async function rehearseWrite(tx: Transaction): Promise<void> {
  await tx.affected("UPDATE users SET login_failed_count = login_failed_count WHERE uid = ''");
}
