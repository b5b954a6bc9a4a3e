import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { LockSettings } from './account-settings';
import { Database } from '../platform/database/database';
import { listedColumns, type ListedRow, userOfRow } from './listing/listed-row';
import { listedUser, type ListedUser, type UserFilter } from './listing/listed-user';
import { type Source, sourcesOf } from './listing/sources';
import type { User } from './user.entity';

export type { ListedUser, UserFilter } from './listing/listed-user';

/** The number of the source that a row came from, its key there, and its uid. */
export type UserPlace = readonly [source: number, key: string, uid: string];

export interface UserPage {
  readonly items: readonly ListedUser[];
  /** The place of the last item, or null after the last page. */
  readonly next: UserPlace | null;
}

/** Rows of one statement: a few milliseconds of work and a few hundred kilobytes. */
export const pageRows = 1000;

/**
 * Lists accounts page by page: memory holds one page at most. The order is that of the login names. A search lists the
 * matches by login name first, then those by address, then those by nickname. The locked accounts are listed by their
 * last failure, the newest first. Each order is that of an index, so a page reads about as many rows as it has.
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

  /** Continues after the last place: an account that is created or removed meanwhile does not shift the others. */
  async page(filter: UserFilter, { limit, after }: { limit: number; after?: UserPlace }): Promise<UserPage> {
    const sources = sourcesOf(filter, this.lock());
    const rows: { readonly user: ListedUser; readonly place: UserPlace }[] = [];
    for (const [number, source] of sources.entries()) {
      if (number < (after?.[0] ?? 0) || rows.length > limit) continue;
      const found = await this.read(source, limit + 1 - rows.length, number === after?.[0] ? after : undefined);
      for (const row of found)
        rows.push({ user: userOfRow(row), place: [number, source.keyText(row.pageKey), row.uid] });
    }
    const items = rows.slice(0, limit);
    return { items: items.map(({ user }) => user), next: rows.length > limit ? (items.at(-1)?.place ?? null) : null };
  }

  /** The row of a list for a user who was read by other means. */
  listed(user: User): ListedUser {
    const { loginFailedCount, lastLoginFailedTime } = user;
    const { maxCount, since } = this.lock();
    const locked = loginFailedCount >= maxCount && lastLoginFailedTime !== null && lastLoginFailedTime > since;
    return listedUser(user, locked);
  }

  private read(source: Source, limit: number, after: UserPlace | undefined): Promise<ListedRow[]> {
    const { maxCount, since } = this.lock();
    const where = after === undefined ? source.where : [...source.where, source.after(after[1], after[2])];
    return this.database.rows<ListedRow>(
      `SELECT ${listedColumns}, ${source.key} AS pageKey FROM users
       WHERE ${where.map(({ text }) => text).join(' AND ')}
       ORDER BY ${source.order} LIMIT ${Math.trunc(limit)}`,
      [maxCount, since, ...where.flatMap(({ values }) => values)],
    );
  }

  private lock() {
    const { maxCount, windowSeconds } = this.settings;
    return { maxCount, since: this.clock.secondsFromNow(-windowSeconds) };
  }
}
