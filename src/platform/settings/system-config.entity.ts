import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A setting of a tenant that can be changed while the service runs. The service reads the settings of the root tenant
 * (docs/spec/service.md#6.2).
 */
@Entity('system_configs')
export class SystemConfig {
  @PrimaryColumn('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @PrimaryColumn('varchar', { length: 64 })
  group: string;

  @PrimaryColumn('varchar', { length: 64 })
  key: string;

  @Column('text')
  value: string;
}
