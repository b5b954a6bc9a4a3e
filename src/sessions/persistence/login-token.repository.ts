import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Raw, type Repository } from 'typeorm';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { OwnFactors } from '../../users/own-factors';
import { SessionEnds } from '../session-ends';
import type { AuthenticationMethod, TokenPayload } from '../token-payload';
import { LoginToken } from './login-token.entity';
import { type NewToken, type RefreshedUser, SharedStatements } from './shared-statements';
import { type CheckedToken, TokenChecks } from './token-checks';

export type { NewToken, Scope } from './shared-statements';

/** The values that all tokens of a session share. */
export interface SessionKey {
  readonly userId: string;
  readonly sid: string;
  readonly credentialVersion: number;
}

/** What the first row of a session stores about its beginning. */
export interface SessionStart extends Pick<ClientInfo, 'ip' | 'userAgent'> {
  readonly amr: readonly AuthenticationMethod[];
  /** The last check of a credential: a password, a code or a passkey. Null when no version has stored it. */
  readonly authenticatedAt: Date | null;
  /** The login. */
  readonly startedAt: Date;
}

/** The first rows of the sessions of a user, by the index `(user_identity, token_type, sid)`. */
const firstRows = "user_identity = ? AND token_type = 'refresh' AND jti = sid";

/** The same as `firstRows`, in the statements that TypeORM makes. */
const firstRowsOf = (userIdentity: string) =>
  ({ userIdentity, tokenType: 'refresh', jti: Raw((jti) => `${jti} = sid`) }) as const;

/** The most rows that the end of a session marks in its transaction. A session that was not flooded has fewer. */
const markedRows = 1000;

/**
 * The table `login_tokens` (docs/spec/service.md#3.3). One row decides about a session: that of its first refresh token
 * (`jti = sid`). Revoking it ends every token of the session, also one that another replica inserts at the same time
 * (ADR 0005).
 */
@Injectable()
export class LoginTokens {
  private readonly rows: EntityRows<LoginToken>;
  private readonly shared: SharedStatements;
  private readonly checks: TokenChecks;

  constructor(
    @InjectRepository(LoginToken) rows: Repository<LoginToken>,
    database: Database,
    factors: OwnFactors,
    private readonly clock: Clock,
    private readonly ends: SessionEnds,
  ) {
    this.rows = new EntityRows(rows, database);
    this.shared = new SharedStatements(database, factors);
    this.checks = new TokenChecks(this.shared, clock);
  }

  /** Checks a token at each use. Returns undefined when this user has no such token in this session. */
  find(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return this.checks.find(payload);
  }

  /** Like `find`, for a refresh with rotation. */
  findForRotation(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return this.checks.findForRotation(payload);
  }

  /** Like `find`. The same statement reads the names of the groups of the user. */
  findWithGroups(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return this.checks.findWithGroups(payload);
  }

  /**
   * Like `findWithGroups`. The same statement reads the columns of the account that `GET /user/me` shows and that no earlier check of
   * this token has left. The first check after the user got own factors sends a second statement for the counts.
   */
  findWithAccount(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return this.checks.findWithAccount(payload);
  }

  /** @param start with the tokens of a new session: goes to the row whose `jti` is the `sid` */
  async insert(sql: Sql, session: SessionKey, tokens: readonly NewToken[], start?: SessionStart): Promise<void> {
    const places = tokens.map(() => '(?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ');
    const described = start && [start.ip, start.userAgent, start.amr.join(' '), start.authenticatedAt];
    await sql.affected(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at,
       ip, user_agent, amr, authenticated_at) VALUES ${places}`,
      tokens.flatMap((token) => [
        token.jti,
        token.use,
        session.userId,
        token.expires,
        session.sid,
        session.credentialVersion,
        (token.jti === session.sid && start?.startedAt) || token.createdAt,
        ...((token.jti === session.sid && described) || [null, null, null, null]),
      ]),
    );
  }

  /**
   * Checks a presented token and inserts the row of the new token, in one statement.
   * Races with a logout, a password change and a disabling. When one of them commits first, nothing is inserted. When
   * it commits later, the new token is invalid as well, because each use checks the first row of the session and the
   * version of the user. No lock is needed, at any isolation level. A token with a successor is refused: it was used
   * while rotation was on.
   * @returns what the user's row says, or undefined when the presented token is not valid
   */
  insertFrom(presented: TokenPayload, token: NewToken): Promise<RefreshedUser | undefined> {
    return this.shared.insertFrom(presented, token);
  }

  /**
   * Race: parallel rotations of one refresh token, on any replica. The first one stores its successor and wins. The
   * others match no row and read the successor of the winner.
   */
  claimSuccession(tx: Transaction, jti: string, successorJti: string): Promise<boolean> {
    return tx.won(
      'UPDATE login_tokens SET successor_jti = ?, succeeded_at = ? WHERE jti = ? AND successor_jti IS NULL AND is_revoked = 0',
      [successorJti, this.clock.now(), jti],
    );
  }

  /** The refresh token of the session that nothing has replaced yet. */
  async currentRefresh(tx: Transaction, sid: string): Promise<string | undefined> {
    const row = await tx.row<{ jti: string }>(
      `SELECT jti FROM login_tokens
       WHERE sid = ? AND token_type = 'refresh' AND successor_jti IS NULL AND is_revoked = 0
       ORDER BY created_at DESC LIMIT 1`,
      [sid],
    );
    return row?.jti;
  }

  /**
   * Gives the tokens that `replaced` has succeeded its successor. Such a token, which a second tab presents within the
   * grace period, then leads to the token in use. Otherwise its successor would count as used, and the use as a reuse.
   */
  async redirectSuccession(tx: Transaction, sid: string, replaced: string, successorJti: string): Promise<void> {
    await this.rows.update(tx, { sid, successorJti: replaced }, { successorJti });
  }

  /**
   * Stores a new check of a credential in the first row of the session.
   * Races with the end of the session and with a new credential version. If one of them commits first, this UPDATE matches
   * no row, and no token is issued. The caller must have locked the row of the user.
   */
  confirm(tx: Transaction, session: SessionKey, amr: readonly string[], authenticatedAt: Date): Promise<boolean> {
    return this.rows.won(tx, this.live(session), { amr: amr.join(' '), authenticatedAt });
  }

  /** The row of a token whose signature was checked, or the first row of a session. @param sql a transaction to read in */
  findRow(jti: string, sql?: Sql): Promise<LoginToken | null> {
    return this.rows.findOne({ jti }, sql);
  }

  /** The first row of a session that has not ended. @param sql a transaction to read in */
  findLive(session: SessionKey, sql?: Sql): Promise<LoginToken | null> {
    return this.rows.findOne(this.live(session), sql);
  }

  /** Counts the sessions of the user that have not ended. @param sql a transaction to read in */
  countLive(userId: string, credentialVersion: number, sql?: Sql): Promise<number> {
    const live = { isRevoked: false, expires: MoreThan(this.clock.now()), credentialVersion };
    return this.rows.count({ ...firstRowsOf(userId), ...live }, sql);
  }

  /**
   * Locks the first row of the session until the transaction ends. It changes nothing.
   * Races with a logout. If the logout commits first, this UPDATE matches no row. If the logout comes later, it waits
   * for this transaction. The caller must have locked the row of the user, so that nothing else can end the session.
   */
  hold(tx: Transaction, session: SessionKey): Promise<boolean> {
    return this.rows.won(tx, this.live(session), { isRevoked: false });
  }

  /**
   * Revokes the first row, which ends the session, and then marks others, the newest first. Idempotent.
   * Of transactions that lock several first rows, each holds the row of the user, and takes them before all other rows.
   * So a logout, which locks one first row, never meets a deadlock.
   * @returns false when the session had ended
   */
  async revokeSession(sql: Sql, sid: string): Promise<boolean> {
    const ended = await this.mark(sql, [sid]);
    await this.mark(sql, await this.unmarked(sql, 'sid = ? ORDER BY created_at DESC', [sid]));
    if (ended > 0) await this.ends.tell(sql, { sids: [sid] });
    return ended > 0;
  }

  /**
   * Revokes the first rows of other sessions of the user, which ends these sessions. The caller holds the row of the user.
   * @param after the last `sid` of the page before; empty for the first page
   * @returns how many sessions this call ended, and the last `sid` when there may be more of them
   */
  async revokeOthers(
    sql: Sql,
    { userId, sid: own, credentialVersion }: SessionKey,
    after: string,
  ): Promise<{ readonly ended: number; readonly last: string | undefined }> {
    const page = await sql.rows<{ jti: string; live: unknown }>(
      `SELECT jti, is_revoked = 0 AND expires > ? AND credential_version = ? AS live FROM login_tokens
       WHERE ${firstRows} AND sid > ? ORDER BY sid LIMIT ${markedRows}`,
      [this.clock.now(), credentialVersion, userId, after],
    );
    const live = page.filter((row) => Number(row.live) === 1 && row.jti !== own).map(({ jti }) => jti);
    const ended = await this.mark(sql, live);
    await this.ends.tell(sql, { sids: live });
    if (after === '') await this.mark(sql, await this.unmarked(sql, 'user_identity = ?', [userId], own));
    return { ended, last: page.length < markedRows ? undefined : page.at(-1)?.jti };
  }

  /**
   * Marks rows, to show the actual state: a thousand first rows and a thousand others. The new
   * `users.credential_version` of the same transaction ends the tokens, also those that stay unmarked.
   * @returns how many of these were not revoked before
   */
  async markRevoked(sql: Sql, userId: string): Promise<number> {
    const first = await this.mark(sql, await this.unmarked(sql, firstRows, [userId]));
    const others = await this.mark(sql, await this.unmarked(sql, 'user_identity = ?', [userId]));
    await this.ends.tell(sql, { userId });
    return first + others;
  }

  /** Removes what identifies the clients of a user. The rows stay until they expire: their tokens are answered as revoked. */
  async forgetClients(sql: Sql, userId: string): Promise<void> {
    await this.rows.update(sql, firstRowsOf(userId), { ip: null, userAgent: null });
  }

  /** The first row of this session, while the session has not ended. */
  private live({ userId, sid, credentialVersion }: SessionKey) {
    const expires = MoreThan(this.clock.now());
    return { jti: sid, sid, userIdentity: userId, isRevoked: false, credentialVersion, expires };
  }

  /** Reads a bounded number of rows, without a lock, whatever the condition leaves of them. */
  private async unmarked(sql: Sql, where: string, values: readonly string[], notOf = ''): Promise<string[]> {
    const rows = await sql.rows<{ jti: string }>(
      `SELECT jti FROM (SELECT jti, sid, is_revoked FROM login_tokens WHERE ${where} LIMIT ${markedRows}) bounded
       WHERE is_revoked = 0 AND sid <> ?`,
      [...values, notOf],
    );
    return rows.map(({ jti }) => jti);
  }

  /** One statement locks its rows in the order of their key. @returns how many were not revoked before */
  private async mark(sql: Sql, jtis: readonly string[]): Promise<number> {
    if (jtis.length === 0) return 0;
    const keys = filledUp(jtis);
    const places = keys.map(() => '?').join(', ');
    return sql.affected(`UPDATE login_tokens SET is_revoked = 1 WHERE jti IN (${places}) AND is_revoked = 0`, keys);
  }
}
