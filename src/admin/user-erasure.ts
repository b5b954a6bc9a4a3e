import { Injectable } from '@nestjs/common';
import { UserTraces } from '../platform/database/user-traces';
import { TokenRevoker } from '../sessions/token-revoker';
import { UserTombstones } from '../users/user-tombstones';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { TargetUsers } from './target-users';

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
    private readonly traces: UserTraces,
  ) {}

  /** @throws AccountProblem USER_404001, AUTH_403001, USER_409002 */
  async erase(by: Authority, uid: string): Promise<void> {
    this.targets.assertNotOneself(by, uid);
    await this.targets.find(by, uid);
    await this.changes.makeWithLinks(by, uid, async ({ tx, record }) => {
      const user = await this.targets.lock(tx, by, uid);
      await this.revoker.revokeAll(tx, uid);
      await this.tombstones.bury(tx, uid);
      await this.targets.assertAdministratorLeft(tx, user);
      await this.traces.erase(tx, uid);
      await record('USER_DELETED', { userId: uid });
    });
    // `purge` finishes what a crash leaves here.
    await this.traces.settle(uid);
  }
}
