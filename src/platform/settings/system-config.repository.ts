import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import type { SealedColumn } from '../crypto/resealing';
import { Database } from '../database/database';
import { EntityRows } from '../database/entity-rows';
import type { Sql } from '../database/sql';
import { SystemConfig } from './system-config.entity';

/** Names one setting of a tenant. */
export type SettingRow = Pick<SystemConfig, 'tenantId' | 'group' | 'key'>;

/** The table `system_configs`. */
@Injectable()
export class SystemConfigs {
  private readonly rows: EntityRows<SystemConfig>;

  constructor(@InjectRepository(SystemConfig) rows: Repository<SystemConfig>, database: Database) {
    this.rows = new EntityRows(rows, database);
  }

  /** The settings of a tenant, or those of one group, in the order of their names. */
  list(of: Pick<SystemConfig, 'tenantId'> & Partial<Pick<SystemConfig, 'group'>>): Promise<SystemConfig[]> {
    return this.rows.find(of, { order: { group: 'ASC', key: 'ASC' } });
  }

  /** Race: several callers set the same new key. One INSERT succeeds; the others fail with a duplicate key. */
  async replace(sql: Sql, { tenantId, group, key, value }: SystemConfig): Promise<void> {
    await this.remove(sql, { tenantId, group, key });
    await this.rows.insert(sql, { tenantId, group, key, value });
  }

  /** @returns whether the setting was set */
  async remove(sql: Sql, { tenantId, group, key }: SettingRow): Promise<boolean> {
    return (await this.rows.remove(sql, { tenantId, group, key })) === 1;
  }

  /**
   * Race: a change of the setting. The row is locked until the transaction ends, so the change waits.
   * @returns whether the setting has one of the values
   */
  lock(sql: Sql, { tenantId, group, key }: SettingRow, values: readonly string[]): Promise<boolean> {
    return this.rows.won(sql, { tenantId, group, key, value: In(values) }, { value: () => 'value' });
  }
}

/** The column of one setting of each tenant, for `keys reseal`. */
export function sealedSetting(group: string, key: string, purpose: string): SealedColumn {
  const only = `\`group\` = '${group}' AND \`key\` = '${key}'`;
  return { table: 'system_configs', key: 'tenant_id', column: 'value', purpose, only };
}
