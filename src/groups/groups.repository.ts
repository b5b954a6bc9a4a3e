import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { isUuid } from '../shared/uuid';
import { assertTenant, type WithinTenant } from '../users/tenant.repository';
import { type GroupChange, groupName, type GroupOwner, type GroupWriter } from './group-change';
import { Group } from './group.entity';
import { GroupProblem } from './group-problem';
import { GroupMember } from './persistence/group-member.entity';

export type { Group, GroupSource } from './group.entity';

export interface NewGroup extends GroupOwner {
  readonly tenantId: string;
  readonly name: string;
  readonly externalId?: string | null;
}

/** Members are deleted in statements of so many, because one statement over a large group would last too long. */
const batch = 1000;

/** The table `user_groups`. One source owns a group, and only that source writes it. */
@Injectable()
export class Groups {
  private readonly rows: EntityRows<Group>;
  private readonly memberRows: EntityRows<GroupMember>;

  constructor(
    @InjectRepository(Group) rows: Repository<Group>,
    @InjectRepository(GroupMember) memberRows: Repository<GroupMember>,
    database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.rows = new EntityRows(rows, database);
    this.memberRows = new EntityRows(memberRows, database);
  }

  /** MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it. */
  find(id: string, { tenantId }: WithinTenant = {}, sql?: Sql): Promise<Group | null> {
    if (!isUuid(id)) return Promise.resolve(null);
    return this.rows.findOne({ id, ...(tenantId === undefined ? {} : { tenantId }) }, sql);
  }

  /** @param ids at most a few hundred */
  findAll(ids: readonly string[], sql?: Sql): Promise<Group[]> {
    const known = ids.filter(isUuid);
    return known.length === 0 ? Promise.resolve([]) : this.rows.find({ id: In(known) }, {}, sql);
  }

  findByName(tenantId: string, name: string, sql?: Sql): Promise<Group | null> {
    return this.rows.findOne({ tenantId, nameKey: groupName(name).nameKey }, sql);
  }

  /**
   * Race: two creations of one name in a tenant, by whichever sources. The unique key decides, and the loser gets a
   * GroupProblem. Its transaction must be rolled back.
   * @throws GroupProblem taken, malformed @throws AccountProblem when there is no such tenant
   */
  async create(change: GroupChange, { tenantId, name, source, ownerId = null, externalId = null }: NewGroup) {
    await assertTenant(change.tx, tenantId);
    const now = this.clock.now();
    const row: Group = {
      ...{ id: this.random.uuid(), tenantId, ...groupName(name), source, ownerId, externalId },
      ...{ version: 0, createdAt: now, changedAt: now },
    };
    if (!(await this.rows.added(change.tx, row))) throw taken(row.name);
    await change.record('GROUP_CREATED', { detail: { group: row.id, tenant: tenantId, source } });
    return row;
  }

  /**
   * Sets what is given.
   * Races: a deletion that commits first leaves no row, and this caller gets `missing`. Of two changes of one field the
   * later one lasts; of two renamings to one name the unique key refuses the second (`taken`).
   * @throws GroupProblem missing, foreign, taken, malformed
   */
  async change(
    { tx, record }: GroupChange,
    writer: GroupWriter,
    id: string,
    { name, externalId }: { readonly name?: string; readonly externalId?: string | null },
  ): Promise<Group> {
    await this.owned(tx, writer, id);
    const named = name === undefined ? {} : groupName(name);
    try {
      if (!(await this.write(tx, writer, id, { ...named, ...(externalId === undefined ? {} : { externalId }) }))) {
        throw missing(id);
      }
    } catch (error) {
      throw isDuplicate(error) ? taken(name!) : error;
    }
    const fields = [...(name === undefined ? [] : ['name']), ...(externalId === undefined ? [] : ['external_id'])];
    await record('GROUP_CHANGED', { detail: { group: id, fields: fields.join(' ') } });
    return (await this.find(id, {}, tx))!;
  }

  /**
   * Deletes the group, and with it all memberships.
   * Races: of two deletions the first one wins, and the second one gets `missing`. A member that is added beside it either
   * holds the row of the group and is deleted here, or finds no group.
   * @throws GroupProblem missing, foreign
   */
  async remove({ tx, record }: GroupChange, writer: GroupWriter, id: string): Promise<void> {
    const { tenantId, source } = await this.owned(tx, writer, id);
    if ((await this.rows.remove(tx, { id, ...owner(writer) })) !== 1) throw missing(id);
    for (;;) {
      const members = await this.memberRows.find({ groupId: id }, { limit: batch }, tx);
      if (members.length === 0) break;
      await this.memberRows.remove(tx, { groupId: id, userId: In(members.map(({ userId }) => userId)) });
    }
    await record('GROUP_DELETED', { detail: { group: id, tenant: tenantId, source } });
  }

  /** Deletes all groups of an owner that ends. @throws GroupProblem as `remove` */
  async removeAllOf(change: GroupChange, owner: GroupOwner & { readonly ownerId: string }): Promise<void> {
    for (const { id } of await this.rows.find({ source: owner.source, ownerId: owner.ownerId }, {}, change.tx)) {
      await this.remove(change, owner, id);
    }
  }

  /**
   * Locks the row of the group until the transaction ends, before its members are written. Whoever locks users as well
   * locks them first.
   * Races with a deletion. If that commits first, this UPDATE matches no row and the caller gets `missing`.
   * @throws GroupProblem missing, foreign
   */
  async hold(tx: Transaction, writer: GroupWriter, id: string): Promise<void> {
    await this.owned(tx, writer, id);
    if (!(await this.write(tx, writer, id, {}))) throw missing(id);
  }

  /**
   * Like `hold`, for groups of any owner whose memberships of one user end. In the order of the ids, as whoever holds several
   * groups. A group that was deleted meanwhile is left out.
   */
  async holdAll(tx: Transaction, ids: readonly string[]): Promise<void> {
    for (const id of [...ids].sort()) await this.rows.won(tx, { id }, this.counted());
  }

  /** @throws GroupProblem missing, foreign */
  async owned(tx: Sql, writer: GroupWriter, id: string): Promise<Group> {
    const group = await this.find(id, writer.tenantId === undefined ? {} : { tenantId: writer.tenantId }, tx);
    if (group === null) throw missing(id);
    if (group.source === writer.source && group.ownerId === (writer.ownerId ?? null)) return group;
    throw new GroupProblem('foreign', `the group belongs to ${group.source}`);
  }

  private write(tx: Transaction, writer: GroupWriter, id: string, change: Partial<Group>): Promise<boolean> {
    return this.rows.won(tx, { id, ...owner(writer) }, { ...change, ...this.counted() });
  }

  private counted() {
    return { changedAt: this.clock.now(), ...this.rows.incremented('version') };
  }
}

const owner = ({ source, ownerId }: GroupOwner) => ({ source, ownerId: ownerId ?? IsNull() });
const missing = (id: string) => new GroupProblem('missing', `there is no group ${JSON.stringify(id)}`);
const taken = (name: string) => new GroupProblem('taken', `there is already a group ${name}`);
