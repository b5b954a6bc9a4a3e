import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { rootTenant } from '../../platform/settings/system-settings';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import { everyTenant } from '../admin-scope';
import type { Authority } from '../authority';
import { AdminChange, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { type OrgUnit, OrgUnits } from '../org-units';
import { Tenants } from '../tenants';
import { refused } from './refusals';
import {
  CreateOrgUnitDto,
  CreateTenantDto,
  OrgUnitItem,
  OrgUnitPage,
  OrgUnitsQuery,
  RenameDto,
  TenantItem,
  TenantPage,
  TenantsQuery,
} from './tenants.dto';

@ApiTags('admin')
@Controller('admin')
export class AdminTenantsController {
  constructor(
    private readonly tenants: Tenants,
    private readonly units: OrgUnits,
  ) {}

  @AlsoFor('auditor')
  @AdminList('tenants', 'tenants.read', TenantPage)
  @ApiOperation({ operationId: 'adminListTenants', summary: 'The tenants', description: streamNote })
  list(
    @Query() query: TenantsQuery,
    @Streamed() streamed: Reader | undefined,
  ): Promise<Page<TenantItem> | StreamableFile> {
    return listed(query, streamed, ['string'], (limit, after) => this.tenants.list(limit, after?.[0] as string));
  }

  @AdminChange('POST', 'tenants', 'tenants.write', TenantItem)
  @ApiOperation({ operationId: 'adminCreateTenant', summary: 'Create a tenant' })
  create(@Body() { id, name }: CreateTenantDto, @Caller() by: Authority): Promise<TenantItem> {
    return this.tenants.create(by, { id, name }).catch(refused);
  }

  @AdminChange('PATCH', 'tenants/:id', 'tenants.write', TenantItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminRenameTenant', summary: 'Rename a tenant' })
  rename(@Param('id') id: string, @Body() { name }: RenameDto, @Caller() by: Authority): Promise<TenantItem> {
    return this.tenants.rename(by, { id, name }).catch(refused);
  }

  @AlsoFor('auditor')
  @AdminList('org-units', 'units.read', OrgUnitPage)
  @ApiOperation({ operationId: 'adminListOrgUnits', summary: 'The organisation units', description: streamNote })
  listUnits(
    @Query() query: OrgUnitsQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() { scope }: Authority,
  ): Promise<Page<OrgUnitItem> | StreamableFile> {
    return listed(query, streamed, ['string'], async (limit, after) => {
      const { items, next } = await this.units.list(scope, query.tenant_id, limit, after?.[0] as string);
      return { items: items.map(unitItem), next };
    });
  }

  @AdminChange('POST', 'org-units', 'units.write', OrgUnitItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminCreateOrgUnit', summary: 'Create an organisation unit' })
  async createUnit(@Body() body: CreateOrgUnitDto, @Caller() by: Authority): Promise<OrgUnitItem> {
    const own = by.scope.tenantId === everyTenant ? rootTenant : by.scope.tenantId;
    const { id, name, tenant_id: tenantId = own } = body;
    return unitItem(await this.units.create(by, { id, name, tenantId }).catch(refused));
  }

  @AdminChange('PATCH', 'org-units/:id', 'units.write', OrgUnitItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminRenameOrgUnit', summary: 'Rename an organisation unit' })
  async renameUnit(
    @Param('id') id: string,
    @Body() { name }: RenameDto,
    @Caller() by: Authority,
  ): Promise<OrgUnitItem> {
    return unitItem(await this.units.rename(by, { id, name }).catch(refused));
  }
}

const unitItem = ({ id, tenantId, name }: OrgUnit): OrgUnitItem => ({ id, tenant_id: tenantId, name });
