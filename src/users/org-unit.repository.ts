import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { And, Equal, In, MoreThan, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';
import { AccountProblem } from './account-problem';
import { OrgUnit } from './persistence/org-unit.entity';
import type { WithinTenant } from './tenant.repository';

export type { OrgUnit } from './persistence/org-unit.entity';

/** The table `org_units`. */
@Injectable()
export class OrgUnitRepository {
  private readonly rows: EntityRows<OrgUnit>;

  constructor(@InjectRepository(OrgUnit) rows: Repository<OrgUnit>, database: Database) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * In the order of the ids.
   * @param tenantId only the units of this tenant
   * @param after the last id of the page before; empty for the first page
   */
  list(within: WithinTenant, tenantId: string | undefined, after: string, limit: number): Promise<OrgUnit[]> {
    // A caller who asks for another tenant gets nothing: one condition must not replace the other.
    const tenants = [within.tenantId, tenantId].flatMap((id) => (id === undefined ? [] : [Equal(id)]));
    const ofTenants = tenants.length === 0 ? {} : { tenantId: And(...tenants) };
    return this.rows.find({ id: MoreThan(after), ...ofTenants }, { order: { id: 'ASC' }, limit });
  }

  async find(sql: Sql, id: string, within: WithinTenant): Promise<OrgUnit | undefined> {
    const row = await this.rows.findOne({ id, ...within }, sql);
    // MariaDB also finds a unit for its id with a space after it.
    return row?.id === id ? row : undefined;
  }

  /** The unit that a person of another system is in: by its id, else by its name. Of units with one name, the first id. */
  async named(sql: Sql, tenantId: string, idOrName: string): Promise<OrgUnit | undefined> {
    const [byId] = await this.rows.find({ id: idOrName, tenantId }, { limit: 1 }, sql);
    if (byId?.id === idOrName) return byId;
    return (await this.rows.find({ name: idOrName, tenantId }, { order: { id: 'ASC' }, limit: 1 }, sql))[0];
  }

  /** The names of units by their ids. */
  async names(ids: readonly string[], sql?: Sql): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.rows.find({ id: In(filledUp([...new Set(ids)])) }, {}, sql);
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Race: two insertions of one id, in whichever tenants. The primary key decides, and the loser gets the duplicate. */
  async insert(tx: Transaction, unit: OrgUnit): Promise<void> {
    await this.rows.insert(tx, unit);
  }

  /** The last of several renamings wins, as with any value that is replaced as a whole. */
  async rename(tx: Transaction, { id, tenantId }: Pick<OrgUnit, 'id' | 'tenantId'>, name: string): Promise<void> {
    await this.rows.update(tx, { id, tenantId }, { name });
  }
}

/** @throws AccountProblem when the tenant has no such unit; see `assertTenant` for the comparison */
export async function assertOrgUnit(sql: Sql, id: string, tenantId: string): Promise<void> {
  const unit = await sql.row<{ id: string }>('SELECT id FROM org_units WHERE id = ? AND tenant_id = ?', [id, tenantId]);
  if (unit?.id === id) return;
  throw new AccountProblem(`there is no organisation unit ${JSON.stringify(id)} in the tenant`, 'org_unit_id');
}
