import { Injectable } from '@nestjs/common';
import { type LogPlace, LogSearch } from '../audit/log-search';
import type { LogFilter, LogTable } from '../audit/log-tables';
import { UsersRepository } from '../users/users.repository';
import { type AdminScope, everyTenant, usersWithin } from './admin-scope';

/** The logs as an administrator may search them: those of the users in the own scope (ADR 0027). */
@Injectable()
export class Logs {
  constructor(
    private readonly search: LogSearch,
    private readonly users: UsersRepository,
  ) {}

  /** @param limit at most 1000 */
  async page(log: LogTable, filter: LogFilter, scope: AdminScope, limit: number, after: LogPlace | undefined) {
    const { userId } = filter;
    if (userId === undefined) return this.search.page(log, filter, usersWithin(scope), limit, after);
    // One look-up, so that a search for a user of another tenant does not page through the rows of that user.
    const reached = scope.tenantId === everyTenant || (await this.users.findByUid(userId))?.tenantId === scope.tenantId;
    return reached ? this.search.page(log, filter, undefined, limit, after) : { items: [], next: null };
  }
}
