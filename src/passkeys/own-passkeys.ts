import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { notFoundForCaller } from '../shared/errors/error-catalogue';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import type { ChangedOwner } from '../mail/mailer';
import type { CurrentSession } from '../sessions/current-session';
import { UserSessions } from '../sessions/user-sessions';
import { PasskeyNotices, type PasskeyOwner } from './registration/passkey-notices';
import type { Passkey } from './persistence/passkey.entity';
import { PasskeyRows } from './persistence/passkey.repository';

/** The passkeys of one user (docs/spec/extensions.md#b). A passkey ends only when it is removed here. */
@Injectable()
export class OwnPasskeys {
  constructor(
    private readonly database: Database,
    private readonly rows: PasskeyRows,
    private readonly sessions: UserSessions,
    private readonly notices: PasskeyNotices,
    private readonly audit: AuditTrail,
  ) {}

  /** The newest first. */
  list(userId: string): Promise<Passkey[]> {
    return this.rows.list(userId);
  }

  /**
   * Races with the end of the session. If the session ends first, nothing changes.
   * @throws DomainError USER_404001 when this user has no such passkey, AUTH_401004 when the session has ended
   */
  async rename(session: CurrentSession, id: string, name: string, client: ClientInfo): Promise<Passkey> {
    const { user } = session;
    await this.database.transaction(async (tx) => {
      await this.sessions.hold(tx, session);
      if (!(await this.rows.rename(tx, user.uid, id, name))) throw new DomainError(notFoundForCaller);
      await this.audit.record(tx, 'PASSKEY_RENAMED', { userId: user.uid, client, detail: { passkey: id } });
    });
    const renamed = await this.rows.find(user.uid, id);
    if (renamed === null) throw new DomainError(notFoundForCaller);
    return renamed;
  }

  /** Races and refuses like `rename`: the owner's password change ends a thief's session and keeps the passkeys. */
  async remove(session: CurrentSession, id: string, client: ClientInfo): Promise<void> {
    const { user } = session;
    await this.database.transaction(async (tx) => {
      await this.sessions.hold(tx, session);
      if (!(await this.rows.remove(tx, user.uid, id))) throw new DomainError(notFoundForCaller);
      await this.notices.removed(tx, user, id, client);
    });
  }

  /**
   * Removes a passkey for an administrator, and tells the owner. The caller has locked the user, and writes the audit row.
   * Race: a login with this passkey, and other removals, on any replica. If the removal commits first, the login is
   * PASSKEY_401001. If the login has recorded its use first, it gets its session. Of parallel removals, one gets true.
   */
  async removeFor(tx: Transaction, owner: PasskeyOwner, id: string, client: ClientInfo): Promise<boolean> {
    const removed = await this.rows.remove(tx, owner.uid, id);
    if (removed) await this.notices.mailRemovedByAdministrator(tx, owner, client);
    return removed;
  }

  /** For a user who signs in elsewhere from now on. The caller holds the row of the user, and tells the owner. */
  removeAllOf(tx: Transaction, userId: string): Promise<number> {
    return this.rows.removeAll(tx, userId);
  }

  /** Removes all passkeys of a user for an operator, and tells the owner. @returns how many it has removed */
  revokeAll(owner: ChangedOwner): Promise<number> {
    const { uid: userId } = owner;
    return this.database.transaction(async (tx) => {
      const revoked = await this.rows.removeAll(tx, userId);
      await this.audit.record(tx, 'PASSKEYS_REVOKED', { userId, detail: { revoked } });
      if (revoked > 0) await this.notices.mailAllRemoved(tx, owner);
      return revoked;
    });
  }
}
