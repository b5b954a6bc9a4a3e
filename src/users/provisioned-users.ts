import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
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
import type { SqlValue } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import type { WithinTenant } from './tenant.repository';
import { columnsOf, readerOf, type Stored } from './user-columns';
import type { UserColumn } from './user-fields';
import { type User, userStatus } from './user.entity';
import { tombstoneKeys } from './user-tombstones';

/** The fields that a provisioning system searches by. Each has an index, so no search reads the rows of the table. */
export type UserSearchField = 'uid' | 'loginName' | 'externalId' | 'email' | 'nickname' | 'createdAt' | 'enabled';
export type UserSearch = Search<UserSearchField>;
export type UserOrder = 'loginName' | 'email' | 'nickname';

/** The fields of a user that a provisioning system sees. A page has many users, so it reads only these. */
const shown = [
  ...(['uid', 'tenantId', 'loginName', 'externalId', 'nickname', 'status'] as const),
  ...(['email', 'orgUnitId', 'createdAt', 'inGroups'] as const),
] satisfies UserColumn[];
export type ProvisionedUser = Pick<User, (typeof shown)[number]>;
type ShownRow = Stored<keyof ProvisionedUser> & PlacedRow;

const [shownColumns, readShown] = [columnsOf(shown, 'u'), readerOf(shown)];

const columns: SearchColumns<UserSearchField> = {
  uid: { column: 'uid' },
  loginName: { column: 'login_name_key', key: identityKey },
  externalId: { column: 'external_id' },
  email: { column: 'email_key', key: identityKey },
  nickname: { column: 'nickname_key', place: 'LOWER(?)' },
  createdAt: { column: 'created_at' },
  enabled: { equals: `(status = ${userStatus.enabled}) = ?` },
};

const orders: Readonly<Record<UserOrder, string>> = {
  loginName: 'login_name_key',
  email: 'email_key',
  nickname: 'nickname_key',
};

/** Searches for systems that provision users, with a position and a total, as SCIM has them (RFC 7644 §3.4.2). */
@Injectable()
export class ProvisionedUsers {
  private readonly starts: PageStarts;

  constructor(
    private readonly database: Database,
    clock: Clock,
  ) {
    this.starts = new PageStarts(clock);
  }

  /** At most two statements. The page is found in an index, behind the page before it. */
  async page(
    within: WithinTenant,
    search: UserSearch | undefined,
    order: UserOrder,
    page: SearchedPage,
  ): Promise<Found<ProvisionedUser>> {
    const column = orders[order];
    const few = search !== undefined && isSelective(search, ['enabled', 'createdAt']);
    // Login names are unique.
    const sorted = { column, id: order === 'loginName' ? undefined : 'uid', descending: page.descending };
    const list = { where: conditions(within, search), order: sorted, few };
    const { total, rows } = await this.starts.page(
      list,
      page,
      this.statements(column, few ? '' : forced(within, order)),
    );
    return { total, rows: rows.map(readShown) };
  }

  /**
   * The page is found in the index alone, and only its users are looked up. The order is written twice, because a database may return the
   * rows of a join in any order. The hint keeps MariaDB from beginning with all users; SQLite takes it for a comment.
   */
  private statements(column: string, index: string): ListStatements<ShownRow> {
    return {
      rows: ({ text, values }, order, limit, skip) =>
        this.database.rows<ShownRow>(
          `SELECT /*! STRAIGHT_JOIN */ page.id, page.place, ${shownColumns}
           FROM (SELECT uid AS id, ${column} AS place FROM users ${index} WHERE ${text} ORDER BY ${order}
                 LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(skip)}) page JOIN users u ON u.uid = page.id
           ORDER BY ${order}`,
          values,
        ),
      count: async ({ text, values }) =>
        Number((await this.database.row<{ n: number }>(`SELECT COUNT(*) AS n FROM users WHERE ${text}`, values))?.n),
    };
  }
}

/** The index of an order, and that within a tenant. The optimizer of MariaDB would sometimes rather read all rows, and sort them. */
const indices: Readonly<Record<UserOrder, readonly [all: string, ofTenant: string]>> = {
  loginName: ['uq_users_login_name_key', 'ix_users_tenant_id_login_name_key'],
  email: ['uq_users_email_key', 'ix_users_tenant_id_email_key'],
  nickname: ['ix_users_nickname_key_uid', 'ix_users_tenant_id_nickname_key_uid'],
};
const forced = ({ tenantId }: WithinTenant, order: UserOrder): string =>
  `/*! FORCE INDEX (${indices[order][tenantId === undefined ? 0 : 1]}) */`;

function conditions({ tenantId }: WithinTenant, search: UserSearch | undefined): Condition {
  const parts: Condition[] = [
    // The keys of deleted users are behind all others, so the index tells who is one.
    { text: 'login_name_key < ?', values: [tombstoneKeys] },
    ...(tenantId === undefined ? [] : [{ text: 'tenant_id = ?', values: [tenantId] as SqlValue[] }]),
    ...(search === undefined ? [] : [conditionOf(search, columns)]),
  ];
  return { text: parts.map(({ text }) => text).join(' AND '), values: parts.flatMap(({ values }) => values) };
}
