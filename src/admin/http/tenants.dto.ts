import { IsOptional, IsString, MaxLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { nextCursor, PageQuery } from '../frame/lists';

const id = { description: '1 to 64 letters, digits, dots, dashes or underscores.' } as const;

export class TenantsQuery extends PageQuery {}

export class OrgUnitsQuery extends PageQuery {
  @ApiProperty({ required: false, description: 'Only the units of this tenant.' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;
}

export class TenantItem {
  @ApiProperty({ example: 'acme' })
  id: string;

  @ApiProperty({ example: 'Acme' })
  name: string;
}

export class TenantPage {
  @ApiProperty({ type: [TenantItem], description: 'In the order of the ids.' })
  items: TenantItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

export class OrgUnitItem {
  @ApiProperty({ example: 'sales' })
  id: string;

  @ApiProperty({ example: 'acme' })
  tenant_id: string;

  @ApiProperty({ example: 'Sales' })
  name: string;
}

export class OrgUnitPage {
  @ApiProperty({ type: [OrgUnitItem], description: 'In the order of the ids.' })
  items: OrgUnitItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

export class RenameDto {
  @ApiProperty({ example: 'Acme', maxLength: 255 })
  @IsString()
  name: string;
}

export class CreateTenantDto extends RenameDto {
  @ApiProperty({ ...id, example: 'acme' })
  @IsString()
  id: string;
}

export class CreateOrgUnitDto extends RenameDto {
  @ApiProperty({ ...id, example: 'sales' })
  @IsString()
  id: string;

  @ApiProperty({ required: false, example: 'acme', description: 'By default the tenant of the caller.' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;
}
