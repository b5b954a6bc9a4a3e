import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { tombstoneName, type UserTrace, UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
import { userStatus } from './user.entity';

/**
 * The keys of deleted users begin with this text. It sorts after every login name, so lists end before them, and no
 * look-up makes such a key, because keys are in lower case.
 */
export const tombstoneKeys = '\u{10FFFF}DELETED-';

/** Logins that began before the deletion have ended after this time, with all rows that they write. */
const settledSeconds = 3600;

/** The rows of deleted users. */
@Injectable()
export class UserTombstones implements UserTrace {
  readonly tables = ['user_change_pwd_logs', 'user_org_units', 'user_tenants'];

  constructor(
    traces: UserTraces,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    traces.register(this);
  }

  /** The transaction must hold the row of the user. */
  async bury(tx: Transaction, uid: string): Promise<void> {
    const now = this.clock.now();
    await tx.won(
      `UPDATE users SET login_name = ?, login_name_key = ?, email = NULL, email_key = NULL, nickname = NULL,
       nickname_key = NULL, password = NULL, salt = NULL, topt_secret = NULL, mfa_type = 'email', status = ${userStatus.expired}, is_admin = 0,
       must_change_password = 0, login_failed_count = 0, last_login_failed_time = NULL, mfa_failed_count = 0,
       mfa_blocked_until = NULL, org_unit_id = NULL, directory_id = NULL, directory_seen_at = NULL,
       directory_look_until = NULL, deleted_at = ?, erasing_since = ?
       WHERE uid = ? AND deleted_at IS NULL`,
      [tombstoneName(uid), `${tombstoneKeys}${uid}`, now, now, uid],
    );
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    for (const table of this.tables) await tx.affected(`DELETE FROM ${table} WHERE user_id = ?`, [uid]);
  }

  /** Deleted users of whom traces may be left: a batch of them, the oldest first. */
  async unsettled(limit: number): Promise<string[]> {
    const rows = await this.database.rows<{ uid: string }>(
      `SELECT uid FROM users WHERE erasing_since <= ? ORDER BY erasing_since LIMIT ${Math.trunc(limit)}`,
      [this.clock.secondsFromNow(-settledSeconds)],
    );
    return rows.map(({ uid }) => uid);
  }

  /** Nothing is left of this user. Of parallel calls, one marks the tombstone. */
  async markSettled(uid: string): Promise<void> {
    await this.database.won('UPDATE users SET erasing_since = NULL WHERE uid = ? AND erasing_since IS NOT NULL', [uid]);
  }
}
