import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { isUuid } from '../shared/uuid';
import { AppConfig } from '../platform/config/app-config';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { type Reservation, reserveAttempt } from '../users/attempts';
import { type MfaType, type User, userStatus } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { PendingLogin } from './persistence/pending-login.entity';

export type { PendingLogin } from './persistence/pending-login.entity';

/** What a request shows of itself: the `mfa_token` of the login's answer, or only where it comes from. */
export interface PendingLoginClaim {
  readonly mfaToken: string | undefined;
  readonly ip: string;
}

/**
 * Sessions that wait for their second factor (decisions.md 3): knowing a uid is worth nothing without one. There is one
 * row for each user, which a new login takes over, so that nothing of the former login can be used or counted any more.
 */
@Injectable()
export class PendingLogins {
  constructor(
    @InjectRepository(PendingLogin) private readonly rows: Repository<PendingLogin>,
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly config: AppConfig,
  ) {}

  /**
   * Racers: parallel logins of one user. The last one has the row; the tokens and codes of the others open nothing.
   * @returns the `mfa_token`, of which only the hash is stored.
   */
  async open(
    sql: Sql,
    user: User,
    channel: MfaType,
    ip: string,
  ): Promise<{ readonly pending: Pick<PendingLogin, 'userId' | 'id' | 'expires'>; readonly mfaToken: string }> {
    const mfaToken = this.random.bytes(32).toString('base64url');
    const id = this.random.uuid();
    const expires = this.clock.secondsFromNow(this.config.mfa.pendingTtlSeconds);
    const values = [id, channel, sha256Hex(mfaToken), ip, user.credentialVersion, expires, this.clock.now(), user.uid];
    const takeOver = () =>
      sql.won(
        `UPDATE pending_logins SET id = ?, channel = ?, token_hash = ?, ip = ?, credential_version = ?, expires = ?,
         created_at = ?, code_hash = NULL, code_expires = NULL, attempts = 0, is_closed = 0 WHERE user_id = ?`,
        values,
      );
    if (!(await takeOver())) {
      try {
        await sql.affected(
          `INSERT INTO pending_logins (id, channel, token_hash, ip, credential_version, expires, created_at, user_id)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          values,
        );
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        await takeOver();
      }
    }
    return { pending: { userId: user.uid, id, expires }, mfaToken };
  }

  /**
   * The live one, for its owner; everybody else is told the same as for a uid that does not exist. A wrong `mfa_token`
   * is not made good by the right address.
   */
  async find(uid: string, claim: PendingLoginClaim): Promise<{ pending: PendingLogin; user: User } | undefined> {
    if (!isUuid(uid)) return undefined;
    const [pending, user] = await Promise.all([this.rows.findOneBy({ userId: uid }), this.users.findByUid(uid)]);
    if (pending === null || user === null || !this.isOwner(pending, claim)) return undefined;
    const live =
      !pending.isClosed &&
      pending.expires > this.clock.now() &&
      pending.attempts < this.config.mfa.maxAttempts &&
      pending.credentialVersion === user.credentialVersion &&
      user.status === userStatus.enabled;
    return live ? { pending, user } : undefined;
  }

  /** Takes one of `OTP_MAX_ATTEMPTS` attempts before a code is compared. A newer login of the user has its own. */
  reserveAttempt({ userId, id }: PendingLogin): Promise<Reservation> {
    return reserveAttempt(this.database, {
      table: 'pending_logins',
      counter: 'attempts',
      open: 'user_id = ? AND id = ? AND is_closed = 0 AND expires > ?',
      values: [userId, id, this.clock.now()],
      limit: this.config.mfa.maxAttempts,
    });
  }

  /**
   * A code takes the place of the former one; attempts are not renewed. Racers: the acceptance of the former code, a
   * newer login. Whoever comes second finds no row: an accepted login is not revived, a newer one keeps its own code.
   */
  setCode(
    tx: Transaction,
    pending: Pick<PendingLogin, 'userId' | 'id'>,
    hash: string,
    expires: Date,
  ): Promise<boolean> {
    const now = this.clock.now();
    return tx.won(
      `UPDATE pending_logins SET code_hash = ?, code_expires = ?
       WHERE user_id = ? AND id = ? AND is_closed = 0 AND expires > ? AND attempts < ?`,
      [hash, expires, pending.userId, pending.id, now, this.config.mfa.maxAttempts],
    );
  }

  /**
   * Racers: the same right code in parallel, a resend, a newer login. One of them finds the login open and with the code
   * that was compared; the others match no row and are answered as if the code were wrong (W06).
   */
  consume(tx: Transaction, { userId, id, codeHash }: PendingLogin): Promise<boolean> {
    return tx.won(
      `UPDATE pending_logins SET is_closed = 1
       WHERE user_id = ? AND id = ? AND is_closed = 0 AND expires > ? AND COALESCE(code_hash, '') = ?`,
      [userId, id, this.clock.now(), codeHash ?? ''],
    );
  }

  /** For the table's sake, in a unit that has moved the user's credential version: by that it is dead already. */
  async close(tx: Transaction, userId: string): Promise<void> {
    await tx.affected('UPDATE pending_logins SET is_closed = 1 WHERE user_id = ? AND is_closed = 0', [userId]);
  }

  private isOwner({ tokenHash, ip }: PendingLogin, claim: PendingLoginClaim): boolean {
    if (this.config.mfa.pendingBinding === 'none') return true;
    if (claim.mfaToken === undefined) return claim.ip === ip;
    return timingSafeEqual(Buffer.from(sha256Hex(claim.mfaToken), 'hex'), Buffer.from(tokenHash, 'hex'));
  }
}
