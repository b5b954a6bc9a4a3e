import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, MoreThan, Not, Raw, type Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { SecondFactorSettings } from '../../users/account-settings';
import { identityLength, identityOf } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { SqlValue } from '../../platform/database/sql';
import { type Reservation, reserveAttempt } from '../../users/attempts';
import { TotpSecret } from './totp-secret.entity';

/** How often the QR code of one enrolment may be fetched (docs/spec/decisions.md#enrolment). */
const maxQrFetches = 5;

/**
 * Matches this enrolment while it is open. A newer enrolment has a different nonce at the start of `secret`. The guards
 * of an open enrolment are plain SQL, because `reserveAttempt` takes this text, and a second form of it could differ.
 */
const stillOpen = `user_id = ? AND SUBSTR(secret, 1, ${identityLength}) = ? AND confirmed_at IS NULL AND expires > ?`;

/** The table `totp_secrets` and its guarded writes. */
@Injectable()
export class TotpSecrets {
  private readonly rows: EntityRows<TotpSecret>;

  constructor(
    @InjectRepository(TotpSecret) rows: Repository<TotpSecret>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: SecondFactorSettings,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  find(userId: string): Promise<TotpSecret | null> {
    return this.rows.findOne({ userId });
  }

  /** The transaction must hold the user's row, which serialises parallel enrolments: the last one wins. */
  async openEnrolment(
    tx: Transaction,
    enrolment: Pick<TotpSecret, 'userId' | 'secret' | 'uri'> & { sid: string; ip: string; expires: Date },
  ): Promise<void> {
    const { userId, ...opened } = enrolment;
    const replaced = { ...opened, confirmedAt: null, fetched: 0, attempts: 0 };
    if (await this.rows.won(tx, { userId }, replaced)) return;
    await this.rows.insert(tx, { userId, ...opened });
  }

  /** For an authenticator that was confirmed in another system. The account is new, so there is no other row. */
  async insertConfirmed(tx: Transaction, brought: Pick<TotpSecret, 'userId' | 'secret' | 'uri'>): Promise<void> {
    const now = this.clock.now();
    await this.rows.insert(tx, { ...brought, confirmedAt: now, expires: now });
  }

  /** Takes one of `OTP_MAX_ATTEMPTS` attempts before a code is compared. A newer enrolment has its own attempts. */
  reserveAttempt(row: TotpSecret): Promise<Reservation> {
    return reserveAttempt(this.database, this.rows, {
      counter: 'attempts',
      open: {
        userId: row.userId,
        secret: Raw((column) => `SUBSTR(${column}, 1, ${identityLength}) = :identity`, {
          identity: identityOf(row.secret),
        }),
        confirmedAt: IsNull(),
        expires: MoreThan(this.clock.now()),
      },
      limit: this.settings.maxAttempts,
    });
  }

  /** Gives an attempt back when the code was the correct one of a pending login. */
  async releaseAttempt(tx: Transaction, row: TotpSecret): Promise<void> {
    await tx.affected(
      `UPDATE totp_secrets SET attempts = attempts - 1 WHERE ${stillOpen} AND attempts > 0`,
      this.open(row),
    );
  }

  /** Of parallel fetches of one QR code, `maxQrFetches` match the row. The others get MFA_404001. */
  countFetch(row: TotpSecret): Promise<boolean> {
    return this.database.won(
      `UPDATE totp_secrets SET fetched = fetched + 1 WHERE ${stillOpen} AND fetched < ${maxQrFetches}`,
      this.open(row),
    );
  }

  /**
   * Parallel first codes compete for the row with each other and with a newer enrolment. One code finds the enrolment
   * open and wins. The others match no row and count as wrong. `last_used_step` starts again, because it belonged to
   * the former secret.
   */
  confirm(tx: Transaction, row: TotpSecret, step: number): Promise<boolean> {
    return tx.won(`UPDATE totp_secrets SET confirmed_at = ?, last_used_step = ? WHERE ${stillOpen}`, [
      this.clock.now(),
      step,
      ...this.open(row),
    ]);
  }

  /**
   * The same code may arrive in parallel, across logins and replicas. The first UPDATE stores the step and wins. The
   * others, and every replay, match no row, because the step is no longer later than the stored one (RFC 6238 §5.2).
   */
  useStep(tx: Transaction, userId: string, step: number): Promise<boolean> {
    return this.rows.won(tx, { userId, lastUsedStep: LessThan(step) }, { lastUsedStep: step });
  }

  /**
   * Ends the enrolment that nobody has confirmed. The row stays, because its last used step is that of the active secret: without
   * it no code of that secret is accepted. The sealed secret that was never confirmed stays in it, as after an expiry. The
   * transaction must hold the row of the user.
   * @returns how many enrolments it has ended
   */
  endOpen(tx: Transaction, userId: string): Promise<number> {
    return this.rows.update(
      tx,
      { userId, confirmedAt: IsNull(), sid: Not(IsNull()) },
      { sid: null, ip: null, expires: null },
    );
  }

  /** Removes the enrolment and the last used step. The transaction must hold the row of the user. */
  async removeAll(tx: Transaction, userId: string): Promise<void> {
    await this.rows.remove(tx, { userId });
  }

  private open({ userId, secret }: TotpSecret): SqlValue[] {
    return [userId, identityOf(secret), this.clock.now()];
  }
}
