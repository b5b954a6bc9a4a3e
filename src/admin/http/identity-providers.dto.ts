import { IsArray, IsBoolean, IsObject, IsOptional, IsString, MaxLength, ValidateIf } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import { nextCursor, PageQuery } from '../frame/lists';

const optional = { required: false } as const;
const nullable = { type: 'string', nullable: true } as const;
const texts = { type: [String] as [StringConstructor] };

const field = {
  id: { example: 'entra', pattern: '^[a-z0-9-]{1,40}$', description: 'Chosen, and a part of the redirect URI.' },
  name: { example: 'Entra ID', maxLength: 255, description: 'What the button on the sign-in page says.' },
  issuer: {
    example: 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0',
    description: 'Exactly as the provider writes it in its tokens. https.',
  },
  clientId: { example: '11111111-2222-3333-4444-555555555555', maxLength: 255 },
  clientSecret: { ...nullable, description: 'Write-only. Null: a public client, which has PKCE only.' },
  clientSecretExpires: {
    ...{ ...nullable, format: 'date-time', example: '2028-11-26T00:00:00.000Z' },
    description:
      'When the provider ends the secret. Operators are warned 30 and 7 days before. Null: never, or unknown.',
  },
  scopes: { ...texts, example: ['openid', 'profile', 'email'], description: 'With `openid`.' },
  acrValues: {
    ...{ ...texts, example: [] },
    description:
      'What a sign-in asks for (`acr_values`). With `trust_mfa` one of them in the answer is the second factor.',
  },
  domains: {
    ...{ ...texts, example: ['example.com'] },
    description: 'The domains of its people. Each belongs to one provider. Names with them lead to it.',
  },
  tenantId: { example: 'root', description: 'Where `jit` makes users.' },
  jit: { description: 'Whether the first sign-in of a person with an address in `domains` makes a user.' },
  trustMfa: { description: 'Whether the second factor of the provider is one here.' },
  matchClaim: {
    ...{ ...nullable, example: 'oid' },
    description: 'The claim that is compared with `external_id` of a user who has not signed in yet.',
  },
  listed: { description: 'Whether `/capabilities` shows it to everybody.' },
  enabled: { description: 'Without it nobody signs in at it. Sessions that have begun go on.' },
};

export class IdentityProvidersQuery extends PageQuery {}

export class IdentityProviderClaims {
  @ApiProperty({ example: 'preferred_username' })
  login_name: string;

  @ApiProperty({ ...nullable, example: 'email' })
  email: string | null;

  @ApiProperty({ ...nullable, example: 'name' })
  nickname: string | null;

  @ApiProperty({ ...nullable, example: 'groups', description: 'Null: groups are not taken from the provider.' })
  groups: string | null;
}

export class IdentityProviderItem {
  @ApiProperty(field.id)
  id: string;

  @ApiProperty(field.name)
  name: string;

  @ApiProperty(field.issuer)
  issuer: string;

  @ApiProperty(field.clientId)
  client_id: string;

  @ApiProperty({ description: 'Whether a `client_secret` is stored.' })
  has_client_secret: boolean;

  @ApiProperty(field.clientSecretExpires)
  client_secret_expires: string | null;

  @ApiProperty(field.scopes)
  scopes: string[];

  @ApiProperty(field.acrValues)
  acr_values: string[];

  @ApiProperty(field.domains)
  domains: string[];

  @ApiProperty(field.tenantId)
  tenant_id: string;

  @ApiProperty(field.jit)
  jit: boolean;

  @ApiProperty(field.trustMfa)
  trust_mfa: boolean;

  @ApiProperty({ type: IdentityProviderClaims, description: 'The claims that give the fields of a user.' })
  claims: IdentityProviderClaims;

  @ApiProperty(field.matchClaim)
  match_claim: string | null;

  @ApiProperty(field.listed)
  listed: boolean;

  @ApiProperty(field.enabled)
  enabled: boolean;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Users with this `identity_provider`.' })
  bound_users: number;

  @ApiProperty({
    example: 'https://portal.example.com/login/external/entra/callback',
    description: 'To be registered at the provider, exactly as it is.',
  })
  redirect_uri: string;

  @ApiProperty({
    example: 'https://portal.example.com/login/external/entra/backchannel-logout',
    description: 'Where the provider tells the end of its sessions (OpenID Connect Back-Channel Logout).',
  })
  backchannel_logout_uri: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  changed_at: string;
}

export class IdentityProviderPage {
  @ApiProperty({ type: [IdentityProviderItem], description: 'In the order of their ids.' })
  items: IdentityProviderItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

/** A field that may be absent, but not null. */
const IfGiven = () => ValidateIf((_body, value) => value !== undefined);

export class IdentityProviderClaimsDto {
  @ApiProperty({ ...optional, example: 'preferred_username', default: 'preferred_username' })
  login_name?: string;

  @ApiProperty({ ...nullable, ...optional, example: 'email', default: 'email' })
  email?: string | null;

  @ApiProperty({ ...nullable, ...optional, example: 'name', default: 'name' })
  nickname?: string | null;

  @ApiProperty({ ...nullable, ...optional, example: 'groups', default: null })
  groups?: string | null;
}

/** The rules of the values are those of `identity-provider-rules.ts`, which name each entry that is wrong. */
class OptionalFields {
  @ApiProperty({ ...optional, ...field.clientSecret })
  @IsOptional()
  @IsString()
  client_secret?: string | null;

  @ApiProperty({ ...optional, ...field.clientSecretExpires })
  @IsOptional()
  @IsString()
  client_secret_expires?: string | null;

  @ApiProperty({ ...optional, ...field.scopes })
  @IfGiven()
  @IsArray()
  scopes?: string[];

  @ApiProperty({ ...optional, ...field.acrValues })
  @IfGiven()
  @IsArray()
  acr_values?: string[];

  @ApiProperty({ ...optional, ...field.domains })
  @IfGiven()
  @IsArray()
  domains?: string[];

  @ApiProperty({ ...optional, ...field.tenantId })
  @IfGiven()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;

  @ApiProperty({ ...optional, ...field.jit })
  @IfGiven()
  @IsBoolean()
  jit?: boolean;

  @ApiProperty({ ...optional, ...field.trustMfa })
  @IfGiven()
  @IsBoolean()
  trust_mfa?: boolean;

  @ApiProperty({
    ...optional,
    type: IdentityProviderClaimsDto,
    description: 'A member that is missing stays as it is.',
  })
  @IfGiven()
  @IsObject()
  claims?: IdentityProviderClaimsDto;

  @ApiProperty({ ...optional, ...field.matchClaim })
  @IsOptional()
  @IsString()
  match_claim?: string | null;

  @ApiProperty({ ...optional, ...field.listed })
  @IfGiven()
  @IsBoolean()
  listed?: boolean;

  @ApiProperty({ ...optional, ...field.enabled })
  @IfGiven()
  @IsBoolean()
  enabled?: boolean;
}

export class CreateIdentityProviderDto extends OptionalFields {
  @ApiProperty(field.id)
  @IsString()
  id: string;

  @ApiProperty(field.name)
  @IsString()
  name: string;

  @ApiProperty(field.issuer)
  @IsString()
  issuer: string;

  @ApiProperty(field.clientId)
  @IsString()
  client_id: string;
}

export class ChangeIdentityProviderDto extends OptionalFields {
  @ApiProperty({ ...optional, ...field.name })
  @IfGiven()
  @IsString()
  name?: string;

  @ApiProperty({ ...optional, ...field.issuer })
  @IfGiven()
  @IsString()
  issuer?: string;

  @ApiProperty({ ...optional, ...field.clientId })
  @IfGiven()
  @IsString()
  client_id?: string;
}
