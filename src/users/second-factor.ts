import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThanOrEqual, Or, Raw, type Repository } from 'typeorm';
import { Clock } from '../shared/clock';
import { SecondFactorSettings } from './account-settings';
import { identityLength, identityOf } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { type Condition, EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { type Reservation, reserveAttempt } from './attempts';
import { OwnFactors } from './own-factors';
import { addressProven, User, userStatus } from './user.entity';

/** Seconds for which codes are refused after the budget of the account is used up (docs/spec/decisions.md#codes). */
export const codeBlockSeconds = 900;

/** The column of the active TOTP secret, for `keys reseal`. */
export const activeSecretColumn = { table: 'users', key: 'uid', column: 'topt_secret' } as const;

/**
 * Matches the user while the account is enabled and still has the credential version and the active secret that were
 * read. Secrets are compared by their identity, which stays the same when a secret is sealed with another key.
 */
const unchanged = ({ uid, credentialVersion, totpSecret }: User): Condition<User> => ({
  ...{ uid, status: userStatus.enabled, credentialVersion },
  totpSecret: Raw((column) => `SUBSTR(COALESCE(${column}, ''), 1, ${identityLength}) = :identity`, {
    identity: identityOf(totpSecret ?? ''),
  }),
});

/** The second factor of an account: its budget of wrong codes over all logins, and its active TOTP secret. */
@Injectable()
export class SecondFactor {
  private readonly rows: EntityRows<User>;

  constructor(
    @InjectRepository(User) rows: Repository<User>,
    private readonly database: Database,
    private readonly factors: OwnFactors,
    private readonly clock: Clock,
    private readonly settings: SecondFactorSettings,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Takes one of `OTP_ACCOUNT_MAX_FAILURES` attempts before a code is compared. The last attempt blocks the codes of
   * the account and sets the count to 0 for the time after the block. `acceptCode` gives all attempts back.
   */
  reserveAttempt(uid: string): Promise<Reservation> {
    return reserveAttempt(this.database, this.rows, {
      counter: 'mfaFailedCount',
      open: { uid, mfaBlockedUntil: Or(IsNull(), LessThanOrEqual(this.clock.now())) },
      limit: this.settings.accountMaxFailures,
      close: { mfaFailedCount: 0, mfaBlockedUntil: this.clock.secondsFromNow(codeBlockSeconds) },
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
   * @param mailed the code was mailed to the address of the user. A new address ends such codes, in a transaction that
   *   locks this row as well, so the address is still the one that got the mail.
   */
  acceptCode(tx: Transaction, user: User, { mailed = false } = {}): Promise<boolean> {
    const accepted = { ...this.rows.incremented('held'), mfaFailedCount: 0, mfaBlockedUntil: null };
    return this.rows.won(tx, unchanged(user), { ...accepted, ...(mailed ? addressProven : {}) });
  }

  /**
   * Like `acceptCode`, for the first correct code of a new secret. From this commit on, that secret is the active one.
   */
  activateSecret(tx: Transaction, user: User, sealed: string): Promise<boolean> {
    const active = { mfaType: 'totp', totpSecret: sealed } as const;
    return this.rows.won(tx, unchanged(user), { ...active, mfaFailedCount: 0, mfaBlockedUntil: null });
  }

  /** For an account that the transaction has just made, whatever its status. Nobody else can see its row yet. */
  bringSecret(tx: Transaction, uid: string, sealed: string): Promise<boolean> {
    return this.rows.won(tx, { uid, totpSecret: IsNull() }, { mfaType: 'totp', totpSecret: sealed });
  }

  /** Locks the row, so that the active secret stays the same until the transaction ends. */
  hold(tx: Transaction, user: User): Promise<boolean> {
    return this.rows.won(tx, unchanged(user), this.rows.incremented('held'));
  }

  /** Locks the row, whatever its state. @returns false when there is no such user */
  lock(tx: Transaction, uid: string): Promise<boolean> {
    return this.rows.won(tx, { uid }, this.rows.incremented('held'));
  }

  /** Removes the authenticator. Codes are sent by e-mail again. */
  removeSecret(tx: Transaction, uid: string): Promise<boolean> {
    return tx.won(
      `UPDATE users SET topt_secret = NULL, mfa_type = 'email' WHERE uid = ? AND (topt_secret IS NOT NULL OR mfa_type <> 'email')`,
      [uid],
    );
  }

  /** Whether the user has an authenticator, and how many passkeys. One statement. */
  async factorsOf(uid: string, sql: Sql = this.database): Promise<{ authenticator: boolean; passkeys: number }> {
    const row = await sql.row<{ totp: unknown; passkeys: unknown }>(
      `SELECT topt_secret IS NOT NULL AS totp, ${this.factors.count('passkeys', 'users.uid')} AS passkeys
       FROM users WHERE uid = ?`,
      [uid],
    );
    return { authenticator: Number(row?.totp) === 1, passkeys: Number(row?.passkeys ?? 0) };
  }
}
