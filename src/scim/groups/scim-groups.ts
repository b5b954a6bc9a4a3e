import { Injectable } from '@nestjs/common';
import { AdminChanges, type Change } from '../../admin/admin-changes';
import type { GroupWriter } from '../../groups/group-change';
import { GroupMembers } from '../../groups/group-members';
import { GroupProblem } from '../../groups/group-problem';
import { type Group, Groups } from '../../groups/groups.repository';
import { type GroupSearchField, ProvisionedGroups } from '../../groups/provisioned-groups';
import type { Found } from '../../platform/database/search';
import type { Caller } from '../protocol/caller';
import { type SearchedAttributes, searchOf } from '../protocol/filter-search';
import { type ListQuery, orderOf, pageOf } from '../protocol/list-query';
import { operationsOf } from '../protocol/patch';
import { invalidValue, ScimError, unknownResource } from '../protocol/scim-error';
import { assertVersion } from '../protocol/version';
import { editOf, type GroupEdit, groupOf, type MemberEdit } from './group-draft';
import { versionOfGroup } from './group-resources';

const searched: SearchedAttributes<GroupSearchField> = new Map([
  ['id', { field: 'id' }],
  ['displayname', { field: 'name' }],
  ['externalid', { field: 'externalId' }],
  ['members', { field: 'member', equality: true }],
  ['members.value', { field: 'member', equality: true }],
]);

const orders = new Map([['displayname', 'name']]);

/** Groups by SCIM (docs/spec/extensions.md#l). A client reads the groups of its tenant, and writes those that SCIM has made. */
@Injectable()
export class ScimGroups {
  constructor(
    private readonly provisioned: ProvisionedGroups,
    private readonly groups: Groups,
    private readonly members: GroupMembers,
    private readonly changes: AdminChanges,
  ) {}

  list({ authority, within }: Caller, query: ListQuery): Promise<Found<Group>> {
    orderOf(query, orders, 'name');
    const search = query.filter && searchOf(query.filter, searched);
    return this.provisioned.page(within, search, pageOf(authority.actor.id, query));
  }

  /** @throws ScimError 404, also for a group of another tenant */
  async get({ within }: Caller, id: string): Promise<Group> {
    const group = await this.groups.find(id, within);
    if (group === null) throw unknownResource();
    return group;
  }

  /** Race: two creations of one name in a tenant. The unique key decides, and the loser gets 409 `uniqueness`. */
  async create(caller: Caller, body: unknown): Promise<Group> {
    const { displayName: name, externalId, members } = groupOf(body);
    const { tenantId } = caller;
    const { id } = await asked(() =>
      this.changes.make(caller.authority, async (change) => {
        const group = await this.groups.create(change, { tenantId, name, externalId, source: 'scim' });
        await this.applyMembers(change, writerOf(caller), group.id, members);
        return group;
      }),
    );
    return this.get(caller, id);
  }

  replace(caller: Caller, id: string, body: unknown, ifMatch?: string): Promise<Group> {
    return this.change(caller, id, groupOf(body), ifMatch);
  }

  patch(caller: Caller, id: string, body: unknown, ifMatch?: string): Promise<Group> {
    return this.change(caller, id, editOf(operationsOf(body)), ifMatch);
  }

  async remove(caller: Caller, id: string, ifMatch?: string): Promise<void> {
    await this.get(caller, id);
    await asked(() =>
      this.changes.make(caller.authority, async (change) => {
        await this.assertUnchanged(change, writerOf(caller), id, ifMatch);
        await this.groups.remove(change, writerOf(caller), id);
      }),
    );
  }

  /**
   * Race: two changes with one `If-Match`, on any replica. The first one locks the row of the group and wins. The second one waits
   * for its commit, finds another version, and gets 412. Without the header both are made, one after the other.
   */
  private async change(caller: Caller, id: string, edit: GroupEdit, ifMatch: string | undefined): Promise<Group> {
    const { name, externalId } = await this.get(caller, id);
    const writer = writerOf(caller);
    const renamed =
      edit.displayName === undefined || edit.displayName.trim() === name ? {} : { name: edit.displayName };
    const identified =
      edit.externalId === undefined || edit.externalId === externalId ? {} : { externalId: edit.externalId };
    const nothing = new Error('nothing to change');
    const work = async (change: Change) => {
      const { counted, changes } = countedChange(change);
      await this.assertUnchanged(counted, writer, id, ifMatch);
      // The rows of users are locked before the row of the group.
      await this.applyMembers(counted, writer, id, edit.members);
      if ('name' in renamed || 'externalId' in identified) {
        await this.groups.change(counted, writer, id, { ...renamed, ...identified });
      }
      await this.groups.owned(change.tx, writer, id);
      if (changes() === 0) throw nothing;
    };
    await asked(() => this.changes.make(caller.authority, work)).catch((error: unknown) => {
      if (error !== nothing) throw error;
    });
    return this.get(caller, id);
  }

  /** Only with `If-Match`: otherwise the row is locked when the first write needs it. */
  private async assertUnchanged({ tx }: Change, writer: GroupWriter, id: string, ifMatch?: string): Promise<void> {
    if (ifMatch === undefined) return;
    await this.groups.hold(tx, writer, id);
    const { version } = await this.groups.owned(tx, writer, id);
    // The lock itself has counted one.
    assertVersion(ifMatch, versionOfGroup(version - 1));
  }

  private async applyMembers(change: Change, writer: GroupWriter, id: string, edit?: MemberEdit): Promise<void> {
    if (edit === undefined) return;
    await this.groups.owned(change.tx, writer, id);
    try {
      if ('all' in edit) return await this.members.replaceAll(change, writer, id, [...edit.all]);
      if (edit.joins.size > 0) await this.members.addAll(change, writer, id, [...edit.joins]);
      if (edit.leaves.size > 0) await this.members.removeAll(change, writer, id, [...edit.leaves]);
    } catch (error) {
      // The group was there before: a user is missing.
      if (error instanceof GroupProblem && error.reason === 'missing')
        throw invalidValue('a member is no user of the tenant');
      throw error;
    }
  }
}

const writerOf = ({ within }: Caller): GroupWriter => ({ source: 'scim', ...within });

/** The change, and how many audit rows it has: a change without one would be no change. */
function countedChange(change: Change): { readonly counted: Change; readonly changes: () => number } {
  let rows = 0;
  const record: Change['record'] = async (event, entry) => {
    await change.record(event, entry);
    rows += 1;
  };
  return { counted: { ...change, record }, changes: () => rows };
}

/** Runs a change of groups, and says its refusals in the words of SCIM. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GroupProblem)) throw error;
    if (error.reason === 'missing') throw unknownResource();
    if (error.reason === 'foreign') throw new ScimError(403, undefined, error.message);
    if (error.reason === 'taken') throw new ScimError(409, 'uniqueness', 'there is already a group with this name');
    throw invalidValue(error.message);
  }
}
