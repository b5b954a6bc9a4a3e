import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { isUserId } from '../shared/user-id';
import { UserLocks } from '../users/user-locks';
import type { User } from '../users/user.entity';
import { type GroupChange, type GroupWriter, mostGroupsOfUser } from './group-change';
import { GroupProblem } from './group-problem';
import { fullUsers, type GroupOfUser, groupsOfUsers } from './group-names';
import { Groups } from './groups.repository';
import { GroupMember } from './persistence/group-member.entity';

export type { GroupOfUser } from './group-names';
export type { GroupMember } from './persistence/group-member.entity';

type Owner = Pick<User, 'uid' | 'tenantId'>;

/** Users are locked, and rows are read, in statements of so many. */
const batch = 500;
const mostCounted = 10_000;

/**
 * The table `user_group_members`. Each write locks first the rows of the users whom it adds, then the row of the group, and
 * reads the members after that. So the members of a group change one after the other, and whoever ends the memberships of
 * a user (a move, an erasure) comes before or after an addition, never beside it. Where two callers lock rows in another
 * order, the database ends one transaction, which runs again.
 */
@Injectable()
export class GroupMembers {
  private readonly rows: EntityRows<GroupMember>;

  constructor(
    @InjectRepository(GroupMember) rows: Repository<GroupMember>,
    private readonly database: Database,
    private readonly groups: Groups,
    private readonly locks: UserLocks,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** In the order of the uids. @param after the last uid of the page before; empty for the first page */
  page(groupId: string, after: string, limit: number, sql?: Sql): Promise<GroupMember[]> {
    return this.rows.find({ groupId, userId: MoreThan(after) }, { order: { userId: 'ASC' }, limit }, sql);
  }

  /** How many members the group has; null for more than 10,000, which would take long to count. */
  async count(groupId: string): Promise<number | null> {
    const row = await this.database.row<{ n: number }>(
      `SELECT COUNT(*) AS n FROM (SELECT user_id FROM user_group_members WHERE group_id = ? LIMIT ${mostCounted + 1}) AS m`,
      [groupId],
    );
    const n = Number(row?.n);
    return n > mostCounted ? null : n;
  }

  /** The groups of the user in the tenant of the user, in the order of their names. */
  async groupsOf(user: Owner, sql?: Sql): Promise<GroupOfUser[]> {
    return (await this.groupsOfAll([user], sql)).get(user.uid)!;
  }

  /** `groupsOf` for several users, by uid, with one statement. @param users at most a few hundred */
  async groupsOfAll(users: readonly Owner[], sql: Sql = this.database): Promise<Map<string, GroupOfUser[]>> {
    const all = new Map<string, GroupOfUser[]>(users.map(({ uid }) => [uid, []]));
    if (users.length === 0) return all;
    const tenants = new Map(users.map(({ uid, tenantId }) => [uid, tenantId]));
    for (const group of await groupsOfUsers(sql, [...all.keys()])) {
      if (group.tenantId === tenants.get(group.uid)) all.get(group.uid)?.push(group);
    }
    return all;
  }

  /** The names of the groups of the user, sorted. */
  async namesOf(user: Owner): Promise<string[]> {
    return (await this.groupsOf(user)).map(({ name }) => name).sort();
  }

  /**
   * Races: of two additions of one user to one group the second one changes nothing and gets false. Beside a deletion of the
   * group, and beside a move or an erasure of the user, an addition that comes second finds no group or no user.
   * @returns whether the user was not a member before
   * @throws GroupProblem missing (also for a user of another tenant), foreign, full
   */
  async add(change: GroupChange, writer: GroupWriter, id: string, uid: string): Promise<boolean> {
    return (await this.addAll(change, writer, id, [uid])) === 1;
  }

  /** @returns how many were no members before @throws GroupProblem as `add` */
  async addAll(change: GroupChange, writer: GroupWriter, id: string, uids: readonly string[]): Promise<number> {
    const { tenantId } = await this.groups.owned(change.tx, writer, id);
    await this.holdUsers(change.tx, tenantId, uids);
    await this.groups.hold(change.tx, writer, id);
    const members = await this.among(change.tx, id, uids);
    const added = [...new Set(uids)].filter((uid) => !members.has(uid));
    await this.insert(change, id, added);
    return added.length;
  }

  /**
   * Races: of two removals the second one changes nothing and gets false.
   * @throws GroupProblem missing, foreign
   */
  async remove(change: GroupChange, writer: GroupWriter, id: string, uid: string): Promise<boolean> {
    return (await this.removeAll(change, writer, id, [uid])) === 1;
  }

  /** Whoever is no member is left out. @returns how many were members @throws GroupProblem missing, foreign */
  async removeAll(change: GroupChange, writer: GroupWriter, id: string, uids: readonly string[]): Promise<number> {
    await this.groups.hold(change.tx, writer, id);
    const members = [...(await this.among(change.tx, id, uids))];
    await this.delete(change, id, members);
    return members.length;
  }

  /**
   * Makes these users the members, and nobody else.
   * Races: of two replacements the members of the later one last, never a mixture. Others as for `add`.
   * @throws GroupProblem as `add`
   */
  async replaceAll(change: GroupChange, writer: GroupWriter, id: string, uids: readonly string[]): Promise<void> {
    const { tx } = change;
    const { tenantId } = await this.groups.owned(tx, writer, id);
    const wanted = new Set(uids);
    const before = await this.allOf(tx, id);
    const held = [...wanted].filter((uid) => !before.has(uid));
    await this.holdUsers(tx, tenantId, held);
    await this.groups.hold(tx, writer, id);
    const members = await this.allOf(tx, id);
    const added = [...wanted].filter((uid) => !members.has(uid));
    // Removed by somebody else since the first look: locked after the group, see the comment of the class.
    await this.holdUsers(
      tx,
      tenantId,
      added.filter((uid) => before.has(uid)),
    );
    await this.delete(
      change,
      id,
      [...members].filter((uid) => !wanted.has(uid)),
    );
    await this.insert(change, id, added);
  }

  /**
   * Ends all memberships of a user who moves to another tenant or is erased. The transaction holds the row of the user, so an
   * addition beside it waits, and finds the user no more in the tenant.
   * @param record writes an audit row for each; an erasure has its own
   */
  async endAll(tx: Transaction, uid: string, record?: GroupChange['record']): Promise<void> {
    const groups = (await this.rows.find({ userId: uid }, {}, tx)).map(({ groupId }) => groupId);
    await this.groups.holdAll(tx, groups);
    // A removal that committed before these groups were held has its audit row already.
    const left = record === undefined ? [] : await this.rows.find({ userId: uid }, {}, tx);
    await this.rows.remove(tx, { userId: uid });
    for (const { groupId } of left) await record?.('GROUP_MEMBER_REMOVED', { userId: uid, detail: { group: groupId } });
  }

  /**
   * Ends the memberships that followed a directory or an identity provider, of a user who signs in elsewhere from now on: no
   * later sign-in would end them. The transaction holds the row of the user. A follow of an earlier sign-in waits, and finds
   * the user at another place.
   */
  async endFollowed(change: GroupChange, uid: string): Promise<void> {
    const followed = (await groupsOfUsers(change.tx, [uid])).filter(
      ({ source }) => source === 'directory' || source === 'provider',
    );
    const groups = followed.map(({ id }) => id);
    await this.groups.holdAll(change.tx, groups);
    for (const id of groups) await this.delete(change, id, [uid]);
  }

  /** @throws GroupProblem missing */
  private async holdUsers(tx: Transaction, tenantId: string, uids: readonly string[]): Promise<void> {
    const sorted = [...new Set(uids)].sort();
    const stranger = sorted.find((uid) => !isUserId(uid));
    if (stranger !== undefined) throw noUser(stranger);
    for (let i = 0; i < sorted.length; i += batch) {
      const asked = sorted.slice(i, i + batch);
      const found = new Set(await this.locks.holdMembers(tx, tenantId, asked));
      const unknown = asked.find((uid) => !found.has(uid));
      if (unknown !== undefined) throw noUser(unknown);
    }
  }

  /**
   * The transaction holds the rows of the users, so nobody adds them elsewhere meanwhile.
   * @param uids users who are no members: who is one already needs no room @throws GroupProblem full
   */
  private async insert({ tx, record }: GroupChange, groupId: string, uids: readonly string[]): Promise<void> {
    for (let i = 0; i < uids.length; i += batch) {
      const [full] = await fullUsers(tx, uids.slice(i, i + batch));
      if (full === undefined) continue;
      throw new GroupProblem('full', `a user can be a member of ${mostGroupsOfUser} groups, as ${full.uid} is`, 'uid');
    }
    const addedAt = this.clock.now();
    for (const userId of uids) {
      await this.rows.insert(tx, { groupId, userId, addedAt });
      await record('GROUP_MEMBER_ADDED', { userId, detail: { group: groupId } });
    }
  }

  private async delete({ tx, record }: GroupChange, groupId: string, uids: readonly string[]): Promise<void> {
    for (const userId of uids) {
      if ((await this.rows.remove(tx, { groupId, userId })) === 0) continue;
      await record('GROUP_MEMBER_REMOVED', { userId, detail: { group: groupId } });
    }
  }

  private async among(tx: Transaction, groupId: string, uids: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (let i = 0; i < uids.length; i += batch) {
      const rows = await this.rows.find({ groupId, userId: In(uids.slice(i, i + batch)) }, {}, tx);
      for (const { userId } of rows) found.add(userId);
    }
    return found;
  }

  private async allOf(tx: Transaction, groupId: string): Promise<Set<string>> {
    const found = new Set<string>();
    for (let after = ''; ;) {
      const rows = await this.page(groupId, after, batch, tx);
      for (const { userId } of rows) found.add(userId);
      if (rows.length < batch) return found;
      after = rows.at(-1)!.userId;
    }
  }
}

const noUser = (uid: string) => new GroupProblem('missing', `there is no user ${JSON.stringify(uid)} in the tenant`);
