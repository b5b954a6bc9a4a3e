import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, MaxLength, ValidateIf } from 'class-validator';
import { languages } from '../../shared/languages';
import { ApiProperty } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import type { listedFields, shownFields } from '../../users/user-fields';
import type { Wired } from '../../users/user-wire';
import { roleField } from '../../users/rights';
import { type MfaType, type Provider, type Role, roles } from '../../users/user.entity';
import { type UserSort, userSorts } from '../../users/user-listing';
import { PageQuery } from '../frame/lists';
import { GroupOfUserItem } from './groups.dto';
import { userIdField } from '../../shared/user-id';

const statuses = [1, 0, -1, -2] as const;
const optional = { required: false } as const;
const nullable = { type: 'string', nullable: true } as const;

const identityProviderField = {
  example: 'entra',
  description: 'The identity provider of a user with the provider `oidc`.',
};

const externalIdField = {
  example: '8a1b2c3d',
  description:
    'The name that another system has for the user: the `externalId` of SCIM, or the value of the `match_claim` of a provider.',
};

const languageField = {
  example: 'de',
  description: 'The language of mails that somebody else causes. Each sign-in sets it. Null: unknown.',
};

/** A field that may be absent, but not null. */
const IfGiven = () => ValidateIf((_body, value) => value !== undefined);

export class UsersQuery extends PageQuery {
  @ApiProperty({
    ...optional,
    description:
      'Words in any order, each the beginning of the login name, the e-mail address or a word of the nickname. Case and accents ' +
      'do not count, and ä ö ü ß are also ae oe ue ss. At most eight words.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  query?: string;

  @ApiProperty({
    ...{ ...optional, type: 'integer', enum: statuses },
    description: '1 enabled, 0 not enabled, -1 disabled, -2 expired.',
  })
  @IsOptional()
  @Matches(/^(1|0|-1|-2)$/, { message: 'status must be 1, 0, -1 or -2' })
  status?: string;

  @ApiProperty({ ...optional, description: 'Only the users of this tenant.' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;

  @ApiProperty({ ...optional, type: 'boolean', description: 'Whether the account is locked now after failed logins.' })
  @IsOptional()
  @IsIn(['true', 'false'])
  locked?: string;

  @ApiProperty({
    ...{ ...optional, enum: userSorts },
    description:
      'The order; `-` is descending. Who has never signed in is before the first sign-in. A page can end early, even empty, ' +
      'while `next` leads on. Default: by login name; a search begins with the login names, addresses and nicknames that begin ' +
      'with the whole query.',
  })
  @IsOptional()
  @IsIn(userSorts)
  sort?: UserSort;
}

export class AdminUserItem implements Wired<(typeof listedFields)[number]> {
  @ApiProperty(userIdField)
  uid: string;

  @ApiProperty({ example: 'alice' })
  login_name: string;

  @ApiProperty({ ...nullable, example: 'alice@example.com' })
  email: string | null;

  @ApiProperty({ ...nullable, example: 'Alice' })
  nickname: string | null;

  @ApiProperty({ type: 'integer', enum: statuses, description: '1 enabled, 0 not enabled, -1 disabled, -2 expired.' })
  status: number;

  @ApiProperty({ enum: ['password', 'ldap', 'oidc'] })
  provider: Provider;

  @ApiProperty({ ...nullable, ...identityProviderField })
  identity_provider: string | null;

  @ApiProperty()
  is_admin: boolean;

  @ApiProperty(roleField)
  role: Role | null;

  @ApiProperty({ enum: ['email', 'totp'] })
  mfa_type: MfaType;

  @ApiProperty({ example: 'root' })
  tenant_id: string;

  @ApiProperty({ ...nullable, example: 'sales' })
  org_unit_id: string | null;

  @ApiProperty({ description: 'Whether the account is locked now after failed logins.' })
  locked: boolean;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ ...nullable, format: 'date-time' })
  last_login_at: string | null;
}

export class AdminUserPage {
  @ApiProperty({ type: [AdminUserItem], description: 'In the order of `sort`, or of the login names.' })
  items: AdminUserItem[];

  @ApiProperty({ ...nullable, description: 'The cursor of the next page, or null after the last one.' })
  next: string | null;

  @ApiProperty({
    ...{ type: 'integer', nullable: true, example: 42 },
    description: 'How many users the filters find in all: exact up to 10,000, and null above.',
  })
  total: number | null;
}

export class AdminUser extends AdminUserItem implements Wired<(typeof shownFields)[number]> {
  @ApiProperty({ description: 'Unused for too long (LOGIN_401008). `PATCH` with `status: 1` enables it again.' })
  dormant: boolean;

  @ApiProperty({ description: 'The next login has to change the password.' })
  must_change_password: boolean;

  @ApiProperty({ ...nullable, format: 'date-time' })
  password_set_at: string | null;

  @ApiProperty({ type: 'integer', minimum: 0 })
  failed_logins: number;

  @ApiProperty({ ...nullable, format: 'date-time' })
  last_failed_login_at: string | null;

  @ApiProperty({ description: 'Whether an authenticator is set up.' })
  totp_enrolled: boolean;

  @ApiProperty({ type: 'integer', minimum: 0 })
  recovery_codes_left: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  passkeys: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Sessions that have not ended.' })
  sessions: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Trusted devices.' })
  devices: number;

  @ApiProperty({ type: [GroupOfUserItem], description: 'The groups of the user, in the order of their names.' })
  groups: GroupOfUserItem[];

  @ApiProperty({ ...nullable, description: 'The entry of a directory user.' })
  directory_id: string | null;

  @ApiProperty({ ...nullable, ...externalIdField })
  external_id: string | null;

  @ApiProperty({ ...nullable, ...languageField })
  language: string | null;
}

/** The rules that depend on more than one field are those of UserAccounts. */
export class CreateUserDto {
  @ApiProperty({ example: 'alice' })
  @IsString()
  @MaxLength(255)
  login_name: string;

  @ApiProperty({ example: 'alice@example.com' })
  @IsString()
  @MaxLength(254)
  email: string;

  @ApiProperty({ ...nullable, ...optional, example: 'Alice' })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  nickname?: string | null;

  @ApiProperty({ ...optional, description: 'By default the tenant of the caller.', example: 'root' })
  @IfGiven()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;

  @ApiProperty({ ...nullable, ...optional, example: 'sales' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  org_unit_id?: string | null;

  @ApiProperty({ ...nullable, ...optional, ...languageField })
  @IsOptional()
  @IsIn(languages)
  language?: string | null;

  @ApiProperty({ ...optional, default: false })
  @IfGiven()
  @IsBoolean()
  is_admin?: boolean;

  @ApiProperty({ ...roleField, ...optional, pattern: `^(${roles.join('|')})$` })
  @IsOptional()
  @IsIn(roles)
  role?: Role | null;

  @ApiProperty({ ...optional, enum: ['email', 'totp'], default: 'email' })
  @IfGiven()
  @IsIn(['email', 'totp'])
  mfa_type?: MfaType;

  @ApiProperty({ ...optional, enum: ['password', 'ldap', 'oidc'], default: 'password' })
  @IfGiven()
  @IsIn(['password', 'ldap', 'oidc'])
  provider?: Provider;

  @ApiProperty({ ...nullable, ...optional, ...identityProviderField })
  @IsOptional()
  @IsString()
  @MaxLength(40)
  identity_provider?: string | null;

  @ApiProperty({ ...nullable, ...optional, ...externalIdField })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  external_id?: string | null;

  @ApiProperty({ ...optional, default: false, description: 'Mails a link by which the user sets the first password.' })
  @IfGiven()
  @IsBoolean()
  invite?: boolean;
}

export class ChangeUserDto {
  @ApiProperty({ ...nullable, ...optional, example: 'alice@example.com' })
  @IsOptional()
  @IsString()
  @MaxLength(254)
  email?: string | null;

  @ApiProperty({ ...nullable, ...optional, example: 'Alice' })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  nickname?: string | null;

  @ApiProperty({ ...optional, type: 'integer', enum: statuses })
  @IfGiven()
  @IsInt()
  @IsIn(statuses)
  status?: number;

  @ApiProperty(optional)
  @IfGiven()
  @IsBoolean()
  is_admin?: boolean;

  @ApiProperty({ ...roleField, ...optional, pattern: `^(${roles.join('|')})$` })
  @IsOptional()
  @IsIn(roles)
  role?: Role | null;

  @ApiProperty({ ...optional, example: 'root' })
  @IfGiven()
  @IsString()
  @MaxLength(64)
  tenant_id?: string;

  @ApiProperty({ ...nullable, ...optional, example: 'sales' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  org_unit_id?: string | null;

  @ApiProperty({ ...optional, enum: ['email', 'totp'] })
  @IfGiven()
  @IsIn(['email', 'totp'])
  mfa_type?: MfaType;

  @ApiProperty({ ...nullable, ...optional, ...languageField })
  @IsOptional()
  @IsIn(languages)
  language?: string | null;

  @ApiProperty({ ...nullable, ...optional, ...externalIdField })
  @IsOptional()
  @IsString()
  @MaxLength(255)
  external_id?: string | null;
}

export class AdminResult extends DoneResponse {}

export class AdminSessionItem {
  @ApiProperty({ format: 'uuid' })
  sid: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time', description: 'The last refresh, or else the login.' })
  last_used_at: string;

  @ApiProperty({ ...nullable, example: '203.0.113.7' })
  ip: string | null;

  @ApiProperty({ ...nullable, example: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' })
  user_agent: string | null;

  @ApiProperty({ type: [String], example: ['pwd', 'otp'] })
  amr: readonly string[];
}

export class AdminSessionPage {
  @ApiProperty({ type: [AdminSessionItem], description: 'The newest first.' })
  items: AdminSessionItem[];

  @ApiProperty(nullable)
  next: string | null;
}

export class AdminUserLogin {
  @ApiProperty({ example: '4711' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ example: '203.0.113.7' })
  ip: string;

  @ApiProperty({ example: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' })
  user_agent: string;

  @ApiProperty({ example: 'password' })
  provider: string;

  @ApiProperty({ ...nullable, example: 'totp' })
  mfa: string | null;

  @ApiProperty({ example: 'success', description: '`success` or the error code of the refusal.' })
  outcome: string;
}

export class AdminUserLoginPage {
  @ApiProperty({ type: [AdminUserLogin], description: 'The newest first.' })
  items: AdminUserLogin[];

  @ApiProperty(nullable)
  next: string | null;
}
