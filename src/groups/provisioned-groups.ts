import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { type ListStatements, PageStarts, type PlacedRow } from '../platform/database/page-starts';
import {
  type Condition,
  conditionOf,
  type Found,
  isSelective,
  type Search,
  type SearchColumns,
  type SearchedPage,
} from '../platform/database/search';
import { filledUp } from '../platform/database/statement-keys';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import type { WithinTenant } from '../users/tenant.repository';
import { Group } from './group.entity';

/** The fields that a provisioning system searches by. */
export type GroupSearchField = 'id' | 'name' | 'externalId' | 'member';
export type GroupSearch = Search<GroupSearchField>;

const columns: SearchColumns<GroupSearchField> = {
  id: { column: 'id' },
  name: { column: 'name_key', key: identityKey },
  externalId: { column: 'external_id' },
  member: { equals: 'id IN (SELECT m.group_id FROM user_group_members m WHERE m.user_id = ?)' },
};

/** Searches for systems that provision groups, with a position and a total, as SCIM has them (RFC 7644 §3.4.2). */
@Injectable()
export class ProvisionedGroups {
  private readonly rows: EntityRows<Group>;
  private readonly starts: PageStarts;

  constructor(
    @InjectRepository(Group) rows: Repository<Group>,
    private readonly database: Database,
    clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
    this.starts = new PageStarts(clock);
  }

  /** In the order of the names, as `ProvisionedUsers.page`. */
  async page(within: WithinTenant, search: GroupSearch | undefined, page: SearchedPage): Promise<Found<Group>> {
    // Names are unique in a tenant.
    const sorted = {
      column: 'name_key',
      id: within.tenantId === undefined ? 'id' : undefined,
      descending: page.descending,
    };
    const few = search !== undefined && isSelective(search, []);
    const list = { where: conditions(within, search), order: sorted, few };
    const { total, rows } = await this.starts.page(list, page, this.statements(few ? '' : forced(within)));
    return { total, rows: await this.read(rows.map(({ id }) => id)) };
  }

  /**
   * The members of several groups, with one statement, in the order of their uids.
   * @param most so many of all of them @returns undefined when there are more
   */
  async membersOf(ids: readonly string[], most: number): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
    const members = new Map<string, string[]>(ids.map((id) => [id, []]));
    if (ids.length === 0) return members;
    const filled = filledUp(ids);
    const rows = await this.database.rows<{ id: string; uid: string }>(
      `SELECT group_id AS id, user_id AS uid FROM user_group_members
       WHERE group_id IN (${filled.map(() => '?').join(', ')}) ORDER BY group_id, user_id LIMIT ${most + 1}`,
      filled,
    );
    for (const { id, uid } of rows) members.get(id)!.push(uid);
    return rows.length > most ? undefined : members;
  }

  private statements(index: string): ListStatements<PlacedRow> {
    return {
      rows: ({ text, values }, order, limit, skip) =>
        this.database.rows<PlacedRow>(
          `SELECT id, name_key AS place FROM user_groups ${index} WHERE ${text} ORDER BY ${order}
           LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(skip)}`,
          values,
        ),
      count: async ({ text, values }) => {
        const statement = `SELECT COUNT(*) AS n FROM user_groups WHERE ${text}`;
        return Number((await this.database.row<{ n: number }>(statement, values))?.n);
      },
    };
  }

  private async read(ids: readonly string[]): Promise<Group[]> {
    if (ids.length === 0) return [];
    const found = new Map((await this.rows.find({ id: In(filledUp(ids)) })).map((group) => [group.id, group]));
    return ids.flatMap((id) => found.get(id) ?? []);
  }
}

/** As in ProvisionedUsers. */
const forced = ({ tenantId }: WithinTenant): string =>
  `/*! FORCE INDEX (${tenantId === undefined ? 'ix_user_groups_name_key_id' : 'uq_user_groups_tenant_id_name_key'}) */`;

function conditions({ tenantId }: WithinTenant, search: GroupSearch | undefined): Condition {
  const parts: Condition[] = [
    { text: 'tenant_id = ?', values: [tenantId ?? null] },
    ...(search === undefined ? [] : [conditionOf(search, columns)]),
  ].slice(tenantId === undefined ? 1 : 0);
  if (parts.length === 0) return { text: "name_key > ''", values: [] };
  return { text: parts.map(({ text }) => text).join(' AND '), values: parts.flatMap(({ values }) => values) };
}
