import { IsOptional, IsString } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { userIdField } from '../../shared/user-id';
import { roleField } from '../../users/rights';
import type { Role } from '../../users/user.entity';
import type { sessionFields } from '../../users/user-fields';
import type { Wired } from '../../users/user-wire';

export class RefreshDto {
  @ApiProperty({ required: false, description: 'Only when the refresh token is not sent as the bearer token.' })
  @IsOptional()
  @IsString()
  refresh_token?: string;
}

export class RefreshResponse {
  @ApiProperty()
  access_token: string;

  @ApiProperty({ description: 'The presented refresh token, or its successor when rotation is on.' })
  refresh_token: string;

  @ApiProperty({
    enum: ['Bearer'],
    description: 'Also for tokens that are bound to a key: a further value would break clients of version 1.0.0.',
  })
  token_type: 'Bearer';

  @ApiProperty({ type: 'integer', description: 'Lifetime of the access token in seconds.', example: 900 })
  expires_in: number;
}

export class SessionDto {
  @ApiProperty({ format: 'uuid' })
  sid: string;

  @ApiProperty({
    enum: ['pwd', 'ext', 'otp', 'device', 'hwk', 'user', 'mfa'],
    isArray: true,
    description:
      'How the session was authenticated (RFC 8176). `device`: a trusted device replaced the code. `hwk`, `user` and `mfa`: a passkey. `ext`: an identity provider; with `mfa`, it has proven two factors.',
    example: ['pwd', 'otp'],
  })
  amr: readonly string[];

  @ApiProperty({ format: 'date-time' })
  issued_at: string;

  @ApiProperty({ format: 'date-time' })
  expires: string;
}

/** The user of the token, and the tenant and organisation scope that the other modules of the portal get. */
export class MeResponse implements Wired<(typeof sessionFields)[number]> {
  @ApiProperty(userIdField)
  uid: string;

  @ApiProperty({ example: 'alice' })
  login_name: string;

  @ApiProperty({ type: 'string', nullable: true })
  nickname: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  email: string | null;

  @ApiProperty()
  is_admin: boolean;

  @ApiProperty(roleField)
  role: Role | null;

  @ApiProperty({ enum: ['email', 'totp'] })
  mfa_type: 'email' | 'totp';

  @ApiProperty({ example: 'root' })
  tenant_id: string;

  @ApiProperty({ type: 'string', nullable: true })
  org_unit_id: string | null;

  @ApiProperty({ type: [String], example: ['Sales'], description: 'The names of the groups of the user, sorted.' })
  groups: readonly string[];

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Null for a directory user, and when passwords do not expire.',
    example: '2026-04-05T09:00:00.000Z',
  })
  password_expires_at: string | null;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Recovery codes that are not spent.', example: 10 })
  recovery_codes_left: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many passkeys the user has.', example: 1 })
  passkeys: number;

  @ApiProperty({
    ...{ type: 'string', nullable: true, example: null },
    description:
      'Where the user signs in, for POST /login/external/{id}. Null: with a password of this service or of the directory.',
  })
  identity_provider: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: null, description: 'The name of the identity provider.' })
  identity_provider_name: string | null;

  @ApiProperty({ type: SessionDto, description: 'The session of the presented access token.' })
  session: SessionDto;
}
