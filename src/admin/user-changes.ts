import { Injectable } from '@nestjs/common';
import { type AccountChange, Mailer } from '../mail/mailer';
import type { Transaction } from '../platform/database/database';
import { rootTenant } from '../platform/settings/system-settings';
import { notPermitted } from '../shared/errors/error-catalogue';
import { usableAddress } from '../shared/mail-address';
import { PasswordChangeRequests } from '../password-reset/password-change-requests';
import { PendingLogins } from '../sessions/pending-login.repository';
import { TokenRevoker } from '../sessions/token-revoker';
import { AccountProblem, UserAccounts, type UserChange } from '../users/user-accounts';
import { changedFields } from '../users/user-fields';
import { keyOf } from '../users/user-values';
import { wireNameOf } from '../users/user-wire';
import { type User, userStatus } from '../users/user.entity';
import { AdminChanges, type Change } from './admin-changes';
import { type Authority, foreignChange, rulesAdministrators } from './authority';
import { TargetUsers } from './target-users';

/** Changes of an account by an administrator or an operator (docs/spec/extensions.md#d). */
@Injectable()
export class UserChanges {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly accounts: UserAccounts,
    private readonly requests: PasswordChangeRequests,
    private readonly pendingLogins: PendingLogins,
    private readonly revoker: TokenRevoker,
    private readonly mailer: Mailer,
  ) {}

  /**
   * A new status, tenant or right ends everything that was issued to the user. A new address ends the links and codes
   * that were mailed to the former one.
   * @throws AccountProblem
   */
  async change(by: Authority, uid: string, wanted: UserChange): Promise<void> {
    if (wanted.email === undefined) return this.changes.make(by, (change) => this.apply(change, by, uid, wanted));
    // The gate row of a user stays for ever, so it is not made for a user who does not exist for the caller.
    await this.targets.find(by, uid);
    return this.changes.makeWithLinks(by, uid, async (change) => {
      await this.apply(change, by, uid, wanted);
      await this.requests.closeAll(change.tx, uid);
    });
  }

  private async apply(change: Change, by: Authority, uid: string, wanted: UserChange): Promise<void> {
    const { tx } = change;
    if (losesAccess(wanted)) this.targets.assertNotOneself(by, uid);
    const user = await this.targets.lock(tx, by, uid);
    assertPermitted(by, wanted);
    await this.accounts.change(tx, user, wanted);
    await this.endWhatWasIssued(tx, user, wanted);
    await this.targets.assertAdministratorLeft(tx, user);
    await this.tellOwner(tx, by, user, wanted);
    await record(change, user, wanted);
  }

  /**
   * One mail for each change that makes a difference. `user` was read under the lock of the row, so of two administrators
   * who make the same change, the second one makes no difference. A change of the address is told to both addresses, the
   * others to the former one: whoever changes the address could otherwise hide them.
   */
  private async tellOwner(tx: Transaction, by: Authority, user: User, wanted: UserChange): Promise<void> {
    const owner = { ...user, email: usableAddress(user.email) ?? wanted.email ?? null };
    const tell = (change: AccountChange) => this.mailer.queueAccountChanged(tx, owner, foreignChange(change, by));
    const { email, status = user.status, isAdmin = user.isAdmin } = wanted;
    if (email !== undefined && keyOf(email) !== user.emailKey) {
      await this.mailer.queueEmailChanged(tx, user, email, foreignChange('email', by));
    }
    const [enabled, wasEnabled] = [status === userStatus.enabled, user.status === userStatus.enabled];
    if (enabled !== wasEnabled) await tell(enabled ? 'enabled' : 'disabled');
    if (isAdmin !== user.isAdmin) await tell(isAdmin ? 'adminGiven' : 'adminTaken');
    if (differs(user, wanted, 'mfaType')) await tell('secondFactorChanged');
  }

  private async endWhatWasIssued(tx: Transaction, user: User, wanted: UserChange): Promise<void> {
    const scoped = differs(user, wanted, 'tenantId') || differs(user, wanted, 'isAdmin');
    const judged = differs(user, wanted, 'status') || (wanted.status ?? userStatus.enabled) !== userStatus.enabled;
    if (scoped || judged) {
      await this.revoker.revokeAll(tx, user.uid);
      return;
    }
    if (wanted.email !== undefined) await this.pendingLogins.close(tx, user.uid);
    if (differs(user, wanted, 'mfaType')) await this.revoker.endTrustedDevices(tx, user.uid);
  }
}

/** Whether an administrator of the root tenant could no longer administrate everything after this change. */
function losesAccess({ isAdmin, status, tenantId }: UserChange): boolean {
  return (
    isAdmin === false ||
    (status ?? userStatus.enabled) !== userStatus.enabled ||
    (tenantId ?? rootTenant) !== rootTenant
  );
}

/** @throws AccountProblem AUTH_403001 */
function assertPermitted(by: Authority, { isAdmin, tenantId }: UserChange): void {
  if (rulesAdministrators(by) || (isAdmin === undefined && tenantId === undefined)) return;
  throw new AccountProblem('only administrators of the root tenant change rights and tenants', notPermitted);
}

const differs = (user: User, wanted: UserChange, field: keyof UserChange): boolean =>
  wanted[field] !== undefined && wanted[field] !== user[field];

async function record({ record: write }: Change, user: User, wanted: UserChange): Promise<void> {
  const { status, isAdmin, mfaType, ...others } = wanted;
  const userId = user.uid;
  if (status !== undefined) await write('USER_STATUS_CHANGED', { userId, detail: { from: user.status, to: status } });
  if (isAdmin !== undefined) await write('USER_ADMIN_CHANGED', { userId, detail: { is_admin: isAdmin } });
  if (mfaType !== undefined) await write('MFA_TYPE_CHANGED', { userId, detail: { to: mfaType } });
  const fields = changedFields.filter((field) => field in others && wanted[field] !== undefined);
  if (fields.length === 0) return;
  const moved: Record<string, string> =
    wanted.tenantId === undefined ? {} : { from_tenant: user.tenantId, to_tenant: wanted.tenantId };
  const changed = fields.map(wireNameOf).join(' ');
  await write('USER_CHANGED', { userId, detail: { fields: changed, ...moved } });
}
