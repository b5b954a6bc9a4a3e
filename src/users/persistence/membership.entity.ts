import { Entity, PrimaryColumn } from 'typeorm';

/** A row of `user_tenants` (docs/spec/service.md#2.7). */
@Entity('user_tenants')
export class TenantMembership {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @PrimaryColumn('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;
}

/** A row of `user_org_units` (docs/spec/service.md#2.7). */
@Entity('user_org_units')
export class OrgUnitMembership {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  @PrimaryColumn('varchar', { name: 'org_unit_id', length: 64 })
  orgUnitId: string;
}
