import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `org_units` (docs/spec/service.md#2.7). A unit belongs to one tenant. */
@Entity('org_units')
export class OrgUnit {
  @PrimaryColumn('varchar', { length: 64 })
  id: string;

  @Column('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  @Column('varchar', { length: 255 })
  name: string;
}
