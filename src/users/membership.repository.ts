import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import type { User } from './user.entity';

export interface TenantView {
  readonly tenant_id: string;
  readonly name: string;
}

export interface OrgUnitView {
  readonly org_unit_id: string;
  readonly tenant_id: string;
  readonly name: string;
}

interface MembershipRow {
  readonly kind: 'tenant' | 'org_unit';
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
}

/**
 * The tenants and units of a user: those of the user's row and those of the membership tables
 * (docs/spec/service.md#2.7).
 */
@Injectable()
export class Memberships {
  constructor(private readonly database: Database) {}

  /** Reads tenants and units with one statement, because every login waits for the result. */
  async of(
    user: Pick<User, 'uid' | 'tenantId' | 'orgUnitId'>,
  ): Promise<{ tenants: TenantView[]; orgUnits: OrgUnitView[] }> {
    const rows = await this.database.rows<MembershipRow>(
      `SELECT 'tenant' AS kind, t.id AS id, t.id AS tenant_id, t.name AS name FROM tenants t
       WHERE t.id = ? OR t.id IN (SELECT m.tenant_id FROM user_tenants m WHERE m.user_id = ?)
       UNION ALL
       SELECT 'org_unit', o.id, o.tenant_id, o.name FROM org_units o
       WHERE o.id = ? OR o.id IN (SELECT m.org_unit_id FROM user_org_units m WHERE m.user_id = ?)
       ORDER BY name, id`,
      [user.tenantId, user.uid, user.orgUnitId, user.uid],
    );
    const of = (kind: MembershipRow['kind']) => rows.filter((row) => row.kind === kind);
    return {
      tenants: of('tenant').map(({ tenant_id, name }) => ({ tenant_id, name })),
      orgUnits: of('org_unit').map(({ id, tenant_id, name }) => ({ org_unit_id: id, tenant_id, name })),
    };
  }
}
