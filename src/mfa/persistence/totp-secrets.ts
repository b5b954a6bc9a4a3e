import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { AppConfig } from '../../platform/config/app-config';
import { identityLength, identityOf } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import type { SqlValue } from '../../platform/database/sql';
import type { Reservation } from '../../users/second-factor';
import { TotpSecret } from './totp-secret.entity';

/** How often the QR code of one enrolment is shown (decisions.md 3). */
export const maxQrFetches = 5;

/** This very enrolment, still open: a newer one has another secret under another nonce. */
const stillOpen = `user_id = ? AND SUBSTR(secret, 1, ${identityLength}) = ? AND confirmed_at IS NULL AND expires > ?`;

/** Rows of `totp_secrets` and their guarded writes. */
@Injectable()
export class TotpSecrets {
  constructor(
    @InjectRepository(TotpSecret) private readonly rows: Repository<TotpSecret>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  find(userId: string): Promise<TotpSecret | null> {
    return this.rows.findOneBy({ userId });
  }

  /** In a unit that holds the user's row, which puts parallel enrolments of one user in order: the last one is the open one. */
  async openEnrolment(
    tx: Transaction,
    enrolment: Pick<TotpSecret, 'userId' | 'secret' | 'uri'> & { sid: string; ip: string; expires: Date },
  ): Promise<void> {
    const { userId, secret, uri, sid, ip, expires } = enrolment;
    const values = [secret, uri, sid, ip, expires, userId];
    const replaced = await tx.won(
      `UPDATE totp_secrets SET secret = ?, uri = ?, sid = ?, ip = ?, expires = ?, confirmed_at = NULL, fetched = 0,
       attempts = 0 WHERE user_id = ?`,
      values,
    );
    if (replaced) return;
    await tx.affected(
      'INSERT INTO totp_secrets (secret, uri, sid, ip, expires, user_id) VALUES (?, ?, ?, ?, ?, ?)',
      values,
    );
  }

  /** Racers: codes for one enrolment, as for a pending login: after `OTP_MAX_ATTEMPTS` no row matches. */
  async reserveAttempt(row: TotpSecret): Promise<Reservation> {
    const take = (condition: string) =>
      this.database.won(`UPDATE totp_secrets SET attempts = attempts + 1 WHERE ${stillOpen} AND ${condition}`, [
        ...this.open(row),
        this.config.mfa.maxAttempts,
      ]);
    if (await take('attempts + 1 < ?')) return 'granted';
    return (await take('attempts + 1 = ?')) ? 'last' : 'refused';
  }

  /** The code was right, but for a pending login: it was not tried here. */
  async releaseAttempt(tx: Transaction, row: TotpSecret): Promise<void> {
    await tx.affected(
      `UPDATE totp_secrets SET attempts = attempts - 1 WHERE ${stillOpen} AND attempts > 0`,
      this.open(row),
    );
  }

  /** Racers: parallel fetches of one QR code. `maxQrFetches` of them find a row; the others are told that there is none. */
  countFetch(row: TotpSecret): Promise<boolean> {
    return this.database.won(
      `UPDATE totp_secrets SET fetched = fetched + 1 WHERE ${stillOpen} AND fetched < ${maxQrFetches}`,
      this.open(row),
    );
  }

  /**
   * Racers: parallel first codes, a newer enrolment. One finds the enrolment open; for the others it is confirmed or gone.
   * The step is the new secret's first: those of the former secret say nothing about it.
   */
  confirm(tx: Transaction, row: TotpSecret, step: number): Promise<boolean> {
    return tx.won(`UPDATE totp_secrets SET confirmed_at = ?, last_used_step = ? WHERE ${stillOpen}`, [
      this.clock.now(),
      step,
      ...this.open(row),
    ]);
  }

  /**
   * Racers: the same code in parallel, over logins and replicas. The first moves the step; for the others, and for every
   * replay, it is not a later one (RFC 6238 §5.2).
   */
  useStep(tx: Transaction, userId: string, step: number): Promise<boolean> {
    return tx.won('UPDATE totp_secrets SET last_used_step = ? WHERE user_id = ? AND last_used_step < ?', [
      step,
      userId,
      step,
    ]);
  }

  private open({ userId, secret }: TotpSecret): SqlValue[] {
    return [userId, identityOf(secret), this.clock.now()];
  }
}
