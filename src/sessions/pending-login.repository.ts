import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, MoreThan, type Repository } from 'typeorm';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { isUserId } from '../shared/user-id';
import { SecondFactorSettings } from '../users/account-settings';
import { PendingLoginSettings } from './session-settings';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { type Reservation, reserveAttempt } from '../users/attempts';
import { type MfaType, type User, userStatus } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { LoginTokens } from './persistence/login-token.repository';
import { PendingLogin } from './persistence/pending-login.entity';
import { ProofRefusals } from './proof-refusals';

export type { PendingLogin } from './persistence/pending-login.entity';

/** The proof that a request belongs to a login: the `mfa_token` of the login's answer, or else the IP address. */
export interface PendingLoginClaim {
  readonly mfaToken: string | undefined;
  readonly ip: string;
}

/** A client that asks for the tokens of the login, with the key that it has proven to hold, if any. */
export type PendingLoginHolder = PendingLoginClaim & Pick<ClientInfo, 'provenKey'>;

/**
 * The id of a confirmation begins with this mark. A replica of version 1.0.0 that replaces the row gives it another id, and
 * leaves the `sid` as it is. Without the mark, the code of that login would continue the session of the confirmation.
 */
const confirmationMark = 'confirms';

/**
 * Logins that wait for their second factor (docs/spec/decisions.md#pending-login). Knowing only a uid is useless
 * to a caller. Each user has one row. A new login replaces it, so that no code, token or attempt of the former login
 * applies.
 */
@Injectable()
export class PendingLogins {
  private readonly rows: EntityRows<PendingLogin>;

  constructor(
    @InjectRepository(PendingLogin) rows: Repository<PendingLogin>,
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly pendingLogins: PendingLoginSettings,
    private readonly secondFactor: SecondFactorSettings,
    private readonly tokens: LoginTokens,
    private readonly refusals: ProofRefusals,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Race: parallel logins of one user. The last login owns the row. The tokens and codes of the others are refused. The
   * same holds for a login beside a confirmation: the row has the session, the token and the id of one of them.
   * @param sid the session that the code will confirm; null for a login
   * @returns the `mfa_token`; only its hash is stored
   */
  async open(
    sql: Sql,
    user: User,
    channel: MfaType,
    { ip, provenKey }: Pick<ClientInfo, 'ip' | 'provenKey'>,
    sid: string | null = null,
  ): Promise<{ readonly pending: Pick<PendingLogin, 'userId' | 'id' | 'expires'>; readonly mfaToken: string }> {
    const mfaToken = this.random.bytes(32).toString('base64url');
    const id = sid === null ? this.random.uuid() : marked(this.random.uuid());
    const expires = this.clock.secondsFromNow(this.pendingLogins.pendingTtlSeconds);
    const login = {
      ...{ id, sid, channel, tokenHash: sha256Hex(mfaToken), ip, credentialVersion: user.credentialVersion, expires },
      ...{
        boundTo: provenKey === undefined ? null : `${id}.${provenKey}`,
        createdAt: this.clock.now(),
        codeHash: null,
        codeExpires: null,
        attempts: 0,
        isClosed: false,
      },
    };
    const takeOver = () => this.rows.won(sql, { userId: user.uid }, login);
    if (!(await takeOver())) {
      try {
        await this.rows.insert(sql, { userId: user.uid, ...login });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        await takeOver();
      }
    }
    return { pending: { userId: user.uid, id, expires }, mfaToken };
  }

  /**
   * Returns the pending login to its owner while it is valid, and undefined otherwise, exactly as for an unknown uid. A
   * wrong `mfa_token` is refused even when the IP address is the one of the login.
   */
  async find(uid: string, claim: PendingLoginClaim): Promise<{ pending: PendingLogin; user: User } | undefined> {
    if (!isUserId(uid)) return undefined;
    const [row, user] = await Promise.all([this.rows.findOne({ userId: uid }), this.users.findByUid(uid)]);
    if (row === null || user === null) return undefined;
    const pending = { ...row, sid: row.id.startsWith(confirmationMark) ? row.sid : null };
    if (!this.isOwner(pending, claim)) return undefined;
    const live =
      !pending.isClosed &&
      pending.expires > this.clock.now() &&
      pending.attempts < this.secondFactor.maxAttempts &&
      pending.credentialVersion === user.credentialVersion &&
      user.status === userStatus.enabled;
    return live && (await this.hasSession(pending, user)) ? { pending, user } : undefined;
  }

  /**
   * Like `find`, for a request that gets the tokens. A login with a proof is finished with the same key
   * (docs/spec/extensions.md#n). Its owner learns that the key is another one, and no attempt is counted.
   * @throws ProofRejected AUTH_401011
   */
  async findForTokens(
    uid: string,
    { provenKey, ...claim }: PendingLoginHolder,
  ): Promise<{ pending: PendingLogin; user: User } | undefined> {
    const found = await this.find(uid, claim);
    const key = found && keyOf(found.pending);
    if (key !== undefined && key !== provenKey) throw this.refusals.of(provenKey === undefined ? 'missing' : 'key');
    return found;
  }

  /** Takes one of `OTP_MAX_ATTEMPTS` attempts before a code is compared. A newer login has its own attempts. */
  reserveAttempt({ userId, id }: PendingLogin): Promise<Reservation> {
    const [open, limit] = [this.openRow({ userId, id }), this.secondFactor.maxAttempts];
    return reserveAttempt(this.database, this.rows, { counter: 'attempts', open, limit });
  }

  /**
   * Replaces the code. The attempts already made still count.
   * Races with the acceptance of the former code and a newer login. When one of them commits first, this UPDATE matches
   * no row: an accepted login stays closed, and a newer login keeps its own code.
   */
  setCode(
    tx: Transaction,
    pending: Pick<PendingLogin, 'userId' | 'id'>,
    hash: string,
    expires: Date,
  ): Promise<boolean> {
    const open = { ...this.openRow(pending), attempts: LessThan(this.secondFactor.maxAttempts) };
    return this.rows.won(tx, open, { codeHash: hash, codeExpires: expires });
  }

  /**
   * Closes the login because its code was correct.
   * Races with the same code in parallel, a resend and a newer login. The first commit wins. If this UPDATE comes
   * later, the login is closed, replaced or has another code than the compared one. The UPDATE then matches no row, and
   * the request is answered as for a wrong code (docs/spec/attacks.md#w06).
   */
  consume(tx: Transaction, { userId, id, codeHash }: PendingLogin): Promise<boolean> {
    return this.rows.won(tx, { ...this.openRow({ userId, id }), codeHash: codeHash ?? IsNull() }, { isClosed: true });
  }

  /** Like `consume`, for a correct code that is not the mailed one: whether a newer code was mailed does not matter. */
  consumeByOtherCode(tx: Transaction, { userId, id }: PendingLogin): Promise<boolean> {
    return this.rows.won(tx, this.openRow({ userId, id }), { isClosed: true });
  }

  /**
   * Ends the login. After a new credential version this UPDATE only shows the actual state; after a new address it alone ends the login.
   * Race: a code that is redeemed at the same time. `consume` and this UPDATE find the row open, and the first commit wins.
   */
  close(tx: Transaction, userId: string): Promise<number> {
    return this.rows.update(tx, { userId, isClosed: false }, { isClosed: true });
  }

  async remove(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }

  private openRow({ userId, id }: Pick<PendingLogin, 'userId' | 'id'>) {
    return { userId, id, isClosed: false, expires: MoreThan(this.clock.now()) };
  }

  /** A confirmation ends with its session. A login has none yet. */
  private async hasSession({ sid, credentialVersion }: PendingLogin, { uid: userId }: User): Promise<boolean> {
    return sid === null || (await this.tokens.findLive({ userId, sid, credentialVersion })) !== null;
  }

  /**
   * Only the `mfa_token` proves that a request belongs to a confirmation, whatever `MFA_PENDING_BINDING` is: its answer has
   * the tokens of a session that another client behind the same address may have opened.
   */
  private isOwner({ tokenHash, ip, sid }: PendingLogin, claim: PendingLoginClaim): boolean {
    if (sid === null && this.pendingLogins.pendingBinding === 'none') return true;
    if (claim.mfaToken === undefined) return sid === null && claim.ip === ip;
    return timingSafeEqual(Buffer.from(sha256Hex(claim.mfaToken), 'hex'), Buffer.from(tokenHash, 'hex'));
  }
}

/** A replica of version 1.0.0 that replaces the row gives it another id, and leaves this column as it is. */
const keyOf = ({ id, boundTo }: PendingLogin): string | undefined =>
  boundTo?.startsWith(`${id}.`) ? boundTo.slice(id.length + 1) : undefined;

const marked = (id: string): string => `${confirmationMark}${id.slice(confirmationMark.length)}`;
