import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { type SqlValue, timeOf } from '../platform/database/sql';
import { identityKey } from '../shared/identity-key';
import type { Group } from './group.entity';

export interface GroupFilter {
  /** The beginning of the name. */
  readonly query?: string;
  readonly tenantId?: string;
  /** The tenant whose groups the caller can reach, if not all. */
  readonly within?: string;
}

/** The key of a name, and the id of the group that has it: two tenants may have groups of one name. */
export type GroupPlace = readonly [nameKey: string, id: string];

export interface GroupPage {
  readonly items: readonly Group[];
  /** The place of the last item, or null after the last page. */
  readonly next: GroupPlace | null;
}

type Row = Omit<Group, 'createdAt' | 'changedAt'> & Record<'createdAt' | 'changedAt', unknown>;

/** Sorts after every character that a name can have. */
const lastCharacter = '\u{10FFFF}';

/** Lists groups in the order of their names. Each order is that of an index, so a page reads about as many rows as it has. */
@Injectable()
export class GroupListing {
  constructor(private readonly database: Database) {}

  async page({ query, tenantId, within }: GroupFilter, limit: number, after?: GroupPlace): Promise<GroupPage> {
    const where: string[] = [];
    const values: SqlValue[] = [];
    const add = (text: string, ...given: SqlValue[]) => (where.push(text), values.push(...given));
    // A caller who asks for another tenant gets nothing: one condition must not replace the other.
    for (const tenant of [within, tenantId]) if (tenant !== undefined) add('tenant_id = ?', tenant);
    const key = identityKey(query ?? '');
    add('name_key >= ? AND name_key < ?', key, key + lastCharacter);
    if (after !== undefined) add('name_key >= ? AND (name_key > ? OR id > ?)', after[0], after[0], after[1]);
    const rows = await this.database.rows<Row>(
      `SELECT id, tenant_id AS tenantId, name, name_key AS nameKey, source, owner_id AS ownerId,
              external_id AS externalId, version, created_at AS createdAt, changed_at AS changedAt
       FROM user_groups WHERE ${where.join(' AND ')} ORDER BY name_key, id LIMIT ${Math.trunc(limit) + 1}`,
      values,
    );
    const items = rows.slice(0, limit).map((row) => ({
      ...row,
      createdAt: timeOf(row.createdAt),
      changedAt: timeOf(row.changedAt),
    }));
    const last = items.at(-1);
    return { items, next: rows.length > limit && last !== undefined ? [last.nameKey, last.id] : null };
  }
}
