import { Injectable } from '@nestjs/common';
import { LoginNames } from '../audit/login-names';
import { EventOutbox } from '../events/event-outbox';
import { MailOutbox } from '../mail/mail-outbox';
import type { Transaction } from '../platform/database/database';
import { TokenRevoker } from '../sessions/token-revoker';
import { tombstoneName, UserTombstones } from '../users/user-tombstones';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { TargetUsers } from './target-users';

/** Tables with rows of one user that hold secrets or identify the user. The first column is the one of the user. */
const erased = [
  ['user_id', 'totp_secrets'],
  ['user_id', 'recovery_codes'],
  ['user_id', 'passkeys'],
  ['user_id', 'trusted_devices'],
  ['user_id', 'pending_logins'],
  ['user_id', 'user_change_password_request'],
  ['user_id', 'user_change_pwd_logs'],
  ['user_id', 'password_expiry_warnings'],
  ['user_id', 'known_browsers'],
  ['user_id', 'user_tenants'],
  ['user_id', 'user_org_units'],
] as const;

/**
 * Deletes a user: erases what identifies the user, and keeps the row as a tombstone, so that references hold
 * (docs/spec/extensions.md#d, ADR 0025).
 */
@Injectable()
export class UserErasure {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly tombstones: UserTombstones,
    private readonly revoker: TokenRevoker,
    private readonly loginNames: LoginNames,
    private readonly mails: MailOutbox,
    private readonly events: EventOutbox,
  ) {}

  /** @throws AccountProblem USER_404001, AUTH_403001, USER_409002 */
  async erase(by: Authority, uid: string): Promise<void> {
    this.targets.assertNotOneself(by, uid);
    await this.targets.find(by, uid);
    const left = await this.changes.makeWithLinks(by, uid, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      await this.revoker.revokeAll(tx, uid);
      await this.tombstones.bury(tx, uid);
      await this.targets.assertAdministratorLeft(tx, user);
      await this.eraseRows(tx, uid);
      await record('USER_DELETED', { userId: uid });
      return this.loginNames.replaceSome(tx, uid, tombstoneName(uid));
    });
    // A user with very many logins: `purge` finishes what a crash leaves here.
    if (left) await this.loginNames.replaceAll(uid, tombstoneName(uid));
    await this.events.forgetUser(uid);
  }

  private async eraseRows(tx: Transaction, uid: string): Promise<void> {
    for (const [column, table] of erased) await tx.affected(`DELETE FROM ${table} WHERE ${column} = ?`, [uid]);
    await this.mails.forgetUser(tx, uid);
    // The rows stay until they expire, so that their tokens are answered as revoked.
    await tx.affected(
      `UPDATE login_tokens SET ip = NULL, user_agent = NULL
       WHERE user_identity = ? AND token_type = 'refresh' AND jti = sid`,
      [uid],
    );
  }
}
