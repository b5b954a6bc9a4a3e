import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { isDuplicate } from '../platform/database/store-failure';
import { type OrgUnit, OrgUnitRepository } from '../users/org-unit.repository';
import { TenantRepository } from '../users/tenant.repository';
import { AdminChanges } from './admin-changes';
import { type AdminScope, within } from './admin-scope';
import type { Authority } from './authority';
import { assertEntryId, entryName, EntryNotFound, EntryProblem } from './entries';

export type { OrgUnit } from '../users/org-unit.repository';

export interface OrgUnitRows {
  readonly items: readonly OrgUnit[];
  /** The key of the last item, or null when there are no more. */
  readonly next: readonly [id: string] | null;
}

/** Organisation units of the tenants in the scope of the caller. */
@Injectable()
export class OrgUnits {
  constructor(
    private readonly rows: OrgUnitRepository,
    private readonly tenants: TenantRepository,
    private readonly changes: AdminChanges,
  ) {}

  /** In the order of the ids. @param tenantId only the units of this tenant. @param limit at most 1000 */
  async list(scope: AdminScope, tenantId: string | undefined, limit: number, after = ''): Promise<OrgUnitRows> {
    const rows = await this.rows.list(within(scope), tenantId, after, 1001);
    const items = rows.slice(0, limit);
    return { items, next: rows.length > limit ? [items.at(-1)!.id] : null };
  }

  /**
   * Race: two creations with one id. The primary key decides, and the loser gets an EntryProblem.
   * @throws EntryNotFound for a tenant that does not exist or is outside the scope
   * @throws EntryProblem for a wrong id or name, and for an id that is in use, in whichever tenant
   */
  async create(by: Authority, { id, tenantId, name }: OrgUnit): Promise<OrgUnit> {
    assertEntryId(id);
    const unit = { id, tenantId, name: entryName(name) };
    try {
      await this.changes.make(by, async ({ tx, record }) => {
        await this.assertTenant(tx, by.scope, tenantId);
        await this.rows.insert(tx, unit);
        await record('ORG_UNIT_CREATED', { detail: { tenant: tenantId, unit: id } });
      });
    } catch (error) {
      if (isDuplicate(error)) throw new EntryProblem('id', `there is already an organisation unit ${id}`);
      throw error;
    }
    return unit;
  }

  /** @throws EntryNotFound @throws EntryProblem for a wrong name */
  async rename(by: Authority, { id, name }: Pick<OrgUnit, 'id' | 'name'>): Promise<OrgUnit> {
    const renamed = entryName(name);
    return this.changes.make(by, async ({ tx, record }) => {
      const unit = await this.rows.find(tx, id, within(by.scope));
      if (unit === undefined) throw new EntryNotFound(`there is no organisation unit ${JSON.stringify(id)}`);
      await this.rows.rename(tx, unit, renamed);
      await record('ORG_UNIT_RENAMED', { detail: { tenant: unit.tenantId, unit: id } });
      return { id, tenantId: unit.tenantId, name: renamed };
    });
  }

  private async assertTenant(tx: Transaction, scope: AdminScope, tenantId: string): Promise<void> {
    const { tenantId: own = tenantId } = within(scope);
    if (own === tenantId && (await this.tenants.exists(tx, tenantId))) return;
    throw new EntryNotFound(`there is no tenant ${JSON.stringify(tenantId)}`);
  }
}
