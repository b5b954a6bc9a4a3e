import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { accessTokenRevoked, notFoundForCaller } from '../shared/errors/error-catalogue';
import { isUuid } from '../shared/uuid';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import { type SqlValue, timeOf, timeOrNull } from '../platform/database/sql';
import { UserLocks } from '../users/user-locks';
import { UsersRepository } from '../users/users.repository';
import type { CurrentSession } from './current-session';
import { LoginTokens } from './persistence/login-tokens';

export interface UserSession {
  readonly sid: string;
  readonly createdAt: Date;
  /** The last refresh, or else the login. */
  readonly lastUsedAt: Date;
  /** Null for a session of a version that did not store the client. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Empty for a session of a version that did not store it. */
  readonly amr: readonly string[];
}

interface Row extends Pick<UserSession, 'sid' | 'ip'> {
  readonly created_at: unknown;
  readonly user_agent: string | null;
  readonly amr: string | null;
  readonly folded: unknown;
  readonly newest: unknown;
}

/** The most sessions of one list: the newest ones. A person has a few. Only a program that never logs out has more. */
const maxListed = 1000;

/** The first row of a session that has not ended. The values are: user, now, credential version of the user. */
const live = `s.user_identity = ? AND s.token_type = 'refresh' AND s.jti = s.sid AND s.is_revoked = 0 AND s.expires > ?
         AND s.credential_version = ?`;

/** The sessions of one user, and their end by the user (docs/spec/extensions.md#sessions). */
@Injectable()
export class UserSessions {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly users: UsersRepository,
    private readonly locks: UserLocks,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the sessions that have not ended, the newest first. Every refresh inserts an access token, so the newest row
   * of a session tells when it was last used, and a refresh needs no further write (ADR 0014).
   */
  async list(userId: string): Promise<UserSession[]> {
    const rows = await this.database.rows<Row>(
      `SELECT s.sid, s.created_at, s.ip, s.user_agent, s.amr, s.last_used_at AS folded,
              (SELECT t.created_at FROM login_tokens t WHERE t.sid = s.jti ORDER BY t.created_at DESC LIMIT 1) AS newest
       FROM login_tokens s WHERE ${live} ORDER BY s.created_at DESC, s.jti LIMIT ${maxListed}`,
      await this.liveOf(userId),
    );
    return rows.map((row) => ({
      sid: row.sid,
      createdAt: timeOf(row.created_at),
      lastUsedAt: later(timeOf(row.newest), timeOrNull(row.folded)),
      ip: row.ip,
      userAgent: row.user_agent,
      amr: row.amr?.split(' ') ?? [],
    }));
  }

  /** Counts the sessions that have not ended. */
  async count(userId: string): Promise<number> {
    const row = await this.database.row<{ n: number }>(
      `SELECT COUNT(*) AS n FROM login_tokens s WHERE ${live}`,
      await this.liveOf(userId),
    );
    return Number(row?.n);
  }

  /**
   * Ends one session of the user, which may be the caller's own.
   * @throws DomainError USER_404001 when this user has no such session; AUTH_401004 when the caller's has ended
   */
  async end(own: CurrentSession, sid: string, client: ClientInfo): Promise<void> {
    // MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it.
    if (!isUuid(sid)) throw new DomainError(notFoundForCaller);
    const userId = own.payload.sub;
    await this.database.transaction(async (tx) => {
      await this.hold(tx, own);
      const found = await tx.row(`SELECT 1 AS one FROM login_tokens s WHERE ${live} AND s.jti = ?`, [
        userId,
        this.clock.now(),
        own.credentialVersion,
        sid,
      ]);
      // A logout may end it between the two statements.
      const ended = found !== undefined && (await this.tokens.revokeSession(tx, sid));
      if (!ended) throw new DomainError(notFoundForCaller);
      await this.audit.record(tx, 'SESSION_CLOSED', { userId, client, detail: { sid, by: own.payload.sid } });
    });
  }

  /**
   * Ends every session of the user but the caller's, a thousand in one transaction. A person has a few.
   * @returns how many
   */
  async endOthers(own: CurrentSession, client: ClientInfo): Promise<number> {
    let ended = 0;
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await this.endPage(own, after, client);
      ended += page.ended;
      after = page.last;
    }
    return ended;
  }

  private endPage(own: CurrentSession, after: string, client: ClientInfo) {
    const { sub: userId, sid } = own.payload;
    return this.database.transaction(async (tx) => {
      await this.hold(tx, own);
      const { credentialVersion } = own;
      const page = await this.tokens.revokeOthers(tx, { userId, sid, credentialVersion }, after);
      await this.audit.record(tx, 'OTHER_SESSIONS_CLOSED', { userId, client, detail: { ended: page.ended, by: sid } });
      return page;
    });
  }

  /**
   * Locks the row of the user, and then the first row of the session, for a transaction in which a session acts on its user.
   * Races with the end of this session, and with another session of the user that acts at the same time. The first
   * commit wins: a session that has ended by then acts no more. So of two sessions that end each other, one stays.
   * @returns the login, and when the session expires
   * @throws DomainError AUTH_401004 when the session or the credential version has ended, or the user is not enabled
   */
  async hold(
    tx: Transaction,
    { payload: { sub, sid }, credentialVersion }: CurrentSession,
  ): Promise<{ startedAt: Date; end: Date }> {
    const unchanged = await this.locks.holdUnchanged(tx, { uid: sub, credentialVersion });
    if (!unchanged) throw new DomainError(accessTokenRevoked);
    const live = await tx.won(
      `UPDATE login_tokens SET is_revoked = 0
       WHERE jti = ? AND user_identity = ? AND is_revoked = 0 AND credential_version = ? AND expires > ?`,
      [sid, sub, credentialVersion, this.clock.now()],
    );
    if (!live) throw new DomainError(accessTokenRevoked);
    const own = await tx.row<{ created_at: unknown; expires: unknown }>(
      'SELECT created_at, expires FROM login_tokens WHERE jti = ?',
      [sid],
    );
    if (own === undefined) throw new DomainError(accessTokenRevoked);
    return { startedAt: timeOf(own.created_at), end: timeOf(own.expires) };
  }

  /** The values of `live`. A user who does not exist has no session. */
  private async liveOf(userId: string): Promise<SqlValue[]> {
    const version = await this.users.credentialVersion(this.database, userId);
    return [userId, this.clock.now(), version ?? null];
  }
}

function later(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}
