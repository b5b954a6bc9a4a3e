import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { SystemConfigs } from './system-config.repository';

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
    private readonly configs: SystemConfigs,
    private readonly clock: Clock,
  ) {}

  async group(group: string): Promise<ReadonlyMap<string, string>> {
    const now = this.clock.now().getTime();
    const copy = this.copies.get(group);
    if (copy !== undefined && Math.abs(now - copy.readAt) < freshForMs) return copy.values;
    const rows = await this.configs.list({ tenantId: rootTenant, group });
    const values = new Map(rows.map((row) => [row.key, row.value]));
    this.copies.set(group, { values, readAt: now });
    return values;
  }

  async find(group: string, key: string): Promise<string | undefined> {
    return (await this.group(group)).get(key);
  }
}
