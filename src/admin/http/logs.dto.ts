import { IsIn, IsOptional, Matches } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { loginFailed } from '../../shared/errors/error-catalogue';
import { PageQuery } from '../frame/lists';
import { userIdPattern } from '../../shared/user-id';
import { timePattern } from '../../shared/time-text';

const optional = { required: false } as const;
const nullable = { type: 'string', nullable: true } as const;
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0';

/** The value of `outcome` for every refusal. No error code has this form. */
export const anyFailure = 'failed';

/** The filters of both logs. */
class LogQuery extends PageQuery {
  @ApiProperty({ ...optional, description: 'The user whom the row is about.' })
  @IsOptional()
  @Matches(new RegExp(userIdPattern), { message: 'user_id must be the uid of a user' })
  user_id?: string;

  @ApiProperty({
    ...optional,
    example: 'alice',
    description:
      'The user whom the row is about, by login name or address. In the log of logins also a name that nobody has, as it ' +
      'was typed, for administrators of the root tenant.',
  })
  @IsOptional()
  @Matches(/^\P{Cc}{1,255}$/u, { message: 'user must have 1 to 255 characters' })
  user?: string;

  @ApiProperty({ ...optional, description: 'The `x-request-id` of an answer: what this request has done.' })
  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,64}$/, { message: 'request_id must be the x-request-id of an answer' })
  request_id?: string;

  @ApiProperty({ ...optional, example: '203.0.113.7', description: 'One address.' })
  @IsOptional()
  @Matches(/^[0-9A-Fa-f:.]{2,45}$/, { message: 'ip must be an IP address' })
  ip?: string;

  @ApiProperty({ ...optional, format: 'date-time', description: 'Rows from this moment on.' })
  @IsOptional()
  @Matches(timePattern, { message: 'from must be a time such as 2026-03-02T10:00:00Z' })
  from?: string;

  @ApiProperty({ ...optional, format: 'date-time', description: 'Rows before this moment.' })
  @IsOptional()
  @Matches(timePattern, { message: 'to must be a time such as 2026-03-02T10:00:00Z' })
  to?: string;

  @ApiProperty({ ...optional, enum: ['csv'], description: 'All rows as a file for a spreadsheet, as an export.' })
  @IsOptional()
  @IsIn(['csv'], { message: 'format must be csv' })
  format?: 'csv';
}

export class LoginLogsQuery extends LogQuery {
  @ApiProperty({
    ...{ ...optional, example: loginFailed.code },
    description: '`success`, the error code of the refusal, or `failed` for every refusal.',
  })
  @IsOptional()
  @Matches(/^\w{1,32}$/, { message: 'outcome must be success or an error code' })
  outcome?: string;
}

export class AuditLogsQuery extends LogQuery {
  @ApiProperty({
    ...optional,
    description: 'Who acted: the uid of an administrator, or the name of the operator of a command.',
  })
  @IsOptional()
  @Matches(/^\P{Cc}{1,255}$/u, { message: 'actor_id must have 1 to 255 characters' })
  actor_id?: string;

  @ApiProperty({ ...optional, example: 'USER_PASSWORD_CHANGED', description: 'The name of an event.' })
  @IsOptional()
  @Matches(/^\w{1,64}$/, { message: 'event must be the name of an event' })
  event?: string;
}

export class LoginLogItem {
  @ApiProperty({ example: '4711' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ ...nullable, description: 'Null when no user has the login name.' })
  user_id: string | null;

  @ApiProperty({ example: 'alice', description: 'As it was typed.' })
  login_name: string;

  @ApiProperty({ example: 'password' })
  provider: string;

  @ApiProperty({ ...nullable, example: 'totp' })
  mfa: string | null;

  @ApiProperty({ example: 'success', description: '`success` or the error code of the refusal.' })
  outcome: string;

  @ApiProperty({ example: '203.0.113.7' })
  ip: string;

  @ApiProperty({ example: agent })
  user_agent: string;

  @ApiProperty()
  request_id: string;
}

export class AuditLogItem {
  @ApiProperty({ example: '4711' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ example: 'USER_PASSWORD_CHANGED' })
  event: string;

  @ApiProperty({ ...nullable, description: 'The user whom the event is about.' })
  user_id: string | null;

  @ApiProperty({
    ...nullable,
    example: 'Alice',
    description: 'The name of this user, or the login name. Null for a user who was deleted.',
  })
  user_name: string | null;

  @ApiProperty({
    ...nullable,
    description:
      'The uid of the administrator or the name of the operator who acted. Null for the user and the service.',
  })
  actor_id: string | null;

  @ApiProperty({
    ...nullable,
    example: 'Ada',
    description: 'The name of this administrator, where you may see the account.',
  })
  actor_name: string | null;

  @ApiProperty({ ...nullable, example: '203.0.113.7' })
  ip: string | null;

  @ApiProperty({ ...nullable, example: agent })
  user_agent: string | null;

  @ApiProperty(nullable)
  request_id: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { from: 1, to: -1 },
    description: 'Numbers and names. Never a secret.',
  })
  detail: Record<string, unknown>;
}

const next = {
  ...nullable,
  description:
    'The cursor of the next page, or null after the last one. A page can have fewer rows than `limit`, or none, and ' +
    'still a cursor: it has looked at as many rows as one request may.',
} as const;

export class LoginLogPage {
  @ApiProperty({ type: [LoginLogItem], description: 'The newest first.' })
  items: LoginLogItem[];

  @ApiProperty(next)
  next: string | null;
}

export class AuditLogPage {
  @ApiProperty({ type: [AuditLogItem], description: 'The newest first.' })
  items: AuditLogItem[];

  @ApiProperty(next)
  next: string | null;
}
