import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { withOwnTime } from '../platform/database/database-waits';
import { asDomainError } from '../platform/http/error-envelope.filter';
import { TargetLimit } from '../platform/limits/target-limit';
import { Clock } from '../shared/clock';
import {
  accessTokenRevoked,
  type CatalogueEntry,
  internalError,
  serviceUnavailable,
} from '../shared/errors/error-catalogue';
import { defaultLanguage } from '../shared/languages';
import { assertTenant } from '../users/tenant.repository';
import { userStatus } from '../users/user.entity';
import { type Administrator, rulesAdministrators } from './authority';
import { UserChanges } from './user-changes';
import { UserSupport } from './user-support';

export const bulkActions = ['disable', 'enable', 'revoke-sessions', 'invite', 'move'] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkCommand {
  readonly uids: readonly string[];
  readonly action: BulkAction;
  /** Given with `move`. */
  readonly tenantId?: string;
}

/** What became of one user. Without a refusal it was done. */
export interface BulkOutcome {
  readonly uid: string;
  readonly refusal?: CatalogueEntry;
}

/** Proxies give up on an answer after a minute, often after half of it. A client sends the rest again. */
const longestSeconds = 20;
/** After these, no further user can succeed. */
const endsAll: readonly CatalogueEntry[] = [accessTokenRevoked, serviceUnavailable];

/**
 * One action for many users (docs/spec/extensions.md#o). Each user is decided, changed and audited alone, in a transaction of
 * its own, by the use case of one user. One follows the other, so the request has one connection of the pool at a time.
 */
@Injectable()
export class UserBulk {
  private readonly logger = new Logger('admin');

  constructor(
    private readonly database: Database,
    private readonly changes: UserChanges,
    private readonly support: UserSupport,
    private readonly limit: TargetLimit,
    private readonly clock: Clock,
  ) {}

  /**
   * When the database fails, the rights of the caller end or the time is over, the remaining users get the same refusal without
   * being tried. A user whose own transaction failed is unchanged, or changed as a whole if only the answer of its commit was lost.
   * @returns each user once, in the given order
   * @throws AccountProblem when there is no such tenant; ClientGone between two users
   */
  async run(by: Administrator, command: BulkCommand): Promise<BulkOutcome[]> {
    // Another administrator does not learn which tenants there are: each user is refused alone.
    if (command.tenantId !== undefined && rulesAdministrators(by)) await assertTenant(this.database, command.tenantId);
    const end = this.clock.secondsFromNow(longestSeconds);
    const outcomes: BulkOutcome[] = [];
    let stopped: CatalogueEntry | undefined;
    for (const uid of new Set(command.uids)) {
      by.actor.client.signal.throwIfAborted();
      if (this.clock.now() >= end) stopped ??= serviceUnavailable;
      const refusal = stopped ?? (await this.one(by, uid, command));
      if (refusal !== undefined && endsAll.includes(refusal)) stopped = refusal;
      outcomes.push({ uid, refusal });
      // SQLite answers within one iteration of the event loop. Other requests get their turn between two users.
      await nextTurn();
    }
    return outcomes;
  }

  private async one(by: Administrator, uid: string, command: BulkCommand): Promise<CatalogueEntry | undefined> {
    try {
      // Each user has the waiting time of a whole request.
      await withOwnTime(() => this.apply(by, uid, command));
      return undefined;
    } catch (error) {
      const { entry, cause } = asDomainError(error);
      if (entry === internalError) {
        const { requestId } = by.actor.client;
        this.logger.error({ requestId, err: cause ?? error }, 'a bulk action failed for one user');
      }
      return entry;
    }
  }

  private async apply(by: Administrator, uid: string, { action, tenantId }: BulkCommand): Promise<void> {
    switch (action) {
      case 'disable':
        return this.changes.change(by, uid, { status: userStatus.disabled });
      case 'enable':
        return this.changes.change(by, uid, { status: userStatus.enabled });
      case 'move':
        return this.changes.change(by, uid, { tenantId });
      case 'revoke-sessions':
        await this.support.revokeTokens(by, uid);
        return;
      case 'invite':
        await this.limit.count('bulk-invite', uid);
        return this.support.inviteByMail(by, uid, by.actor.client.language ?? defaultLanguage);
    }
  }
}
