import { Injectable } from '@nestjs/common';
import { type LogPlace, type LogRow, LogSearch } from '../audit/log-search';
import { auditLog, type LogFilter, loginLog, type LogTable } from '../audit/log-tables';
import { accountLocked, loginFailed, userNotFound } from '../shared/errors/error-catalogue';
import { isUserId } from '../shared/user-id';
import { UserListing } from '../users/user-listing';
import { UsersRepository } from '../users/users.repository';
import { type AdminScope, everyTenant, isWithin, usersWithin, within } from './admin-scope';

/** A filter of a log. `user` is what somebody types to sign in, whether or not an account has that name. */
export type LogQuestion = LogFilter & { readonly user?: string | undefined };

/** The refusals of somebody who guesses. The other ones are those of the owner of an account, or of the service. */
const guesses = [loginFailed, userNotFound, accountLocked].map(({ code }) => code);
/** The newest rows of each outcome that the overview looks at. */
const newestGuesses = 500;

const nothing = { items: [], next: null } as const;

/** The logs as an administrator may search them: those of the users in the own scope (ADR 0027). */
@Injectable()
export class Logs {
  constructor(
    private readonly search: LogSearch,
    private readonly users: UsersRepository,
    private readonly listing: UserListing,
  ) {}

  /** @param limit at most 1000 */
  async page(
    log: LogTable,
    { user, ...given }: LogQuestion,
    scope: AdminScope,
    limit: number,
    after: LogPlace | undefined,
  ): Promise<{ readonly items: readonly LogRow[]; readonly next: LogPlace | null }> {
    const filter = user === undefined ? given : await this.whose(log, given, user, scope);
    if (filter === undefined) return nothing;
    const { userId } = filter;
    if (userId === undefined) return this.search.page(log, filter, usersWithin(scope), limit, after);
    // One look-up, so that a search for a user of another tenant does not page through the rows of that user.
    const reached = scope.tenantId === everyTenant || (await this.users.findByUid(userId))?.tenantId === scope.tenantId;
    return reached ? this.search.page(log, filter, undefined, limit, after) : nothing;
  }

  /**
   * The filter for the rows of an account, by its login name or its address. A name that nobody has belongs to no tenant:
   * only the root tenant finds the attempts under it, as they were typed. For any other one, a name that nobody has and
   * that of a foreign user are the same.
   * @returns undefined when there is nothing to find
   */
  private async whose(
    log: LogTable,
    filter: LogFilter,
    user: string,
    scope: AdminScope,
  ): Promise<LogFilter | undefined> {
    const found = await this.users.findSigningIn(user);
    if (found !== null && found.deletedAt === null && isWithin(scope, found.tenantId)) {
      return filter.userId === undefined || filter.userId === found.uid ? { ...filter, userId: found.uid } : undefined;
    }
    return scope.tenantId === everyTenant && log === loginLog ? { ...filter, loginName: user } : undefined;
  }

  /** The newest refused guesses since a time, of the users in the scope. Bounded for each outcome, as every search is. */
  async guessesSince(from: Date, scope: AdminScope): Promise<LogRow[]> {
    const found: LogRow[] = [];
    for (const outcome of guesses) {
      const filter = { outcome, from };
      found.push(...(await this.search.page(loginLog, filter, usersWithin(scope), newestGuesses, undefined)).items);
    }
    return found;
  }

  /** The newest rows of the audit in which somebody acted on another account or a setting, as far as one page looks. */
  async lastChanges(scope: AdminScope, limit: number): Promise<readonly LogRow[]> {
    return (await this.search.page(auditLog, { acted: true }, usersWithin(scope), limit, undefined)).items;
  }

  /**
   * The names of those whom the rows are about and who acted, as far as they are users of the scope. One statement for a
   * page. The actor of a row without an address is an operator, who is named already.
   */
  async namesIn(rows: readonly LogRow[], scope: AdminScope): Promise<ReadonlyMap<string, string>> {
    const ids = rows.flatMap(({ user_id: user, actor_id: actor, ip }) => [user, ip === null ? null : actor]);
    const uids = [...new Set(ids)].filter((id): id is string => typeof id === 'string' && isUserId(id));
    const users = await this.listing.named(uids, within(scope).tenantId);
    return new Map(users.map(({ uid, nickname, loginName }) => [uid, nickname ?? loginName]));
  }
}
