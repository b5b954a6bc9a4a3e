import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { rootTenant } from '../platform/settings/system-settings';
import { lockOut, notFoundForCaller, notPermitted } from '../shared/errors/error-catalogue';
import { AccountProblem } from '../users/user-accounts';
import { administrates } from '../users/rights';
import { TenantRepository } from '../users/tenant.repository';
import { type User, userStatus } from '../users/user.entity';
import { UserLocks } from '../users/user-locks';
import { UsersRepository } from '../users/users.repository';
import { within } from './admin-scope';
import { type Authority, rulesAdministrators } from './authority';

/** The user that an administrator reads or changes. A deleted user, and one of another tenant, is USER_404001. */
@Injectable()
export class TargetUsers {
  constructor(
    private readonly users: UsersRepository,
    private readonly locks: UserLocks,
    private readonly tenants: TenantRepository,
  ) {}

  /** @throws AccountProblem USER_404001 */
  async find(by: Authority, uid: string, tx?: Transaction): Promise<User> {
    const user = await this.users.findWithin(within(by.scope), uid, tx);
    if (user === null) throw new AccountProblem(`there is no user ${JSON.stringify(uid)}`, notFoundForCaller);
    return user;
  }

  /**
   * Locks the user until the transaction ends, and reads the row.
   * Race: changes of one user by several administrators, and the user's own actions. They run one after the other.
   * @throws AccountProblem USER_404001; AUTH_403001 for an administrator or a holder of a role who is not the caller's to change
   */
  async lock(tx: Transaction, by: Authority, uid: string): Promise<User> {
    await this.locks.holdWithin(tx, within(by.scope), uid);
    const user = await this.find(by, uid, tx);
    if (administrates(user) && !rulesAdministrators(by)) assertProvisioned(by, user);
    return user;
  }

  /** @throws AccountProblem USER_409002 when the caller would end the own access */
  assertNotOneself({ actor }: Authority, uid: string): void {
    if (actor?.id === uid) throw new AccountProblem('nobody takes the own access to the administration', lockOut);
  }

  /**
   * Called after a change of this user, in its transaction.
   * Race: parallel changes that each leave another administrator as the last one, on any replica. The row of the root
   * tenant is locked, so the second change counts after the commit of the first one, and is refused.
   * @param before the user as read by `lock`
   * @throws AccountProblem USER_409002 when no enabled administrator of the root tenant is left
   */
  async assertAdministratorLeft(tx: Transaction, before: User): Promise<void> {
    if (!before.isAdmin || before.tenantId !== rootTenant || before.status !== userStatus.enabled) return;
    await this.tenants.holdRoot(tx);
    if (await this.users.hasAdministrator(tx, rootTenant)) return;
    throw new AccountProblem('the root tenant would have no enabled administrator', lockOut);
  }
}

/** Whoever leaves a company also leaves the administration of its tenant, but nobody else's. @throws AccountProblem AUTH_403001 */
function assertProvisioned({ provisioning }: Authority, { tenantId }: User): void {
  if (provisioning && tenantId !== rootTenant) return;
  throw new AccountProblem(
    'only administrators of the root tenant change administrators and holders of a role',
    notPermitted,
  );
}
