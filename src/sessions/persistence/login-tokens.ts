import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { KeyRing } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import { type Sql, timeOf, timeOrNull } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { readerOf } from '../../users/user-columns';
import { sessionFields } from '../../users/user-fields';
import type { SessionAccount, SessionUser } from '../current-session';
import type { AuthenticationMethod, TokenPayload } from '../token-payload';
import {
  type AccountRow,
  type NewToken,
  type RefreshedUser,
  SharedStatements,
  type TokenRow,
} from './shared-statements';
import { detailAfter, SeenAccounts } from './seen-accounts';

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

export interface CheckedToken {
  /** False when the token or its session is revoked, the credential version has changed, or the user is not enabled. */
  readonly live: boolean;
  readonly user: SessionUser;
  readonly credentialVersion: number;
  readonly expires: Date;
  readonly account?: SessionAccount;
  /** See RefreshedUser. */
  readonly directorySeenAt: Date | null;
  /** See RefreshedUser. Only `findForRotation` tells. */
  readonly crowded: boolean;
}

/** The first rows of the sessions of a user, by the index `(user_identity, token_type, sid)`. */
export const firstRows = "user_identity = ? AND token_type = 'refresh' AND jti = sid";

/** The most rows that the end of a session marks in its transaction. A session that was not flooded has fewer. */
const markedRows = 1000;

export interface Succession {
  readonly successorJti: string | null;
  readonly succeededAt: Date | null;
  readonly expires: Date;
  readonly createdAt: Date;
}

/**
 * The table `login_tokens` (docs/spec/service.md#3.3). One row decides about a session: that of its first refresh token
 * (`jti = sid`). Revoking it ends every token of the session, also one that another replica inserts at the same time
 * (ADR 0005).
 */
@Injectable()
export class LoginTokens {
  private readonly shared: SharedStatements;
  private readonly seenAccounts = new SeenAccounts();

  constructor(
    database: Database,
    keys: KeyRing,
    private readonly clock: Clock,
  ) {
    this.shared = new SharedStatements(database, keys);
  }

  /** Checks a token at each use. Returns undefined when this user has no such token in this session. */
  async find(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return checkedToken(payload, await this.shared.find(payload.jti));
  }

  /** Like `find`, for a refresh with rotation. */
  async findForRotation(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return checkedToken(payload, await this.shared.findForRotation(payload.jti));
  }

  /**
   * Like `find`. The same statement reads the columns of the account that `GET /user/me` shows and that no earlier check of
   * this token has left. The first check after the user got own factors sends a second statement for the counts.
   */
  async findWithAccount(payload: TokenPayload): Promise<CheckedToken | undefined> {
    const { jti } = payload;
    const seen = this.seenAccounts.get(jti);
    let row = await this.shared.findWithAccount(jti, detailAfter(seen));
    if (seen?.ownFactors === false && hasOwnFactors(row)) {
      row = await this.shared.findWithAccount(jti, 'counts');
    }
    const found = checkedToken(payload, row);
    if (row === undefined || found === undefined) return undefined;
    const passwordSetAt = seen === undefined ? timeOrNull(row.password_set_at) : seen.passwordSetAt;
    const ownFactors = hasOwnFactors(row);
    if (found.live && seen?.ownFactors !== ownFactors) {
      const times = { now: this.clock.now(), expires: found.expires };
      this.seenAccounts.set(jti, { passwordSetAt, ownFactors }, times);
    }
    return { ...found, account: accountOf(row, passwordSetAt) };
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

  async succession(sql: Sql, jti: string): Promise<Succession | undefined> {
    const row = await sql.row<Record<'successor_jti' | 'succeeded_at' | 'expires' | 'created_at', unknown>>(
      'SELECT successor_jti, succeeded_at, expires, created_at FROM login_tokens WHERE jti = ?',
      [jti],
    );
    if (row === undefined) return undefined;
    return {
      successorJti: row.successor_jti as string | null,
      succeededAt: timeOrNull(row.succeeded_at),
      expires: timeOf(row.expires),
      createdAt: timeOf(row.created_at),
    };
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
    const live = page.filter((row) => Number(row.live) === 1 && row.jti !== own);
    const ended = await this.mark(
      sql,
      live.map(({ jti }) => jti),
    );
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
    return first + (await this.mark(sql, await this.unmarked(sql, 'user_identity = ?', [userId])));
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

const sessionUserOf = readerOf(sessionFields);

/** Returns undefined when the row does not belong to these claims. */
function checkedToken({ sid, sub, token_use }: TokenPayload, row: TokenRow | undefined): CheckedToken | undefined {
  if (row?.sid !== sid || row.uid !== sub || row.token_type !== token_use) return undefined;
  return {
    live: Number(row.live) === 1,
    credentialVersion: row.credential_version,
    expires: timeOf(row.expires),
    directorySeenAt: timeOrNull(row.directory_seen_at),
    crowded: Number(row.crowded) === 1,
    user: sessionUserOf(row),
  };
}

function accountOf(row: AccountRow, passwordSetAt: Date | null): SessionAccount {
  return {
    provider: row.provider,
    createdAt: timeOf(row.user_created_at),
    passwordSetAt,
    recoveryCodesLeft: Number(row.recovery_codes_left ?? 0),
    passkeys: Number(row.passkeys ?? 0),
  };
}

const hasOwnFactors = (row: AccountRow | undefined): boolean => Number(row?.own_factors) === 1;
