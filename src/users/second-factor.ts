import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { AppConfig } from '../platform/config/app-config';
import { identityLength, identityOf } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { type Reservation, reserveAttempt } from './attempts';
import { type User, userStatus } from './user.entity';

/** Seconds for which codes are refused after the budget of the account is used up (docs/spec/decisions.md#codes). */
export const codeBlockSeconds = 900;

/**
 * Matches the user while the account is enabled and still has the credential version and the active secret that were
 * read. Secrets are compared by their identity, which stays the same when a secret is sealed with another key.
 */
const unchanged =
  `uid = ? AND status = ${userStatus.enabled} AND credential_version = ? ` +
  `AND SUBSTR(COALESCE(topt_secret, ''), 1, ${identityLength}) = ?`;

/** The second factor of an account: its budget of wrong codes over all logins, and its active TOTP secret. */
@Injectable()
export class SecondFactor {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Takes one of `OTP_ACCOUNT_MAX_FAILURES` attempts before a code is compared. The last attempt blocks the codes of
   * the account and sets the count to 0 for the time after the block. `acceptCode` gives all attempts back.
   */
  reserveAttempt(uid: string): Promise<Reservation> {
    return reserveAttempt(this.database, {
      table: 'users',
      counter: 'mfa_failed_count',
      open: 'uid = ? AND (mfa_blocked_until IS NULL OR mfa_blocked_until <= ?)',
      values: [uid, this.clock.now()],
      limit: this.config.mfa.accountMaxFailures,
      close: {
        set: 'mfa_failed_count = 0, mfa_blocked_until = ?',
        values: [this.clock.secondsFromNow(codeBlockSeconds)],
      },
    });
  }

  /** An early check that saves the writes for a blocked account. Only `reserveAttempt` decides. */
  isBlocked(user: User): boolean {
    return user.mfaBlockedUntil !== null && user.mfaBlockedUntil > this.clock.now();
  }

  /**
   * The first statement of the transaction that acts on a correct code. It resets the count, and locks the row until
   * the transaction ends.
   * Races with a disabling, a password change, the activation of another secret and other codes of this account. If one
   * of them commits first and changes a compared column, this UPDATE matches no row and the code is refused. If it
   * comes later, it sees the result of this transaction.
   */
  acceptCode(tx: Transaction, user: User): Promise<boolean> {
    return tx.won(
      `UPDATE users SET held = held + 1, mfa_failed_count = 0, mfa_blocked_until = NULL WHERE ${unchanged}`,
      this.asRead(user),
    );
  }

  /**
   * Like `acceptCode`, for the first correct code of a new secret. From this commit on, that secret is the active one.
   */
  activateSecret(tx: Transaction, user: User, sealed: string): Promise<boolean> {
    return tx.won(
      `UPDATE users SET mfa_failed_count = 0, mfa_blocked_until = NULL, mfa_type = 'totp', topt_secret = ? WHERE ${unchanged}`,
      [sealed, ...this.asRead(user)],
    );
  }

  /** Locks the row, so that the active secret stays the same until the transaction ends. */
  hold(tx: Transaction, user: User): Promise<boolean> {
    return tx.won(`UPDATE users SET held = held + 1 WHERE ${unchanged}`, this.asRead(user));
  }

  /** Locks the row, whatever its state. @returns false when there is no such user */
  lock(tx: Transaction, uid: string): Promise<boolean> {
    return tx.won('UPDATE users SET held = held + 1 WHERE uid = ?', [uid]);
  }

  /** Removes the authenticator. Codes are sent by e-mail again. */
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
