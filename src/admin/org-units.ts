import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { isDuplicate } from '../platform/database/store-failure';
import { AdminChanges } from './admin-changes';
import { type AdminScope, within } from './admin-scope';
import type { Authority } from './authority';
import { assertEntryId, entryName, EntryNotFound, EntryProblem } from './entries';

export interface OrgUnit {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
}

export interface OrgUnitRows {
  readonly items: readonly OrgUnit[];
  /** The key of the last item, or null when there are no more. */
  readonly next: readonly [id: string] | null;
}

/** Organisation units of the tenants in the scope of the caller. */
@Injectable()
export class OrgUnits {
  constructor(
    private readonly database: Database,
    private readonly changes: AdminChanges,
  ) {}

  /** In the order of the ids. @param tenantId only the units of this tenant. @param limit at most 1000 */
  async list(scope: AdminScope, tenantId: string | undefined, limit: number, after = ''): Promise<OrgUnitRows> {
    const own = within(scope);
    const chosen = tenantId === undefined ? { condition: '1 = 1', values: [] } : within({ tenantId });
    const rows = await this.database.rows<OrgUnit>(
      `SELECT id, tenant_id AS tenantId, name FROM org_units
       WHERE id > ? AND ${own.condition} AND ${chosen.condition} ORDER BY id LIMIT 1001`,
      [after, ...own.values, ...chosen.values],
    );
    const items = rows.slice(0, limit).map((row) => ({ id: row.id, tenantId: row.tenantId, name: row.name }));
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
        await tx.affected('INSERT INTO org_units (id, tenant_id, name) VALUES (?, ?, ?)', [id, tenantId, unit.name]);
        await record('ORG_UNIT_CREATED', { detail: { tenant: tenantId, unit: id } });
      });
    } catch (error) {
      if (isDuplicate(error)) throw new EntryProblem('id', `there is already an organisation unit ${id}`);
      throw error;
    }
    return unit;
  }

  /**
   * The last of several renamings wins, as with any value that is replaced as a whole.
   * @throws EntryNotFound @throws EntryProblem for a wrong name
   */
  async rename(by: Authority, { id, name }: Pick<OrgUnit, 'id' | 'name'>): Promise<OrgUnit> {
    const own = within(by.scope);
    const renamed = entryName(name);
    return this.changes.make(by, async ({ tx, record }) => {
      const row = await tx.row<OrgUnit>(
        `SELECT id, tenant_id AS tenantId FROM org_units WHERE id = ? AND ${own.condition}`,
        [id, ...own.values],
      );
      // MariaDB also finds a unit for its id with a space after it.
      if (row?.id !== id) throw new EntryNotFound(`there is no organisation unit ${JSON.stringify(id)}`);
      await tx.affected(`UPDATE org_units SET name = ? WHERE id = ? AND ${own.condition}`, [
        renamed,
        id,
        ...own.values,
      ]);
      await record('ORG_UNIT_RENAMED', { detail: { tenant: row.tenantId, unit: id } });
      return { id, tenantId: row.tenantId, name: renamed };
    });
  }

  private async assertTenant(tx: Transaction, scope: AdminScope, tenantId: string): Promise<void> {
    const own = within(scope, 'id');
    const row = await tx.row<{ id: string }>(`SELECT id FROM tenants WHERE id = ? AND ${own.condition}`, [
      tenantId,
      ...own.values,
    ]);
    if (row?.id !== tenantId) throw new EntryNotFound(`there is no tenant ${JSON.stringify(tenantId)}`);
  }
}
