import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { LogoutReceipt } from '../../applications/logout-tokens';

const nullable = { type: 'string', nullable: true } as const;

export class LogoutsQuery {
  @ApiProperty({
    ...{ type: 'integer', minimum: 1, maximum: 200, default: 50, required: false },
    description: 'The greatest number of logouts of a page.',
  })
  @IsOptional()
  @Matches(/^([1-9]\d?|1\d\d|200)$/, { message: 'limit must be a whole number from 1 to 200' })
  limit?: string;

  @ApiProperty({ required: false, description: '`next` of the page before. Without it the first page.' })
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  cursor?: string;
}

export class ToldApplication {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ ...nullable, example: 'Grafana', description: 'Null when the application was deleted.' })
  name: string | null;
}

export class AdminLogoutItem {
  @ApiProperty({ format: 'uuid', description: 'The `jti` of the logout token.' })
  id: string;

  @ApiProperty({ format: 'uuid', description: 'The session that ended.' })
  sid: string;

  @ApiProperty({ type: ToldApplication })
  application: ToldApplication;

  @ApiProperty({ format: 'date-time', description: 'When the session ended.' })
  created_at: string;

  @ApiProperty({
    enum: ['waiting', 'told', 'failed', 'not_offered'],
    description:
      '`not_offered`: the application has no `backchannel_logout_uri`, so it cannot be told. `failed`: it has not accepted the token within a day.',
  })
  status: LogoutReceipt['status'];

  @ApiProperty({ example: 1 })
  attempts: number;

  @ApiProperty({ ...nullable, format: 'date-time', description: 'When it was told or given up.' })
  answered_at: string | null;

  @ApiProperty({ ...nullable, example: 'status 200', description: 'The last answer, or the kind of the failure.' })
  answer: string | null;
}

export class AdminLogoutPage {
  @ApiProperty({ type: [AdminLogoutItem], description: 'The newest first.' })
  logouts: AdminLogoutItem[];

  @ApiProperty({ ...nullable, description: 'The cursor of the next page, or null after the last one.' })
  next: string | null;
}
