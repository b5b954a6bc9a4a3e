import { Injectable } from '@nestjs/common';
import DataLoader from 'dataloader';
import { Clock } from '../../shared/clock';
import { Database, type Transaction } from '../../platform/database/database';
import { charged } from '../../platform/database/database-waits';
import { type Sql, timeOf, timeOrNull } from '../../platform/database/sql';
import type { SessionUser } from '../current-session';
import type { TokenPayload, TokenUse } from '../token-payload';

export interface NewToken {
  readonly jti: string;
  readonly use: TokenUse;
  /** One reading of the clock for the row and the claims, so that the lifetime is what the settings say. */
  readonly createdAt: Date;
  readonly expires: Date;
}

/** What all tokens of a session have in common. */
export interface SessionKey {
  readonly userId: string;
  readonly sid: string;
  readonly credentialVersion: number;
}

export interface CheckedToken {
  /** False once the token, its session or everything of the user was revoked, or the user is not enabled. */
  readonly live: boolean;
  readonly user: SessionUser;
  readonly credentialVersion: number;
  readonly expires: Date;
}

export interface Succession {
  readonly successorJti: string | null;
  readonly succeededAt: Date | null;
  readonly expires: Date;
  readonly createdAt: Date;
}

/** Of whom a token says that its bearer is (§5.4): taken from the user's row each time that a token is issued. */
export type Scope = Pick<SessionUser, 'tenantId' | 'orgUnitId'>;

interface Insertion {
  readonly presented: TokenPayload;
  readonly token: NewToken;
}

interface CheckRow {
  jti: string;
  sid: string;
  token_type: TokenUse;
  uid: string;
  login_name: string;
  nickname: string | null;
  email: string | null;
  is_admin: number;
  mfa_type: 'email' | 'totp';
  tenant_id: string;
  org_unit_id: string | null;
  credential_version: number;
  expires: unknown;
  live: number;
}

/** A burst of more is inserted by several statements; each length is a prepared statement of its own. */
const maxInsertionsAtOnce = 8;

/** A burst of more is answered by several statements, on several connections. A power of two, see `checkRows`. */
const maxChecksAtOnce = 32;

/** A token, the first row of its session and its user: three primary keys. */
const checked = `login_tokens t
       JOIN login_tokens root ON root.jti = t.sid
       JOIN users u ON u.uid = t.user_identity`;
const presented = 't.jti = ? AND t.sid = ? AND t.user_identity = ? AND t.token_type = ?';
const live = `t.is_revoked = 0 AND root.is_revoked = 0 AND u.status = 1
               AND t.credential_version = u.credential_version`;
const insertion = `SELECT ?, ?, t.user_identity, 0, ?, t.sid, t.credential_version, ?
       FROM ${checked}
       WHERE ${presented} AND ${live} AND t.successor_jti IS NULL`;

/**
 * Rows of `login_tokens` (§3.3). A session is decided by one row, that of its first refresh token (`jti = sid`): revoking
 * it ends every token of the session, also one that another replica inserts at the same instant (ADR 0005).
 */
@Injectable()
export class LoginTokens {
  /** Nothing is kept: only what is asked for at one turn of the event loop shares a statement. */
  private readonly checks = new DataLoader<string, CheckRow | undefined>((jtis) => this.checkRows(jtis), {
    cache: false,
    maxBatchSize: maxChecksAtOnce,
    batchScheduleFn: setImmediate,
  });

  private readonly insertions = new DataLoader<Insertion, Scope | undefined>((all) => this.insertAll(all), {
    cache: false,
    maxBatchSize: maxInsertionsAtOnce,
    batchScheduleFn: setImmediate,
  });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * The check of every use, one statement over three primary keys, sent after the request came and shared with the requests
   * that came with it (ADR 0014). Undefined: there is no such row of this user.
   */
  async find({ jti, sid, sub, token_use }: TokenPayload): Promise<CheckedToken | undefined> {
    const row = await charged(this.checks.load(jti));
    if (row?.sid !== sid || row.uid !== sub || row.token_type !== token_use) return undefined;
    return {
      live: Number(row.live) === 1,
      credentialVersion: row.credential_version,
      expires: timeOf(row.expires),
      user: {
        uid: row.uid,
        loginName: row.login_name,
        nickname: row.nickname,
        email: row.email,
        isAdmin: Number(row.is_admin) === 1,
        mfaType: row.mfa_type,
        tenantId: row.tenant_id,
        orgUnitId: row.org_unit_id,
      },
    };
  }

  private async checkRows(jtis: readonly string[]): Promise<(CheckRow | undefined)[]> {
    // Few lengths, and so few prepared statements: the last one is asked for again until a power of two is full.
    const length = 2 ** Math.ceil(Math.log2(jtis.length));
    const asked = Array.from({ length }, (_, i) => jtis[Math.min(i, jtis.length - 1)] as string);
    const rows = await this.database.rows<CheckRow>(
      `SELECT t.jti, t.sid, t.token_type, t.credential_version, t.expires, u.uid, u.login_name, u.nickname, u.email,
              u.is_admin, u.mfa_type, u.tenant_id, u.org_unit_id, (${live}) AS live
       FROM ${checked}
       WHERE t.jti IN (${asked.map(() => '?').join(', ')})`,
      asked,
    );
    const found = new Map(rows.map((row) => [row.jti, row]));
    return jtis.map((jti) => found.get(jti));
  }

  async insert(sql: Sql, session: SessionKey, tokens: readonly NewToken[]): Promise<void> {
    const places = tokens.map(() => '(?, ?, ?, 0, ?, ?, ?, ?)').join(', ');
    await sql.affected(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
       VALUES ${places}`,
      tokens.flatMap((token) => [
        token.jti,
        token.use,
        session.userId,
        token.expires,
        session.sid,
        session.credentialVersion,
        token.createdAt,
      ]),
    );
  }

  /**
   * The check of a presented token and the row of the one it gives rise to, in one statement. Racers: a logout, a password
   * change, a disabling of the same instant. Before it they leave nothing to insert; after it the row is dead all the same,
   * because its session's first row and the user's version are asked at each use: no lock is needed at any isolation.
   * A token that has a successor, from a time when rotation was on, was used up then. The statement, and with it the
   * commit, is shared with the requests that came at the same turn of the event loop (ADR 0014).
   * @returns the user's scope, which is read afterwards; undefined when the presented token is not good.
   */
  insertFrom(presented: TokenPayload, token: NewToken): Promise<Scope | undefined> {
    return this.insertions.load({ presented, token });
  }

  private async insertAll(insertions: readonly Insertion[]): Promise<(Scope | undefined)[]> {
    const inserted = await this.database.affected(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
       ${insertions.map(() => insertion).join(' UNION ALL ')}`,
      insertions.flatMap(({ presented: { jti, sid, sub, token_use }, token }) => [
        ...[token.jti, token.use, token.expires, token.createdAt],
        ...[jti, sid, sub, token_use],
      ]),
    );
    if (inserted === 0) return insertions.map(() => undefined);
    const rows = await this.database.rows<Pick<CheckRow, 'jti' | 'tenant_id' | 'org_unit_id'>>(
      `SELECT t.jti, u.tenant_id, u.org_unit_id FROM login_tokens t JOIN users u ON u.uid = t.user_identity
       WHERE t.jti IN (${insertions.map(() => '?').join(', ')})`,
      insertions.map(({ token }) => token.jti),
    );
    const scopes = new Map(rows.map((row) => [row.jti, { tenantId: row.tenant_id, orgUnitId: row.org_unit_id }]));
    return insertions.map(({ token }) => scopes.get(token.jti));
  }

  /**
   * Racers: parallel rotations of one refresh token, on any replica. The first names its successor; the others match no
   * row and read who that was.
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
   * The first row (`jti = sid`) decides; the others follow so that the table says what is true (§4.7). Idempotent. One
   * statement: it takes the rows in the order of their jti, as `markRevoked` does. Taking the first row before the others
   * deadlocked with a password change of the same instant.
   */
  async revokeSession(sql: Sql, sid: string): Promise<void> {
    await sql.affected('UPDATE login_tokens SET is_revoked = 1 WHERE sid = ? AND is_revoked = 0', [sid]);
  }

  /** For the table's sake: what ends the tokens is `users.credential_version`, moved in the same unit. */
  async markRevoked(sql: Sql, userId: string): Promise<number> {
    return sql.affected('UPDATE login_tokens SET is_revoked = 1 WHERE user_identity = ? AND is_revoked = 0', [userId]);
  }
}
