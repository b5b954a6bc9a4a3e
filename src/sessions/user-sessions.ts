import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { accessTokenRevoked, notFoundForCaller } from '../shared/errors/error-catalogue';
import { isUuid } from '../shared/uuid';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import { UserLocks, type VersionedUser } from '../users/user-locks';
import { UsersRepository } from '../users/users.repository';
import type { CurrentSession } from './current-session';
import { PendingLogins } from './pending-login.repository';
import { LoginTokens } from './persistence/login-token.repository';
import { SessionRows, type UserSession } from './persistence/session-rows';

export type { UserSession } from './persistence/session-rows';

/** The sessions of one user, and their end by the user (docs/spec/extensions.md#sessions). */
@Injectable()
export class UserSessions {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly rows: SessionRows,
    private readonly users: UsersRepository,
    private readonly locks: UserLocks,
    private readonly pendingLogins: PendingLogins,
    private readonly audit: AuditTrail,
  ) {}

  /** The sessions that have not ended, the newest first. A user who does not exist has none. */
  async list(userId: string): Promise<UserSession[]> {
    const version = await this.users.credentialVersion(this.database, userId);
    return version === undefined ? [] : this.rows.list(userId, version);
  }

  /** Counts the sessions that have not ended. */
  async count(userId: string): Promise<number> {
    const version = await this.users.credentialVersion(this.database, userId);
    return version === undefined ? 0 : this.tokens.countLive(userId, version);
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
      const found = await this.tokens.findLive({ userId, sid, credentialVersion: own.credentialVersion }, tx);
      // A logout may end it between the two statements.
      const ended = found !== null && (await this.tokens.revokeSession(tx, sid));
      if (!ended) throw new DomainError(notFoundForCaller);
      await this.audit.record(tx, 'SESSION_CLOSED', { userId, client, detail: { sid, by: own.payload.sid } });
    });
  }

  /**
   * Ends one session of a user for an administrator, who writes the audit row. The transaction must hold the row of the user.
   * Races with a logout, and with the end by another administrator, on any replica: of them, one gets true.
   * @returns false when the user has no such session that has not ended
   */
  async endFor(tx: Transaction, { uid: userId, credentialVersion }: VersionedUser, sid: string): Promise<boolean> {
    if (!isUuid(sid)) return false;
    const found = await this.tokens.findLive({ userId, sid, credentialVersion }, tx);
    return found !== null && (await this.tokens.revokeSession(tx, sid));
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
   * Ends sessions of the user, because somebody else has said that they are over: the identity provider. Logins that wait for a
   * second factor are closed as well. What proves who the user is stays, also trusted devices.
   * Of transactions that end several sessions of a user, each holds the row of the user first (`LoginTokens.revokeSession`).
   * @param find tells which, when no other transaction of the user is under way
   * @returns how many
   */
  async endByOthers(tx: Transaction, userId: string, find: () => Promise<readonly string[] | 'all'>): Promise<number> {
    if (!(await this.locks.holdWithin(tx, {}, userId))) return 0;
    await this.pendingLogins.close(tx, userId);
    const which = await find();
    if (which === 'all') return this.endAll(tx, userId);
    let ended = 0;
    for (const sid of which) if (await this.tokens.revokeSession(tx, sid)) ended += 1;
    return ended;
  }

  private async endAll(tx: Transaction, userId: string): Promise<number> {
    const credentialVersion = (await this.users.credentialVersion(tx, userId)) ?? 0;
    let ended = 0;
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await this.tokens.revokeOthers(tx, { userId, sid: '', credentialVersion }, after);
      ended += page.ended;
      after = page.last;
    }
    return ended;
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
    const session = { userId: sub, sid, credentialVersion };
    const held = (await this.tokens.hold(tx, session)) ? await this.tokens.findRow(sid, tx) : null;
    if (held === null) throw new DomainError(accessTokenRevoked);
    return { startedAt: held.createdAt, end: held.expires };
  }
}
