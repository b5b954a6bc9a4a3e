import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { SystemConfig } from './system-config.entity';

export const rootTenant = 'root';
const freshForMs = 900;

/**
 * Reads the settings of the root tenant, one group at a time. A copy is used for less than a second, so each process
 * sees every change within a second, also one made by plain SQL.
 */
@Injectable()
export class SystemSettings {
  private readonly copies = new Map<
    string,
    { readonly values: ReadonlyMap<string, string>; readonly readAt: number }
  >();

  constructor(
    @InjectRepository(SystemConfig) private readonly rows: Repository<SystemConfig>,
    private readonly clock: Clock,
  ) {}

  async group(group: string): Promise<ReadonlyMap<string, string>> {
    const now = this.clock.now().getTime();
    const copy = this.copies.get(group);
    if (copy !== undefined && Math.abs(now - copy.readAt) < freshForMs) return copy.values;
    const rows = await this.rows.findBy({ tenantId: rootTenant, group });
    const values = new Map(rows.map((row) => [row.key, row.value]));
    this.copies.set(group, { values, readAt: now });
    return values;
  }

  async find(group: string, key: string): Promise<string | undefined> {
    return (await this.group(group)).get(key);
  }
}
