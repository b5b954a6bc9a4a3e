import { Injectable } from '@nestjs/common';
import { IdentityProviders } from '../identity-providers/identity-providers.repository';
import { Offboardings } from '../offboarding/offboardings';
import type { Gated } from '../platform/database/cooldown.repository';
import type { Transaction } from '../platform/database/database';
import { rootTenant } from '../platform/settings/system-settings';
import { notPermitted } from '../shared/errors/error-catalogue';
import { identityKey } from '../shared/identity-key';
import { usableAddress } from '../shared/mail-address';
import { PasswordChangeRequests } from '../password-reset/password-change-requests';
import { AccountProblem, UserAccounts, type UserChange } from '../users/user-accounts';
import { changedFields } from '../users/user-fields';
import { administrates } from '../users/rights';
import { wireNameOf } from '../users/user-wire';
import { type User, userStatus } from '../users/user.entity';
import { AdminChanges, type Change } from './admin-changes';
import { type Authority, rulesAdministrators } from './authority';
import { assertMayIdentify } from './provider-of-user';
import { TargetUsers } from './target-users';
import { differs, UserChangeEffects } from './user-change-effects';

/** What a system that provisions users changes: it also knows the name by which the person signs in. */
export interface ProvisionedChange extends UserChange {
  readonly loginName?: string;
}

/** Changes of an account by an administrator, an operator or a client of SCIM (docs/spec/extensions.md#d). */
@Injectable()
export class UserChanges {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly accounts: UserAccounts,
    private readonly requests: PasswordChangeRequests,
    private readonly offboardings: Offboardings,
    private readonly providers: IdentityProviders,
    private readonly effects: UserChangeEffects,
  ) {}

  /**
   * A new status, tenant or right ends everything that was issued to the user. A new address ends the links and codes
   * that were mailed to the former one. Another kind of second factor ends the pending logins and the trusted devices.
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

  /**
   * Makes the change that follows from the user as the transaction sees it: nobody else changes the user until it ends. A status
   * that is not enabled means that the person leaves (docs/spec/extensions.md#offboarding).
   * @param wantedOf the change, or undefined for none; what it throws rolls back
   * @param afterwards called in the same transaction, with the user as changed, when the change enables the user, or brings an address
   *   to one who had none
   * @throws AccountProblem
   */
  async provision(
    by: Authority,
    uid: string,
    wantedOf: (user: User, tx: Transaction) => Promise<ProvisionedChange | undefined>,
    afterwards: (change: Change<Gated<'reset'>>, user: User) => Promise<void>,
  ): Promise<void> {
    await this.targets.find(by, uid);
    const nothing = new Error('nothing to change');
    try {
      await this.changes.makeWithLinks(by, uid, async (change) => {
        const user = await this.targets.lock(change.tx, by, uid);
        const wanted = await wantedOf(user, change.tx);
        if (wanted === undefined) throw nothing;
        const { status, ...others } = wanted;
        const leaves = status !== undefined && status !== userStatus.enabled;
        // An address or a name of an administrator leads to the account: who provisions people would be one of them.
        if (administrates(user) && !(leaves && Object.keys(others).length === 0)) {
          throw new AccountProblem(
            'provisioning changes no administrators and no holders of a role, it only lets them leave',
            notPermitted,
          );
        }
        // First, so that the receipt counts the links and logins that a new address would end.
        if (leaves) {
          await this.offboardings.begin(change.tx, user, { via: 'scim', actor: by.actor });
          change.recorded();
        }
        await this.applyTo(change, by, user, leaves ? others : wanted);
        if (wanted.email !== undefined) await this.requests.closeAll(change.tx, uid);
        const isFirstAddress = wanted.email !== undefined && usableAddress(user.email) === null;
        if (status === userStatus.enabled || isFirstAddress) {
          await afterwards(change, await this.targets.find(by, uid, change.tx));
        }
      });
    } catch (error) {
      if (error !== nothing) throw error;
    }
  }

  private async apply(change: Change, by: Authority, uid: string, wanted: UserChange): Promise<void> {
    if (losesAccess(wanted)) this.targets.assertNotOneself(by, uid);
    const user = await this.targets.lock(change.tx, by, uid);
    assertPermitted(by, wanted);
    if (differs(user, wanted, 'externalId')) await assertMayIdentify(change.tx, this.providers, by, user);
    await this.applyTo(change, by, user, wanted);
  }

  private async applyTo(change: Change, by: Authority, user: User, wanted: ProvisionedChange): Promise<void> {
    const { tx } = change;
    await this.accounts.change(tx, user, wanted);
    if (wanted.loginName !== undefined) {
      if (identityKey(wanted.loginName) !== user.loginNameKey)
        await this.accounts.assertNoAddressOfOthers(tx, wanted.loginName, user.tenantId);
      await this.accounts.rename(tx, user, wanted.loginName);
    }
    if (wanted.status === userStatus.enabled) await this.offboardings.restored(tx, user.uid, by.actor);
    await this.effects.end(change, user, wanted);
    await this.targets.assertAdministratorLeft(tx, user);
    await this.effects.tellOwner(tx, by, user, wanted);
    await record(change, user, wanted);
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
function assertPermitted(by: Authority, { isAdmin, role, tenantId }: UserChange): void {
  if (rulesAdministrators(by) || [isAdmin, role, tenantId].every((value) => value === undefined)) return;
  throw new AccountProblem('only administrators of the root tenant change rights, roles and tenants', notPermitted);
}

async function record({ record: write }: Change, user: User, wanted: ProvisionedChange): Promise<void> {
  const { status, isAdmin, role, mfaType, ...others } = wanted;
  const userId = user.uid;
  if (status !== undefined) await write('USER_STATUS_CHANGED', { userId, detail: { from: user.status, to: status } });
  if (isAdmin !== undefined) await write('USER_ADMIN_CHANGED', { userId, detail: { is_admin: isAdmin } });
  if (role !== undefined) await write('USER_ROLE_CHANGED', { userId, detail: { role: role ?? 'none' } });
  if (mfaType !== undefined) await write('MFA_TYPE_CHANGED', { userId, detail: { to: mfaType } });
  const given = [...changedFields, 'loginName'] as const;
  const fields = given.filter((field) => field in others && wanted[field] !== undefined);
  if (fields.length === 0) return;
  const moved: Record<string, string> =
    wanted.tenantId === undefined ? {} : { from_tenant: user.tenantId, to_tenant: wanted.tenantId };
  const changed = fields.map(wireNameOf).join(' ');
  await write('USER_CHANGED', { userId, detail: { fields: changed, ...moved } });
}
