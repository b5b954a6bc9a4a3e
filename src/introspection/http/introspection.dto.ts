import { IsString, MaxLength } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/api-docs';
import type { AuthenticationContext } from '../../sessions/token-payload';
import { roleField } from '../../users/rights';
import type { Role } from '../../users/user.entity';
import type { LiveToken } from '../../sessions/token-introspection';

export class IntrospectionDto {
  @ApiProperty({ description: 'The access token or refresh token to ask about.' })
  @IsString()
  @MaxLength(8192)
  token: string;

  @ApiPropertyOptional({ description: 'Ignored: the token names its use itself.', example: 'access_token' })
  token_type_hint?: string;
}

export class Confirmation {
  @ApiProperty({ description: 'The thumbprint of the key (RFC 7638).' })
  jkt: string;
}

/** The answer about a token (RFC 7662 §2.2). A token that is not active has no other member than `active`. */
export class IntrospectionResponse {
  @ApiProperty()
  active: boolean;

  @ApiPropertyOptional({ description: 'The `uid` of the user.' })
  sub?: string;

  @ApiPropertyOptional({ description: 'The session.' })
  sid?: string;

  @ApiPropertyOptional()
  jti?: string;

  @ApiPropertyOptional({ description: 'The login name.', example: 'alice' })
  username?: string;

  @ApiPropertyOptional()
  tenant_id?: string;

  @ApiPropertyOptional({ type: 'string', nullable: true })
  org_unit_id?: string | null;

  @ApiPropertyOptional()
  is_admin?: boolean;

  @ApiPropertyOptional(roleField)
  role?: Role | null;

  @ApiPropertyOptional({
    type: [String],
    example: ['Sales'],
    description: 'The names of the groups of the user, sorted.',
  })
  groups?: readonly string[];

  @ApiPropertyOptional({ type: [String], example: ['pwd', 'otp'] })
  amr?: readonly string[];

  @ApiPropertyOptional({
    type: 'integer',
    description:
      'The last credential check of the session when the access token was issued, in seconds since 1970 (RFC 9470). ' +
      'Missing for a refresh token, and where it is not known.',
  })
  auth_time?: number;

  @ApiPropertyOptional({
    enum: ['urn:portal:acr:1', 'urn:portal:acr:2'],
    description:
      'One factor, or two factors or a passkey (RFC 9470). Missing for a refresh token and one of version 1.0.0.',
  })
  acr?: AuthenticationContext;

  @ApiPropertyOptional({ enum: ['access', 'refresh'] })
  token_type?: string;

  @ApiPropertyOptional({
    type: Confirmation,
    description: 'The token is bound to this key (RFC 9449 §6.2): whoever presents it must prove to hold the key.',
  })
  cnf?: Confirmation;

  @ApiPropertyOptional()
  iss?: string;

  @ApiPropertyOptional()
  aud?: string;

  @ApiPropertyOptional({ type: 'integer', description: 'Seconds since 1970.' })
  iat?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Seconds since 1970.' })
  exp?: number;
}

export function introspectionOf(token: LiveToken | undefined): IntrospectionResponse {
  if (token === undefined) return { active: false };
  const { payload, user, groups } = token;
  return {
    active: true,
    sub: user.uid,
    sid: payload.sid,
    jti: payload.jti,
    username: user.loginName,
    tenant_id: user.tenantId,
    org_unit_id: user.orgUnitId,
    is_admin: user.isAdmin,
    role: user.role,
    groups,
    amr: payload.amr,
    auth_time: payload.auth_time,
    acr: payload.acr,
    token_type: payload.token_use,
    cnf: payload.cnf,
    iss: payload.iss,
    aud: payload.aud,
    iat: payload.iat,
    exp: payload.exp,
  };
}

/** RFC 6749 §5.2. */
export class WrongClientResponse {
  @ApiProperty({ enum: ['invalid_client'] })
  error: 'invalid_client';
}
