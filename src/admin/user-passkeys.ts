import { Injectable } from '@nestjs/common';
import { nameForMail } from '../mail/mailer';
import { OwnPasskeys } from '../passkeys/own-passkeys';
import { notFoundForCaller } from '../shared/errors/error-catalogue';
import { AccountProblem } from '../users/user-accounts';
import { AdminChanges } from './admin-changes';
import type { Administrator, Authority } from './authority';
import { TargetUsers } from './target-users';

/** What administrators see of a passkey. The name is that which the owner chose. */
export interface UserPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly backedUp: boolean;
}

/** The passkeys of one user, for administrators: before a promotion, and after a loss. Also with `PASSKEYS=off`. */
@Injectable()
export class UserPasskeys {
  constructor(
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly passkeys: OwnPasskeys,
  ) {}

  /** The newest first. @throws AccountProblem USER_404001 */
  async list(by: Authority, uid: string): Promise<UserPasskey[]> {
    await this.targets.find(by, uid);
    return this.passkeys.list(uid);
  }

  /**
   * Races with a login by this passkey and with other removals, on any replica: see OwnPasskeys.removeFor. Sessions that
   * began with the passkey go on.
   * @throws AccountProblem USER_404001; otherwise as TargetUsers.lock does
   */
  remove(by: Administrator, uid: string, id: string): Promise<void> {
    return this.changes.make(by, async ({ tx, record }) => {
      const { email, loginName } = await this.targets.lock(tx, by, uid);
      const owner = { uid, email, nickname: nameForMail({ loginName }) };
      if (!(await this.passkeys.removeFor(tx, owner, id, by.actor.client))) {
        throw new AccountProblem(`the user has no passkey ${JSON.stringify(id)}`, notFoundForCaller);
      }
      await record('PASSKEY_REMOVED', { userId: uid, detail: { passkey: id } });
    });
  }
}
