import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { Clock } from '../shared/clock';
import { LockSettings } from './account-settings';
import type { UserFilter } from './listing/listed-user';
import { allOf, filtersOf, notDeleted } from './listing/conditions';
import { type Survey, survey } from './listing/ways';
import { queryConditions } from './listing/word-conditions';

/** Counts the users of a list with bounded work (ADR 0041). */
@Injectable()
export class UserTotals {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {}

  /** The bounded work that a page and its total have in common. */
  survey(filter: UserFilter): Promise<Survey> {
    return survey(this.database, filter, this.bounds());
  }

  /** @returns null when there are more than `countedUsers`, or when each criterion alone has more */
  async of(filter: UserFilter, way: Survey): Promise<number | null> {
    if (way === undefined) return null;
    if (way.decides || way.users === 0) return way.users;
    const all = allOf(way.where, notDeleted, ...filtersOf(filter, this.bounds()), ...queryConditions(filter, way.term));
    const row = await this.database.row<{ n: unknown }>(
      `SELECT /*! STRAIGHT_JOIN */ COUNT(*) AS n FROM ${way.from} WHERE ${all.text}`,
      all.values,
    );
    return Number(row?.n);
  }

  private bounds() {
    return { maxCount: this.settings.maxCount, since: this.clock.secondsFromNow(-this.settings.windowSeconds) };
  }
}
