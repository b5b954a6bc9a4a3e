import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { And, Equal, IsNull, LessThanOrEqual, Not, Or, Raw, type Repository } from 'typeorm';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import { Database } from '../platform/database/database';
import { type Condition, EntityRows } from '../platform/database/entity-rows';
import { type Sql, timeOf, timeOrNull } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { type Provider, User } from './user.entity';
import { UserWords } from './user-words.repository';

/**
 * When the directory last had no objection to a user: at a refresh, or at a login, which binds as the user. Null for a
 * local user.
 */
export const directorySeenAt = (u: string) => `CASE WHEN ${u}.provider <> 'ldap' THEN NULL
  WHEN COALESCE(${u}.directory_seen_at > COALESCE(${u}.last_login_success_time, ${u}.created_at), FALSE) THEN ${u}.directory_seen_at
  ELSE COALESCE(${u}.last_login_success_time, ${u}.created_at) END`;

type Seen = Pick<User, 'provider' | 'directorySeenAt' | 'lastLoginSuccessTime' | 'createdAt'>;

/** The same time, of a row that was read. */
export function seenAtOf({ provider, directorySeenAt: seen, lastLoginSuccessTime, createdAt }: Seen): Date | null {
  if (provider !== 'ldap') return null;
  const login = lastLoginSuccessTime ?? createdAt;
  return seen !== null && seen > login ? seen : login;
}

/** There is no login and no good look since a time. */
const notSeenSince = (since: Date): Condition<User> => {
  const noLater = Raw((column) => `COALESCE(${column}, created_at) <= :since`, { since });
  return { directorySeenAt: noLater, lastLoginSuccessTime: noLater };
};

/** A deleted user keeps the provider. Nothing that the directory says may be written to the tombstone. */
const directoryUser = (uid: string): Condition<User> => ({ uid, provider: 'ldap', deletedAt: IsNull() });

/** The right to ask the directory about a user, for a short time. */
export interface Look {
  readonly uid: string;
  /** Identifies the look: no other look of the user ends at this time. */
  readonly until: Date;
  /** The last good look was not later. */
  readonly since: Date;
}

/** Accounts of directory users: each is bound to one entry, and follows its attributes. A deletion wins every race. */
@Injectable()
export class DirectoryAccounts {
  private readonly rows: EntityRows<User>;

  constructor(
    @InjectRepository(User) rows: Repository<User>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly words: UserWords,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Binds the account to the entry, once and for all.
   * Race: first logins of one account, with the same entry or with two. The first UPDATE wins. The others match no row
   * and read which entry it is. An entry that another account has is a duplicate key, and the account stays unbound.
   */
  async bind(sql: Sql, user: User, directoryId: string): Promise<boolean> {
    try {
      return await this.rows.won(sql, { ...directoryUser(user.uid), directoryId: IsNull() }, { directoryId });
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /**
   * Gives the account the name that its entry has now.
   * Races with another login of the account, which changes the name that both have read: the loser matches no row, and
   * reads the new name. Races with any account that takes the name, also one that an administrator creates: the unique
   * key decides, and the loser keeps its name or is not created. An account that an operator has released from its entry
   * is not renamed.
   * @returns `taken` when another account has the name; false when the account no longer has the name that was read
   */
  async setLoginName(sql: Sql, user: User, directoryId: string, loginName: string): Promise<boolean | 'taken'> {
    const key = identityKey(loginName);
    try {
      const asRead = { directoryId, loginNameKey: And(Equal(user.loginNameKey), Not(key)) };
      const renamed = { loginName: loginName.trim(), loginNameKey: key };
      return await this.words.following(sql, user.uid, (tx) =>
        this.rows.won(tx, { ...directoryUser(user.uid), ...asRead }, renamed),
      );
    } catch (error) {
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  }

  /**
   * Also for a user of an identity provider: the account must still be of the kind that was read.
   * Races with another login of the account: the first one changes the value that both have read.
   */
  setNickname(sql: Sql, user: User, nickname: string): Promise<boolean> {
    return this.words.following(sql, user.uid, (tx) =>
      tx.won(
        `UPDATE users SET nickname = ?, nickname_key = LOWER(?)
         WHERE uid = ? AND provider = ? AND provider <> 'password' AND COALESCE(identity_provider_id, '') = ? AND deleted_at IS NULL
           AND COALESCE(nickname, '') = ? AND COALESCE(nickname, '') <> ?`,
        [nickname, nickname, user.uid, user.provider, user.identityProviderId ?? '', user.nickname ?? '', nickname],
      ),
    );
  }

  /**
   * Also for a user of an identity provider. Races with another login of the account, as above, and with any account that
   * takes the address: the unique key decides.
   * @returns `taken` when another account has the address
   */
  async setEmail(sql: Sql, user: User, email: string): Promise<boolean | 'taken'> {
    try {
      const asRead = Raw((column) => `COALESCE(${column}, '') = :read AND COALESCE(${column}, '') <> :next`, {
        ...{ read: user.email ?? '', next: email },
      });
      const change = { email, emailKey: identityKey(email) };
      const { uid, provider, identityProviderId } = user;
      const place = {
        provider: And(Equal<Provider>(provider), Not<Provider>('password')),
        identityProviderId: identityProviderId ?? IsNull(),
      };
      const asFound = { uid, ...place, deletedAt: IsNull(), email: asRead };
      return await this.words.following(sql, uid, (tx) => this.rows.won(tx, asFound, change));
    } catch (error) {
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  }

  /**
   * Gives or takes the rights of an administrator. The new credential version ends the tokens of before.
   * Races with another login of the account: the first one makes the change, and the others find nothing to change.
   */
  setAdmin(sql: Sql, uid: string, isAdmin: boolean): Promise<boolean> {
    // An administrator has no role beside.
    const role = isAdmin ? { role: null } : {};
    const change = { isAdmin, ...role, ...this.rows.incremented('credentialVersion') };
    return this.rows.won(sql, { ...directoryUser(uid), isAdmin: !isAdmin }, change);
  }

  /**
   * Claims the next look at the directory, if the last one is older than `since`.
   * Race: parallel refreshes of one user, on any replica. One UPDATE wins and its caller asks the directory. The others
   * match no row and go on without a look. A claim ends by itself, so a replica that was killed blocks nobody.
   */
  async claimLook(uid: string, since: Date, seconds: number): Promise<Look | undefined> {
    const until = this.clock.secondsFromNow(seconds);
    const unclaimed = { directoryLookUntil: Or(IsNull(), LessThanOrEqual(this.clock.now())) };
    const due = { ...directoryUser(uid), ...unclaimed, ...notSeenSince(since) };
    return (await this.rows.won(this.database, due, { directoryLookUntil: until })) ? { uid, until, since } : undefined;
  }

  /** Records a good look. A look whose claim has ended records nothing. */
  finishLook({ uid, until }: Look): Promise<boolean> {
    const change = { directorySeenAt: this.clock.now(), directoryLookUntil: null };
    return this.rows.won(this.database, { uid, directoryLookUntil: until }, change);
  }

  /** The directory did not answer: the next refresh may ask again at once. */
  giveUpLook({ uid, until }: Look): Promise<boolean> {
    return this.rows.won(this.database, { uid, directoryLookUntil: until }, { directoryLookUntil: null });
  }

  /**
   * Ends everything that was issued to the user, because the look was bad.
   * Races with a login of the user, which is a newer look: if its success is recorded first, this UPDATE matches no row.
   */
  refuseByLook(sql: Sql, { uid, until, since }: Look): Promise<boolean> {
    const change = { ...this.rows.incremented('credentialVersion'), directoryLookUntil: null };
    return this.rows.won(sql, { uid, directoryLookUntil: until, ...notSeenSince(since) }, change);
  }

  /** @returns undefined when there is no such directory user */
  async lookState(uid: string): Promise<{ readonly seenAt: Date; readonly lookUntil: Date | null } | undefined> {
    const row = await this.database.row<Record<'seen_at' | 'look_until', unknown>>(
      `SELECT ${directorySeenAt('users')} AS seen_at, directory_look_until AS look_until FROM users
       WHERE uid = ? AND provider = 'ldap' AND deleted_at IS NULL`,
      [uid],
    );
    return row && { seenAt: timeOf(row.seen_at), lookUntil: timeOrNull(row.look_until) };
  }
}
