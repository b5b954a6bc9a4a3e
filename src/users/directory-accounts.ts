import { Injectable } from '@nestjs/common';
import { identityKey } from '../shared/identity-key';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import type { User } from './user.entity';

/** Accounts of directory users: each is bound to one entry, and follows its attributes. */
@Injectable()
export class DirectoryAccounts {
  /**
   * Binds the account to the entry, once and for all.
   * Race: first logins of one account, with the same entry or with two. The first UPDATE wins. The others match no row
   * and read which entry it is. An entry that another account has is a duplicate key, and the account stays unbound.
   */
  async bind(sql: Sql, user: User, directoryId: string): Promise<boolean> {
    try {
      return await sql.won(
        `UPDATE users SET directory_id = ? WHERE uid = ? AND provider = 'ldap' AND directory_id IS NULL`,
        [directoryId, user.uid],
      );
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Races with another login of the account: the first one changes the value that both have read. */
  setNickname(sql: Sql, user: User, nickname: string): Promise<boolean> {
    return sql.won(
      `UPDATE users SET nickname = ? WHERE uid = ? AND provider = 'ldap' AND COALESCE(nickname, '') = ? AND COALESCE(nickname, '') <> ?`,
      [nickname, user.uid, user.nickname ?? '', nickname],
    );
  }

  /**
   * Races with another login of the account, as above, and with any account that takes the address: the unique key
   * decides.
   * @returns `taken` when another account has the address
   */
  async setEmail(sql: Sql, user: User, email: string): Promise<boolean | 'taken'> {
    try {
      return await sql.won(
        `UPDATE users SET email = ?, email_key = ?
         WHERE uid = ? AND provider = 'ldap' AND COALESCE(email, '') = ? AND COALESCE(email, '') <> ?`,
        [email, identityKey(email), user.uid, user.email ?? '', email],
      );
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
    return sql.won(
      `UPDATE users SET is_admin = ?, credential_version = credential_version + 1
       WHERE uid = ? AND provider = 'ldap' AND is_admin <> ?`,
      [isAdmin, uid, isAdmin],
    );
  }
}
