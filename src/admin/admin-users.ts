import { Injectable } from '@nestjs/common';
import { type ListedUser, type UserFilter, UserListing } from '../users/user-listing';
import { everyTenant } from './admin-scope';
import type { Authority } from './authority';
import type { Place } from './frame/cursor';
import type { Rows } from './frame/lists';
import type { AdminUserItem, UsersQuery } from './http/users.dto';

/** What administrators see of users. Users of other tenants do not exist for them. */
@Injectable()
export class AdminUsers {
  constructor(private readonly listing: UserListing) {}

  async page(by: Authority, asked: UsersQuery, limit: number, after?: Place): Promise<Rows<AdminUserItem>> {
    const { items, next } = await this.listing.page(filterOf(by, asked), { limit, after: String(after?.[0] ?? '') });
    return { items: items.map(itemOf), next: next === null ? null : [next] };
  }
}

function filterOf({ scope }: Authority, { query, status, tenant_id: asked, locked }: UsersQuery): UserFilter {
  return {
    query: query === '' ? undefined : query,
    status: status === undefined ? undefined : Number(status),
    tenantId: asked,
    within: scope.tenantId === everyTenant ? undefined : scope.tenantId,
    locked: locked === undefined ? undefined : locked === 'true',
  };
}

export function itemOf(user: ListedUser): AdminUserItem {
  return {
    uid: user.uid,
    login_name: user.loginName,
    email: user.email,
    nickname: user.nickname,
    status: user.status,
    provider: user.provider,
    is_admin: user.isAdmin,
    mfa_type: user.mfaType,
    tenant_id: user.tenantId,
    org_unit_id: user.orgUnitId,
    locked: user.locked,
    created_at: user.createdAt.toISOString(),
    last_login_at: user.lastLoginAt?.toISOString() ?? null,
  };
}
