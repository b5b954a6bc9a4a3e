import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { identityTaken, notFoundForCaller } from '../../shared/errors/error-catalogue';
import { userIdField } from '../../shared/user-id';
import { roleField } from '../../users/rights';
import type { Provider, Role } from '../../users/user.entity';
import { mostPlanned, type PlannedUser } from '../planned-users';
import { type BulkAction, bulkActions, type BulkOutcome } from '../user-bulk';
import type { FileReport } from '../user-file';

const optional = { required: false } as const;

/** Users of one request. */
export const mostUsers = 500;

export class BulkUsersDto {
  @ApiProperty({ type: [String], minItems: 1, maxItems: mostUsers, description: 'One that is repeated counts once.' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(mostUsers)
  @IsString({ each: true })
  @MaxLength(36, { each: true })
  uids: string[];

  @ApiProperty({ enum: bulkActions })
  @IsIn(bulkActions)
  action: BulkAction;

  @ApiProperty({ ...optional, example: 'acme', description: 'Required with `move`, and only there.' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;
}

export class AdminBulkItem {
  @ApiProperty({ example: userIdField.example, description: 'As it was sent.' })
  uid: string;

  @ApiProperty({ ...optional, enum: [true], description: 'Given when it was done.' })
  result?: true;

  @ApiProperty({ ...optional, example: notFoundForCaller.code, description: 'Given when this user was refused.' })
  error_code?: string;
}

export class AdminBulkResults {
  @ApiProperty({ type: [AdminBulkItem], description: 'Each user once, in the given order.' })
  results: AdminBulkItem[];
}

export class ImportQuery {
  @ApiProperty({ ...optional, type: 'boolean', description: '`true` checks every row and writes nothing.' })
  @IsOptional()
  @IsIn(['true', 'false'])
  dry_run?: string;
}

export class AdminRefusedRow {
  @ApiProperty({ type: 'integer', example: 3, description: 'The line of the file on which the row ends.' })
  line: number;

  @ApiProperty({ example: identityTaken.code })
  error_code: string;

  @ApiProperty({ description: 'In English, and without values of the row.' })
  reason: string;
}

export class AdminPlannedRow implements PlannedUser {
  @ApiProperty({ type: 'integer', example: 2, description: 'The line of the file on which the row ends.' })
  line: number;

  @ApiProperty({ example: 'alice' })
  login_name: string;

  @ApiProperty({ type: 'string', nullable: true, example: 'alice@example.com' })
  email: string | null;

  @ApiProperty({ example: 'root' })
  tenant_id: string;

  @ApiProperty({ enum: ['password', 'ldap', 'oidc'] })
  provider: Provider;

  @ApiProperty()
  is_admin: boolean;

  @ApiProperty(roleField)
  role: Role | null;
}

export class AdminImportReport {
  @ApiProperty({ type: 'integer', description: 'Rows of the file, without the first line.' })
  rows: number;

  @ApiProperty({ type: 'integer', description: 'Users that were made; with `dry_run`, that would be.' })
  created: number;

  @ApiProperty({ type: [AdminRefusedRow], description: 'Every other row, also those whose user exists already.' })
  refused: AdminRefusedRow[];

  @ApiProperty({
    ...optional,
    type: [AdminPlannedRow],
    maxItems: mostPlanned,
    description: `With \`dry_run\`: the first ${mostPlanned} users that would be made. No other value of the file is shown.`,
  })
  created_rows?: AdminPlannedRow[];
}

export const bulkItem = ({ uid, refusal }: BulkOutcome): AdminBulkItem =>
  refusal === undefined ? { uid, result: true } : { uid, error_code: refusal.code };

export const importReport = ({ rows, created, refused, planned }: FileReport): AdminImportReport => ({
  rows,
  created,
  refused: refused.map(({ line, entry, reason }) => ({ line, error_code: entry.code, reason })),
  ...(planned !== undefined && { created_rows: [...planned] }),
});
