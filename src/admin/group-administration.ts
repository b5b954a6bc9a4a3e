import { Injectable } from '@nestjs/common';
import { type GroupFilter, GroupListing, type GroupPage, type GroupPlace } from '../groups/group-listing';
import { GroupMembers } from '../groups/group-members';
import { GroupProblem } from '../groups/group-problem';
import { type Group, Groups } from '../groups/groups.repository';
import { type NamedUser, UserListing } from '../users/user-listing';
import { AdminChanges } from './admin-changes';
import { within } from './admin-scope';
import type { Authority } from './authority';

export interface GroupDetail {
  readonly group: Group;
  /** Null above 10,000. */
  readonly members: number | null;
}

export interface ListedMember extends NamedUser {
  readonly addedAt: Date;
}

export interface MemberPage {
  readonly items: readonly ListedMember[];
  /** The uid of the last item, or null after the last page. */
  readonly next: readonly [uid: string] | null;
}

/**
 * Groups in the hands of administrators and operators (docs/spec/extensions.md#l). They read every group in their scope, and
 * write those that administrators own.
 */
@Injectable()
export class GroupAdministration {
  constructor(
    private readonly groups: Groups,
    private readonly members: GroupMembers,
    private readonly listing: GroupListing,
    private readonly users: UserListing,
    private readonly changes: AdminChanges,
  ) {}

  page({ scope }: Authority, filter: GroupFilter, limit: number, after?: GroupPlace): Promise<GroupPage> {
    return this.listing.page({ ...filter, within: within(scope).tenantId }, limit, after);
  }

  /** @throws GroupProblem missing */
  async get(by: Authority, id: string): Promise<GroupDetail> {
    const group = await this.found(by, id);
    return { group, members: await this.members.count(id) };
  }

  /** In the order of the uids. @throws GroupProblem missing */
  async membersOf(by: Authority, id: string, limit: number, after = ''): Promise<MemberPage> {
    await this.found(by, id);
    const rows = await this.members.page(id, after, limit + 1);
    const shown = rows.slice(0, limit);
    const named = new Map((await this.users.named(shown.map(({ userId }) => userId))).map((user) => [user.uid, user]));
    return {
      // A user who is deleted at this moment has no name any more.
      items: shown.flatMap(({ userId, addedAt }) => {
        const user = named.get(userId);
        return user === undefined ? [] : [{ ...user, addedAt }];
      }),
      next: rows.length > limit ? [shown.at(-1)!.userId] : null,
    };
  }

  /** @throws GroupProblem taken, malformed; missing for a tenant outside the scope @throws AccountProblem */
  create(by: Authority, tenantId: string, name: string): Promise<Group> {
    const { tenantId: own = tenantId } = within(by.scope);
    if (own !== tenantId) throw new GroupProblem('missing', `there is no tenant ${JSON.stringify(tenantId)}`);
    return this.changes.make(by, (change) => this.groups.create(change, { tenantId, name, source: 'admin' }));
  }

  /** @throws GroupProblem */
  rename(by: Authority, id: string, name: string): Promise<Group> {
    return this.changes.make(by, (change) => this.groups.change(change, writer(by), id, { name }));
  }

  /** @throws GroupProblem */
  remove(by: Authority, id: string): Promise<void> {
    return this.changes.make(by, (change) => this.groups.remove(change, writer(by), id));
  }

  /** @returns false when the user was a member already @throws GroupProblem */
  addMember(by: Authority, id: string, uid: string): Promise<boolean> {
    return this.changes.makeIfAny(by, (change) => this.members.add(change, writer(by), id, uid));
  }

  /** @returns false when the user was no member @throws GroupProblem */
  removeMember(by: Authority, id: string, uid: string): Promise<boolean> {
    return this.changes.makeIfAny(by, (change) => this.members.remove(change, writer(by), id, uid));
  }

  private async found({ scope }: Authority, id: string): Promise<Group> {
    const group = await this.groups.find(id, within(scope));
    if (group === null) throw new GroupProblem('missing', `there is no group ${JSON.stringify(id)}`);
    return group;
  }
}

const writer = ({ scope }: Authority) => ({ source: 'admin' as const, ...within(scope) });
