import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { assertTenant } from '../users/tenant.repository';
import { type UserConditions, UserSelection } from '../users/user-selection';
import { AdminChanges } from './admin-changes';
import { operatorAuthority } from './authority';
import { TargetUsers } from './target-users';
import { UserSupport } from './user-support';

/** The actions for many users at once, and whom each selects. A user who has had an action does not get it again. */
const concerned = {
  resetSecondFactor: { hasAuthenticator: true },
  requirePasswordChange: { provider: 'password', mustChangePassword: false },
} as const satisfies Record<string, UserConditions>;

export interface BulkOptions {
  /** Counts the users for whom it was done, so that it also describes a run that was stopped. */
  readonly report: { users: number };
  /** Called after each page. */
  readonly progress: () => void;
  /** Ends the run between two users. */
  readonly signal: AbortSignal;
}

const pageSize = 100;

/**
 * `user reset-totp` and `user require-password-change` for many users. Each user is one transaction with an audit row.
 * A run that was stopped or killed is simply run again, and does the rest.
 */
@Injectable()
export class BulkSupport {
  constructor(
    private readonly database: Database,
    private readonly changes: AdminChanges,
    private readonly selection: UserSelection,
    private readonly support: UserSupport,
    private readonly targets: TargetUsers,
  ) {}

  /** @throws AccountProblem when there is no such tenant */
  async count(what: keyof typeof concerned, tenantId: string | undefined): Promise<number> {
    if (tenantId !== undefined) await assertTenant(this.database, tenantId);
    return this.selection.count({ ...concerned[what], tenantId });
  }

  /** @param tenantId undefined: the users of all tenants */
  async run(
    what: keyof typeof concerned,
    tenantId: string | undefined,
    { report, progress, signal }: BulkOptions,
  ): Promise<void> {
    const conditions = { ...concerned[what], tenantId };
    for (let after = ''; !signal.aborted;) {
      const uids = await this.selection.next(conditions, after, pageSize);
      for (const uid of uids) {
        if (await this.one(what, uid, conditions)) report.users += 1;
        // SQLite answers within one iteration of the event loop, and Node handles signals between two.
        await nextTurn();
        if (signal.aborted) return;
      }
      const last = uids.at(-1);
      if (last === undefined) return;
      after = last;
      progress();
    }
  }

  /** @returns false if the user no longer meets the conditions */
  private async one(what: keyof typeof concerned, uid: string, conditions: UserConditions): Promise<boolean> {
    const unselected = new Error('rolled back');
    try {
      await this.changes.make(operatorAuthority, async (change) => {
        if (!(await this.selection.hold(change.tx, uid, conditions))) throw unselected;
        const user = await this.targets.find(operatorAuthority, uid, change.tx);
        await this.support.steps[what](change, user, operatorAuthority);
      });
      return true;
    } catch (error) {
      if (error === unselected) return false;
      throw error;
    }
  }
}
