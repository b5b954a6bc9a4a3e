import { IsOptional, IsString, MaxLength } from 'class-validator';
import type { GroupSource } from '../../groups/groups.repository';
import { ApiProperty } from '../../platform/http/api-docs';
import { userIdField } from '../../shared/user-id';
import { nextCursor, PageQuery } from '../frame/lists';
import { RenameDto } from './tenants.dto';

export class GroupsQuery extends PageQuery {
  @ApiProperty({ required: false, description: 'The beginning of the name, without regard to case.', example: 'sal' })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  query?: string;

  @ApiProperty({ required: false, description: 'Only the groups of this tenant.' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;
}

export class GroupMembersQuery extends PageQuery {}

const ownerOf = {
  enum: ['admin', 'scim', 'directory', 'provider'],
  description: 'Who owns the group. Administrators change those of `admin` only (AUTH_403001 for others).',
} as const;

export class GroupItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'acme' })
  tenant_id: string;

  @ApiProperty({ example: 'Sales', description: 'Unique within the tenant, without regard to case.' })
  name: string;

  @ApiProperty(ownerOf)
  source: GroupSource;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The identity provider that owns it, for `provider`; null for another source.',
  })
  identity_provider: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The name that a SCIM client has for it.' })
  external_id: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time', description: 'The last change of the group or of its members.' })
  changed_at: string;
}

export class GroupDetailResponse extends GroupItem {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How many members it has. Null above 10,000.',
    example: 12,
  })
  members: number | null;
}

export class GroupPageResponse {
  @ApiProperty({ type: [GroupItem], description: 'In the order of the names.' })
  items: GroupItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

export class GroupMemberItem {
  @ApiProperty(userIdField)
  uid: string;

  @ApiProperty({ example: 'alice' })
  login_name: string;

  @ApiProperty({ type: 'string', nullable: true })
  nickname: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  email: string | null;

  @ApiProperty({ format: 'date-time' })
  added_at: string;
}

export class GroupMemberPage {
  @ApiProperty({ type: [GroupMemberItem], description: 'In the order of the uids.' })
  items: GroupMemberItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

export class GroupOfUserItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Sales' })
  name: string;

  @ApiProperty(ownerOf)
  source: GroupSource;
}

export class ChangeGroupDto extends RenameDto {}

export class CreateGroupDto extends RenameDto {
  @ApiProperty({ required: false, example: 'acme', description: 'By default the tenant of the caller.' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;
}
