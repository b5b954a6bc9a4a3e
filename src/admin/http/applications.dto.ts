import { IsArray, IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, Min, ValidateIf } from 'class-validator';
import { applicationScopes, applicationTypes } from '../../applications/application-rules';
import type { ApplicationType } from '../../applications/application.entity';
import { ApiProperty } from '../../platform/http/api-docs';
import { maxKeptSeconds } from '../application-administration';
import { nextCursor, PageQuery } from '../frame/lists';

const optional = { required: false } as const;
const nullable = { type: 'string', nullable: true } as const;
const texts = { type: [String] as [StringConstructor] };

const field = {
  name: { example: 'Grafana', maxLength: 255 },
  redirectUris: {
    ...{ ...texts, example: ['https://grafana.example.com/login/generic_oauth'] },
    description: 'Compared exactly. https, or for `native` http on a loopback address with any port.',
  },
  postLogoutRedirectUris: { ...texts, example: ['https://grafana.example.com/login'] },
  backchannelLogoutUri: { ...nullable, example: null, description: 'Told when a session ends. https.' },
  scopes: {
    ...{ ...texts, example: ['openid', 'profile', 'email'] },
    description: `${applicationScopes.join(', ')}, or a scope of a resource such as metrics:read.`,
  },
  audience: { ...texts, example: [], description: 'The resources for which it may ask tokens (RFC 8707).' },
  firstParty: { example: true, description: 'Of the company itself: its users are not asked for consent.' },
  allowedTenants: { ...texts, example: ['acme'], description: 'Empty: users of every tenant.' },
  allowedGroups: {
    ...texts,
    example: [],
    description: 'Ids of groups. Empty: everybody; else members of one of them.',
  },
  logoUrl: { ...nullable, example: 'https://grafana.example.com/public/img/grafana_icon.svg' },
  uri: {
    ...nullable,
    example: 'https://grafana.example.com',
    description: 'Where the tile on the account page leads.',
  },
};

export class ApplicationsQuery extends PageQuery {}

export class ApplicationItem {
  @ApiProperty({ format: 'uuid', description: 'Also the `client_id` of OAuth 2.0.' })
  id: string;

  @ApiProperty(field.name)
  name: string;

  @ApiProperty({ enum: applicationTypes })
  type: ApplicationType;

  @ApiProperty(field.redirectUris)
  redirect_uris: string[];

  @ApiProperty(field.postLogoutRedirectUris)
  post_logout_redirect_uris: string[];

  @ApiProperty(field.backchannelLogoutUri)
  backchannel_logout_uri: string | null;

  @ApiProperty(field.scopes)
  scopes: string[];

  @ApiProperty(field.audience)
  audience: string[];

  @ApiProperty(field.firstParty)
  first_party: boolean;

  @ApiProperty(field.allowedTenants)
  allowed_tenants: string[];

  @ApiProperty(field.allowedGroups)
  allowed_groups: string[];

  @ApiProperty(field.logoUrl)
  logo_url: string | null;

  @ApiProperty(field.uri)
  uri: string | null;

  @ApiProperty()
  enabled: boolean;

  @ApiProperty({
    ...{ ...nullable, format: 'date-time' },
    description: 'Until then the former secret works as well. Null, or in the past: only one secret works.',
  })
  old_secret_expires_at: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  changed_at: string;
}

export class ApplicationWithSecret extends ApplicationItem {
  @ApiProperty({ ...nullable, description: 'Shown only in this answer. Null for `spa` and `native`.' })
  client_secret: string | null;
}

export class ApplicationPage {
  @ApiProperty({ type: [ApplicationItem], description: 'The newest first.' })
  items: ApplicationItem[];

  @ApiProperty(nextCursor)
  next: string | null;
}

const claims = { type: 'object', additionalProperties: true } as const;

export class ApplicationClaimsResponse {
  @ApiProperty({ description: 'Whether you may use the application. Otherwise a sign-in ends with `access_denied`.' })
  allowed: boolean;

  @ApiProperty({ ...claims, description: 'Of the ID token, without `iat`, `exp` and `nonce`.' })
  claims: Readonly<Record<string, unknown>>;

  @ApiProperty({ ...claims, description: 'Of userinfo, with all scopes of the application.' })
  userinfo: Readonly<Record<string, unknown>>;
}

/** A field that may be absent, but not null. */
const IfGiven = () => ValidateIf((_body, value) => value !== undefined);

/** The rules of the entries are those of `application-rules.ts`, which name each entry that is wrong. */
class OptionalFields {
  @ApiProperty({ ...optional, ...field.redirectUris })
  @IfGiven()
  @IsArray()
  redirect_uris?: string[];

  @ApiProperty({ ...optional, ...field.postLogoutRedirectUris })
  @IfGiven()
  @IsArray()
  post_logout_redirect_uris?: string[];

  @ApiProperty({ ...optional, ...field.backchannelLogoutUri })
  @IsOptional()
  @IsString()
  backchannel_logout_uri?: string | null;

  @ApiProperty({ ...optional, ...field.scopes })
  @IfGiven()
  @IsArray()
  scopes?: string[];

  @ApiProperty({ ...optional, ...field.audience })
  @IfGiven()
  @IsArray()
  audience?: string[];

  @ApiProperty({ ...optional, ...field.firstParty })
  @IfGiven()
  @IsBoolean()
  first_party?: boolean;

  @ApiProperty({ ...optional, ...field.allowedTenants })
  @IfGiven()
  @IsArray()
  allowed_tenants?: string[];

  @ApiProperty({ ...optional, ...field.allowedGroups })
  @IfGiven()
  @IsArray()
  allowed_groups?: string[];

  @ApiProperty({ ...optional, ...field.logoUrl })
  @IsOptional()
  @IsString()
  logo_url?: string | null;

  @ApiProperty({ ...optional, ...field.uri })
  @IsOptional()
  @IsString()
  uri?: string | null;

  @ApiProperty(optional)
  @IfGiven()
  @IsBoolean()
  enabled?: boolean;
}

export class CreateApplicationDto extends OptionalFields {
  @ApiProperty(field.name)
  @IsString()
  name: string;

  @ApiProperty({ enum: applicationTypes, description: 'It cannot be changed later.' })
  @IsIn(applicationTypes)
  type: ApplicationType;
}

export class ChangeApplicationDto extends OptionalFields {
  @ApiProperty({ ...optional, ...field.name })
  @IfGiven()
  @IsString()
  name?: string;
}

export class RotateSecretDto {
  @ApiProperty({
    ...{ ...optional, type: 'integer', minimum: 0, maximum: maxKeptSeconds, default: 0, example: 86_400 },
    description: 'How long the former secret works beside the new one.',
  })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(maxKeptSeconds)
  keep_old_seconds?: number;
}
