import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { Clock } from '../shared/clock';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { rootTenant } from '../platform/settings/system-settings';
import { AccountProblem } from './account-problem';
import { Tenant } from './persistence/tenant.entity';

export type { Tenant } from './persistence/tenant.entity';

/** The tenant whose rows a caller can reach. Without one, the caller reaches all rows. */
export interface WithinTenant {
  readonly tenantId?: string;
}

/** The table `tenants`. */
@Injectable()
export class TenantRepository {
  private readonly rows: EntityRows<Tenant>;

  constructor(
    @InjectRepository(Tenant) rows: Repository<Tenant>,
    database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** In the order of the ids. @param after the last id of the page before; empty for the first page */
  list(after: string, limit: number): Promise<Tenant[]> {
    return this.rows.find({ id: MoreThan(after) }, { order: { id: 'ASC' }, limit });
  }

  async exists(sql: Sql, id: string): Promise<boolean> {
    return isSame(id, await this.rows.findOne({ id }, sql));
  }

  /** Race: two insertions of one id. The primary key decides, and the loser gets the error of the duplicate. */
  async insert(tx: Transaction, { id, name }: Pick<Tenant, 'id' | 'name'>): Promise<void> {
    await this.rows.insert(tx, { id, name, createdAt: this.clock.now() });
  }

  /** The last of several renamings wins, as with any value that is replaced as a whole. */
  async rename(tx: Transaction, { id, name }: Pick<Tenant, 'id' | 'name'>): Promise<void> {
    await this.rows.update(tx, { id }, { name });
  }

  /** Locks the row of the root tenant until the transaction ends. */
  async holdRoot(tx: Transaction): Promise<void> {
    await this.rows.update(tx, { id: rootTenant }, this.rows.incremented('held'));
  }
}

/**
 * `utf8mb4_bin` ignores trailing spaces, so MariaDB also finds `root` for an id with a space after it. Otherwise the
 * padded id would be stored and would get into tokens.
 */
const isSame = (id: string, row: { readonly id: string } | null | undefined): boolean => row?.id === id;

/** @throws AccountProblem when there is no such tenant */
export async function assertTenant(sql: Sql, id: string): Promise<void> {
  if (isSame(id, await sql.row<{ id: string }>('SELECT id FROM tenants WHERE id = ?', [id]))) return;
  throw new AccountProblem(`there is no tenant ${JSON.stringify(id)}`, 'tenant_id');
}
