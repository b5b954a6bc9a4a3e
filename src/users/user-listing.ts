import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { LockSettings } from './account-settings';
import { Database } from '../platform/database/database';
import { type Condition, filtersOf, notDeleted } from './listing/conditions';
import { userOfRow } from './listing/listed-row';
import { listedUser, type ListedUser, type UserFilter, type UserPlace } from './listing/listed-user';
import { partsOf } from './listing/parts';
import { readInOrder, type ReadOptions, type ReadRows, readSorted } from './listing/readings';
import { isFiltered, type Survey, survey } from './listing/ways';
import { queryConditions } from './listing/word-conditions';
import type { User } from './user.entity';

export { type ListedUser, type UserFilter, type UserPlace, type UserSort, userSorts } from './listing/listed-user';

/** What names a user in a list of something else. */
export type NamedUser = Pick<User, 'uid' | 'loginName' | 'nickname' | 'email'>;

export interface UserPage {
  readonly items: readonly ListedUser[];
  /** The place of the last item, or of the last row that was looked at. Null after the last page. */
  readonly next: UserPlace | null;
  /** The users of all pages, if the reading of this one has counted them. */
  readonly total?: number;
}

export interface PageOptions {
  readonly limit: number;
  readonly after?: UserPlace | undefined;
  /** What `UserTotals` has found out for the total of the same list. */
  readonly surveyed?: Promise<Survey> | undefined;
}

/** Rows of one statement: a few milliseconds of work and a few hundred kilobytes. */
export const pageRows = 1000;

/**
 * Lists accounts page by page: memory holds one page at most. The order is that of the login names. A search lists the
 * matches by login name first, then those by address, then those by nickname, as version 1.0.0 does, and then those by any
 * words. The locked accounts are listed by their last failure, the newest first. Each order is that of an index, so a page
 * reads about as many rows as it has, and never more than a bounded number (ADR 0041).
 */
@Injectable()
export class UserListing {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {}

  /** Reads a page when the consumer asks for it, so that a slow consumer slows down the reading. */
  async *pages(filter: UserFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<readonly ListedUser[]> {
    let after: UserPlace | undefined;
    for (let left = limit; left > 0;) {
      const page: UserPage = await this.page(filter, { limit: Math.min(left, pageRows), after });
      if (page.items.length > 0) yield page.items;
      if (page.next === null) return;
      left -= page.items.length;
      after = page.next;
    }
  }

  /**
   * Continues after the last place: an account that is created or removed meanwhile does not shift the others. A page whose
   * rows are searched one by one can end early, even empty, and has a next one then.
   */
  async page(filter: UserFilter, { limit, after, surveyed }: PageOptions): Promise<UserPage> {
    const { within, tenantId, sort } = filter;
    if (within !== undefined && tenantId !== undefined && within !== tenantId)
      return { items: [], next: null, total: 0 };
    const bounds = this.lock();
    const way = isFiltered(filter, bounds) ? await (surveyed ?? survey(this.database, filter, bounds)) : undefined;
    const parts = partsOf(filter, bounds, way, after?.[0]);
    const options = (...words: Condition[]): ReadOptions => ({
      ...{ lock: [bounds.maxCount, bounds.since], limit: limit + 1, after },
      conditions: [notDeleted, ...filtersOf(filter, bounds), ...words],
    });
    // Users who all match are read in their order, so that a plain search also finds a name that an earlier version has written
    // without its words. The parts of a search know the words that they need.
    if (way === undefined || (way.decides && sort === undefined)) {
      const words = sort === undefined ? [] : queryConditions(filter);
      return pageOf(await readInOrder(this.database, parts, options(...words)), limit);
    }
    return pageOf(await readSorted(this.database, parts, way, options(...queryConditions(filter, way.term))), limit);
  }

  /**
   * Those of these users who are not deleted.
   * @param uids at most two for each row of a page
   * @param tenantId the tenant whose users are named; undefined: all
   */
  async named(uids: readonly string[], tenantId?: string): Promise<NamedUser[]> {
    if (uids.length === 0) return [];
    const [also, values] = tenantId === undefined ? ['', []] : [' AND tenant_id = ?', [tenantId]];
    return this.database.rows<NamedUser>(
      `SELECT uid, login_name AS loginName, nickname, email FROM users
       WHERE uid IN (${uids.map(() => '?').join(', ')}) AND deleted_at IS NULL${also}`,
      [...uids, ...values],
    );
  }

  /** The row of a list for a user who was read by other means. */
  listed(user: User): ListedUser {
    const { loginFailedCount, lastLoginFailedTime } = user;
    const { maxCount, since } = this.lock();
    const locked = loginFailedCount >= maxCount && lastLoginFailedTime !== null && lastLoginFailedTime > since;
    return listedUser(user, locked);
  }

  private lock() {
    const { maxCount, windowSeconds } = this.settings;
    return { maxCount, since: this.clock.secondsFromNow(-windowSeconds) };
  }
}

function pageOf({ rows, end, total }: ReadRows, limit: number): UserPage {
  const items = rows.slice(0, limit);
  return {
    items: items.map(({ row }) => userOfRow(row)),
    next: rows.length > limit ? (items.at(-1)?.place ?? null) : end,
    ...(total !== undefined && { total }),
  };
}
