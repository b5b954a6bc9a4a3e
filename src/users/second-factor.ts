import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { AppConfig } from '../platform/config/app-config';
import { identityLength, identityOf } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { type User, userStatus } from './user.entity';

/** What became of asking for an attempt; `last` is granted too, and used up what there was. */
export type Reservation = 'granted' | 'last' | 'refused';

/** How long codes are blocked once the account's budget is used up, in seconds (decisions.md 3). */
export const codeBlockSeconds = 900;

/** The row as it was read: enabled, nothing ended since, and the same secret in force, whichever key it is sealed with by now. */
const unchanged =
  `uid = ? AND status = ${userStatus.enabled} AND credential_version = ? ` +
  `AND SUBSTR(COALESCE(topt_secret, ''), 1, ${identityLength}) = ?`;

const notBlocked = '(mfa_blocked_until IS NULL OR mfa_blocked_until <= ?)';

/** What an account remembers of its second factor: the budget of wrong codes over all logins, and the secret in force. */
@Injectable()
export class SecondFactor {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Takes one attempt before a code is compared; a code that is accepted gives all of them back.
   * Racers: any number of codes, on any replica. Each is counted by the database before its comparison, so no burst gets
   * more than `OTP_ACCOUNT_MAX_FAILURES` of them; the one that takes the last starts the block and sets the count to 0
   * for the time after it. The others match no row and are refused uncompared.
   */
  async reserveAttempt(uid: string): Promise<Reservation> {
    const now = this.clock.now();
    const max = this.config.mfa.accountMaxFailures;
    const granted = await this.database.won(
      `UPDATE users SET mfa_failed_count = mfa_failed_count + 1 WHERE uid = ? AND mfa_failed_count + 1 < ? AND ${notBlocked}`,
      [uid, max, now],
    );
    if (granted) return 'granted';
    const last = await this.database.won(
      `UPDATE users SET mfa_failed_count = 0, mfa_blocked_until = ? WHERE uid = ? AND mfa_failed_count + 1 >= ? AND ${notBlocked}`,
      [this.clock.secondsFromNow(codeBlockSeconds), uid, max, now],
    );
    return last ? 'last' : 'refused';
  }

  /** Whether codes of this account are looked at now; the verdict itself falls in `reserveAttempt`. */
  isBlocked(user: User): boolean {
    return user.mfaBlockedUntil !== null && user.mfaBlockedUntil > this.clock.now();
  }

  /**
   * First in the unit that acts on a code: the count goes back to 0, and the row stays locked until the unit ends.
   * Racers: a disabling, a password change, another secret confirmed, other codes of this account. They come before, and
   * this finds no row and the code is refused; or after, and act on what it has done.
   */
  acceptCode(tx: Transaction, user: User): Promise<boolean> {
    return tx.won(
      `UPDATE users SET mfa_failed_count = 0, mfa_blocked_until = NULL WHERE ${unchanged}`,
      this.asRead(user),
    );
  }

  /** `acceptCode` for a secret that has just proved itself: from this commit on it is the one in force. */
  activateSecret(tx: Transaction, user: User, sealed: string): Promise<boolean> {
    return tx.won(
      `UPDATE users SET mfa_failed_count = 0, mfa_blocked_until = NULL, mfa_type = 'totp', topt_secret = ? WHERE ${unchanged}`,
      [sealed, ...this.asRead(user)],
    );
  }

  /** Changes nothing and locks the row: the secret in force stays what was read until the unit ends. */
  hold(tx: Transaction, user: User): Promise<boolean> {
    return tx.won(`UPDATE users SET mfa_type = mfa_type WHERE ${unchanged}`, this.asRead(user));
  }

  /** No authenticator any more: codes go by mail again. */
  removeSecret(tx: Transaction, uid: string): Promise<boolean> {
    return tx.won(
      `UPDATE users SET topt_secret = NULL, mfa_type = 'email' WHERE uid = ? AND (topt_secret IS NOT NULL OR mfa_type <> 'email')`,
      [uid],
    );
  }

  private asRead({ uid, credentialVersion, totpSecret }: User): [string, number, string] {
    return [uid, credentialVersion, identityOf(totpSecret ?? '')];
  }
}
