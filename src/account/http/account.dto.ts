import { IsOptional, IsString, Matches } from 'class-validator';
import { maxPastLogins } from '../../audit/login-log.repository';
import { ApiProperty } from '../../platform/http/api-docs';

/** Only the types are validated here. Wrong values have their own error codes, in the order of the specification. */
export class ChangeOwnPasswordDto {
  @ApiProperty({ description: 'The password that is in force.', example: 'Correct-Horse-7' })
  @IsString()
  current_password: string;

  @ApiProperty({
    description: 'The new password, used exactly as sent. At most 72 bytes in UTF-8.',
    example: 'Another-Horse-8',
  })
  @IsString()
  password: string;

  @ApiProperty({ description: 'The new password once more. It must equal `password`.', example: 'Another-Horse-8' })
  @IsString()
  confirm_password: string;
}

export class TokenPairResponse {
  @ApiProperty({ description: 'Replaces the access token of this session, which no longer works.' })
  access_token: string;

  @ApiProperty({
    description: 'Replaces the refresh token of this session. The session ends when it would have ended.',
  })
  refresh_token: string;
}

export class SessionItem {
  @ApiProperty({ format: 'uuid' })
  sid: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time', description: 'The last refresh, or else the login.' })
  last_used_at: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The address of the login. Null for a session from before an update.',
    example: '203.0.113.7',
  })
  ip: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' })
  user_agent: string | null;

  @ApiProperty({
    type: [String],
    description: 'How the session was authenticated (RFC 8176). Empty for a session from before an update.',
    example: ['pwd', 'otp'],
  })
  amr: readonly string[];

  @ApiProperty({ description: 'The session of the presented access token.' })
  current: boolean;
}

export class SessionsResponse {
  @ApiProperty({ type: [SessionItem], description: 'The sessions that have not ended, the newest first.' })
  sessions: SessionItem[];
}

export class SessionsEndedResponse {
  @ApiProperty({ enum: [true] })
  result: true;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many sessions have ended.' })
  ended: number;
}

export class LoginHistoryQuery {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: maxPastLogins,
    default: 20,
    required: false,
    description: 'The greatest number of logins.',
  })
  @IsOptional()
  @Matches(/^([1-9]\d?|100)$/, { message: `limit must be a whole number from 1 to ${maxPastLogins}` })
  limit?: string;
}

export class LoginItem {
  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ example: '203.0.113.7' })
  ip: string;

  @ApiProperty({ example: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' })
  user_agent: string;

  @ApiProperty({ example: 'password', description: 'password or ldap.' })
  provider: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    example: 'totp',
    description: '`email`, `totp`, `recovery`, `device` when a trusted device replaced the code, or `passkey`.',
  })
  mfa: string | null;

  @ApiProperty({ example: 'success', description: '`success` or the error code of the refusal.' })
  outcome: string;
}

export class LoginHistoryResponse {
  @ApiProperty({ type: [LoginItem], description: 'The newest first.' })
  logins: LoginItem[];
}
