import { Injectable } from '@nestjs/common';
import { isDuplicate } from '../platform/database/store-failure';
import { TenantRepository } from '../users/tenant.repository';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { assertEntryId, entryName, EntryNotFound, EntryProblem } from './entries';

export interface Tenant {
  readonly id: string;
  readonly name: string;
}

export interface TenantRows {
  readonly items: readonly Tenant[];
  /** The key of the last item, or null when there are no more. */
  readonly next: readonly [id: string] | null;
}

/** Tenants: only administrators of the root tenant and operators reach this service. */
@Injectable()
export class Tenants {
  constructor(
    private readonly rows: TenantRepository,
    private readonly changes: AdminChanges,
  ) {}

  /** In the order of the ids. @param limit at most 1000 */
  async list(limit: number, after = ''): Promise<TenantRows> {
    const rows = await this.rows.list(after, 1001);
    const items = rows.slice(0, limit).map(({ id, name }) => ({ id, name }));
    return { items, next: rows.length > limit ? [items.at(-1)!.id] : null };
  }

  /**
   * Race: two creations with one id. The primary key decides, and the loser gets an EntryProblem.
   * @throws EntryProblem for a wrong id or name, and for an id that is in use
   */
  async create(by: Authority, { id, name }: Tenant): Promise<Tenant> {
    assertEntryId(id);
    const tenant = { id, name: entryName(name) };
    try {
      await this.changes.make(by, async ({ tx, record }) => {
        await this.rows.insert(tx, tenant);
        await record('TENANT_CREATED', { detail: { tenant: id } });
      });
    } catch (error) {
      if (isDuplicate(error)) throw new EntryProblem('id', `there is already a tenant ${id}`);
      throw error;
    }
    return tenant;
  }

  /** @throws EntryNotFound @throws EntryProblem for a wrong name */
  async rename(by: Authority, { id, name }: Tenant): Promise<Tenant> {
    const tenant = { id, name: entryName(name) };
    await this.changes.make(by, async ({ tx, record }) => {
      if (!(await this.rows.exists(tx, id))) throw new EntryNotFound(`there is no tenant ${JSON.stringify(id)}`);
      await this.rows.rename(tx, tenant);
      await record('TENANT_RENAMED', { detail: { tenant: id } });
    });
    return tenant;
  }
}
