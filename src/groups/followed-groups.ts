import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { plainTextOf } from '../shared/plain-text';
import { UserLocks } from '../users/user-locks';
import type { User } from '../users/user.entity';
import { type GroupChange, groupName, type GroupOwner, mostFollowed, mostGroupsOfUser } from './group-change';
import { Group } from './group.entity';
import { GroupMembers, type GroupOfUser } from './group-members';
import { GroupProblem } from './group-problem';
import { Groups } from './groups.repository';
import { GroupMember } from './persistence/group-member.entity';

type Member = Pick<User, 'uid' | 'tenantId'> & Partial<Pick<User, 'provider' | 'identityProviderId'>>;

/**
 * Memberships that follow what a directory or an identity provider says at a sign-in. The groups are made on demand in the
 * tenant of the user, and belong to that source. A group with the same name that another source owns is left alone.
 */
@Injectable()
export class FollowedGroups {
  private readonly memberRows: EntityRows<GroupMember>;

  constructor(
    @InjectRepository(Group) private readonly groupRepository: Repository<Group>,
    @InjectRepository(GroupMember) memberRows: Repository<GroupMember>,
    private readonly database: Database,
    private readonly groups: Groups,
    private readonly members: GroupMembers,
    private readonly locks: UserLocks,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {
    this.memberRows = new EntityRows(memberRows, database);
  }

  /**
   * `follow` in a transaction of its own, when the names differ from what is stored.
   * @param client of the request, for the audit rows
   */
  async sync(client: ClientInfo, user: Member, owner: GroupOwner, names: readonly string[]): Promise<void> {
    if (!(await this.differs(user, owner, names))) return;
    await this.database.transaction((tx) => {
      const record: GroupChange['record'] = (event, entry) => this.audit.record(tx, event, { ...entry, client });
      return this.follow({ tx, record }, user, owner, names);
    });
  }

  /** Whether `follow` would have something to do. One look, so that a usual sign-in opens no transaction. */
  async differs(user: Member, owner: GroupOwner, names: readonly string[], sql: Sql = this.database): Promise<boolean> {
    const mine = await this.ofOwner(user, owner, sql);
    const wanted = wantedNames(names);
    return mine.length !== wanted.size || mine.some(({ nameKey }) => !wanted.has(nameKey));
  }

  /**
   * Makes the user a member of the groups with these names, and of no other group of this owner.
   * Races: two follows of one user, on any replica. The row of the user is locked first, so the second one sees what the
   * first one wrote, and its names last. A user who was moved (to another tenant, to another kind of sign-in) or erased
   * meanwhile is left alone. Of two follows that make one
   * group the unique key of the name decides, and the loser uses the group of the winner. A group that is deleted beside it
   * is left out, and made again at the next sign-in.
   * @param names of any form: characters that no name has are removed, and more than 500 are not followed
   */
  async follow(change: GroupChange, user: Member, owner: GroupOwner, names: readonly string[]): Promise<void> {
    const { tx, record } = change;
    if ((await this.locks.holdMembers(tx, user.tenantId, [user.uid], user)).length === 0) return;
    const all = await this.members.groupsOf(user, tx);
    const mine = all.filter((group) => owns(owner, group));
    const wanted = wantedNames(names);
    const left = mine.filter(({ nameKey }) => !wanted.has(nameKey));
    for (const { nameKey } of mine) wanted.delete(nameKey);
    const room = mostGroupsOfUser - (all.length - left.length);
    const joined = await this.groupsNamed(change, user, owner, [...wanted.values()].slice(0, room));
    const order = [...left, ...joined].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id } of order) {
      if (!(await this.held(tx, owner, id))) continue;
      const row = { groupId: id, userId: user.uid };
      const leaves = left.some((group) => group.id === id);
      if (leaves) await this.memberRows.remove(tx, row);
      else await this.memberRows.insert(tx, { ...row, addedAt: this.clock.now() });
      const detail = { group: id, source: owner.source };
      await record(leaves ? 'GROUP_MEMBER_REMOVED' : 'GROUP_MEMBER_ADDED', { userId: user.uid, detail });
    }
  }

  private async ofOwner(user: Member, owner: GroupOwner, sql: Sql): Promise<GroupOfUser[]> {
    return (await this.members.groupsOf(user, sql)).filter((group) => owns(owner, group));
  }

  /** The groups of this owner with these names, which are made where there are none. */
  private async groupsNamed(change: GroupChange, { tenantId }: Member, owner: GroupOwner, names: readonly string[]) {
    if (names.length === 0) return [];
    const keys = names.map((name) => groupName(name).nameKey);
    const rows = new EntityRows(this.groupRepository, change.tx);
    const found = new Map((await rows.find({ tenantId, nameKey: In(keys) })).map((group) => [group.nameKey, group]));
    const missing = names.filter((name) => !found.has(groupName(name).nameKey));
    const made = () => rows.count({ tenantId, source: owner.source, ownerId: owner.ownerId ?? IsNull() });
    let room = missing.length === 0 ? 0 : mostFollowed.groups - (await made());
    for (const name of missing) {
      if (room-- <= 0) break;
      const { nameKey } = groupName(name);
      const group = await this.made(change, { tenantId, name, ...owner });
      if (group !== null) found.set(nameKey, group);
    }
    return [...found.values()].filter((group) => owns(owner, group));
  }

  private async made(change: GroupChange, group: GroupOwner & { tenantId: string; name: string }) {
    try {
      return await this.groups.create(change, group);
    } catch (error) {
      if (!(error instanceof GroupProblem) || error.reason !== 'taken') throw error;
      return this.groups.findByName(group.tenantId, group.name, change.tx);
    }
  }

  /** @returns false when the group was deleted meanwhile */
  private async held(tx: Transaction, owner: GroupOwner, id: string): Promise<boolean> {
    try {
      await this.groups.hold(tx, owner, id);
      return true;
    } catch (error) {
      if (error instanceof GroupProblem) return false;
      throw error;
    }
  }
}

const owns = (owner: GroupOwner, group: Pick<Group, 'source' | 'ownerId'>): boolean =>
  group.source === owner.source && group.ownerId === (owner.ownerId ?? null);

/** The names of another system that a group can have, by their keys. */
function wantedNames(names: readonly string[]): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const text of names) {
    if (wanted.size === mostFollowed.names) break;
    const plain = plainTextOf(text);
    try {
      const { name, nameKey } = groupName(plain);
      if (!wanted.has(nameKey)) wanted.set(nameKey, name);
    } catch (error) {
      if (!(error instanceof GroupProblem)) throw error;
    }
  }
  return wanted;
}
