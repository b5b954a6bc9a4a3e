import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A setting that is changed at run time, by tenant; the service itself reads those of the root tenant (§4.11, §6.2). */
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
