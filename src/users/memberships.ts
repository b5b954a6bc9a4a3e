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

/** The tenants and organisation units of a user: those of the row itself and those of the membership tables (§2.7). */
@Injectable()
export class Memberships {
  constructor(private readonly database: Database) {}

  async of(
    user: Pick<User, 'uid' | 'tenantId' | 'orgUnitId'>,
  ): Promise<{ tenants: TenantView[]; orgUnits: OrgUnitView[] }> {
    const [tenants, orgUnits] = await Promise.all([
      this.database.rows<TenantView>(
        `SELECT t.id AS tenant_id, t.name FROM tenants t
         WHERE t.id = ? OR t.id IN (SELECT m.tenant_id FROM user_tenants m WHERE m.user_id = ?) ORDER BY t.name, t.id`,
        [user.tenantId, user.uid],
      ),
      this.database.rows<OrgUnitView>(
        `SELECT o.id AS org_unit_id, o.tenant_id, o.name FROM org_units o
         WHERE o.id = ? OR o.id IN (SELECT m.org_unit_id FROM user_org_units m WHERE m.user_id = ?) ORDER BY o.name, o.id`,
        [user.orgUnitId, user.uid],
      ),
    ]);
    return { tenants, orgUnits };
  }
}
