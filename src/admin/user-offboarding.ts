import { Injectable } from '@nestjs/common';
import { type OffboardingReceipt, OffboardingReceipts } from '../offboarding/offboarding-receipts';
import { type OffboardingOrigin, Offboardings } from '../offboarding/offboardings';
import type { Gated } from '../platform/database/cooldown.repository';
import type { Transaction } from '../platform/database/database';
import type { User } from '../users/user.entity';
import { AdminChanges, type Change } from './admin-changes';
import type { Authority } from './authority';
import { TargetUsers } from './target-users';

export type { OffboardingReceipt } from '../offboarding/offboarding-receipts';

/** Somebody leaves, in the hands of an administrator or an operator (docs/spec/extensions.md#offboarding, ADR 0039). */
@Injectable()
export class UserOffboarding {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly offboardings: Offboardings,
    private readonly receipts: OffboardingReceipts,
  ) {}

  /**
   * A second call for somebody who has left changes nothing.
   * @param mayLeave throws when the user has changed in a way that the caller does not want. It gets the row as it is under the
   *   lock, and is not asked about somebody who has left
   * @returns the receipts of the user, the newest first
   * @throws AccountProblem USER_404001, AUTH_403001, USER_409002
   */
  async offboard(
    by: Authority,
    uid: string,
    via: OffboardingOrigin,
    mayLeave?: (user: User, tx: Transaction) => Promise<void>,
  ): Promise<readonly OffboardingReceipt[]> {
    this.targets.assertNotOneself(by, uid);
    // The gate row of a user stays for ever, so it is not made for a user who does not exist for the caller.
    await this.targets.find(by, uid);
    await this.changes.makeWithLinks(by, uid, async (change) => {
      const user = mayLeave && (await this.targets.lock(change.tx, by, uid));
      if (user && !(await this.offboardings.haveEnded(user, change.tx))) await mayLeave(user, change.tx);
      await this.offboardIn(change, by, uid, via);
    });
    return this.receipts.of(uid);
  }

  /** For a caller that has a transaction: other changes of the user may come with it. @throws AccountProblem as `offboard` */
  async offboardIn(change: Change<Gated<'reset'>>, by: Authority, uid: string, via: OffboardingOrigin): Promise<void> {
    this.targets.assertNotOneself(by, uid);
    const user = await this.targets.lock(change.tx, by, uid);
    await this.offboardings.begin(change.tx, user, { via, actor: by.actor });
    await this.targets.assertAdministratorLeft(change.tx, user);
    change.recorded();
  }

  /** The newest first. @throws AccountProblem USER_404001 */
  async history(by: Authority, uid: string): Promise<readonly OffboardingReceipt[]> {
    await this.targets.find(by, uid);
    return this.receipts.of(uid);
  }
}
