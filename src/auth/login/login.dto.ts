import { Allow, IsIn, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { ApiProperty } from '../../platform/http/api-docs';
import type { LoginInfo } from './login-info';
import type { OrgUnitView, TenantView } from '../../users/membership.repository';
import type { ProviderChoice } from './login-command';
import { userIdField } from '../../shared/user-id';
import { roleField } from '../../users/rights';
import type { Role } from '../../users/user.entity';

const providerChoices: readonly ProviderChoice[] = ['password', 'ldap', 'auto'];

/** A missing `captcha_token` is answered CAPTCHA_401001, not with a validation error, so it is not validated here. */
export class LoginDto {
  @ApiProperty({
    description:
      'The login name. With `LOGIN_BY_EMAIL`, the address of a local user that is nobody’s login name leads to that user.',
    minLength: 1,
    maxLength: 255,
    example: 'alice',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(255)
  username: string;

  /** No maximum: a password that bcrypt would truncate is answered like a wrong one, not with a validation error. */
  @ApiProperty({ minLength: 1, example: 'Correct-Horse-7' })
  @IsString()
  @MinLength(1)
  password: string;

  @ApiProperty({
    enum: providerChoices,
    default: 'password',
    required: false,
    description:
      'The kind of account. `auto`: `password` for the name or the address of a local user, and `ldap` for any other name.',
  })
  @IsOptional()
  @IsIn(providerChoices)
  provider?: ProviderChoice;

  @ApiProperty({ description: 'The token of the captcha, or the pass that /verify-captcha answered.', type: 'string' })
  @Allow()
  captcha_token?: unknown;

  @ApiProperty({
    type: 'string',
    nullable: true,
    required: false,
    description:
      'The `device_token` of the last /otp-verify or /login on this device. A wrong one is not an error: the login then needs a code.',
  })
  @IsOptional()
  @IsString()
  device_token?: string | null;
}

export class TenantDto implements TenantView {
  @ApiProperty({ example: 'root' })
  tenant_id: string;

  @ApiProperty({ example: 'Root' })
  name: string;
}

export class OrgUnitDto implements OrgUnitView {
  @ApiProperty({ example: 'finance' })
  org_unit_id: string;

  @ApiProperty({ example: 'root' })
  tenant_id: string;

  @ApiProperty({ example: 'Finance' })
  name: string;
}

/** Until a session is open, only `uid`, `login_name` and a masked `email` are shown; the rest is null. */
export class UserInfoDto implements LoginInfo {
  @ApiProperty(userIdField)
  uid: string;

  @ApiProperty({ example: 'alice' })
  login_name: string;

  @ApiProperty({ type: 'string', nullable: true, example: 'Alice' })
  nickname: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'alice@example.com' })
  email: string | null;

  @ApiProperty({ type: 'boolean', nullable: true })
  is_admin: boolean | null;

  @ApiProperty(roleField)
  role: Role | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'root' })
  tenant_id: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  org_unit_id: string | null;
}

/**
 * The answer of docs/spec/service.md#2.7 with an additional `mfa_token` (docs/spec/decisions.md#pending-login) and
 * `device_token`.
 */
export class LoginResponse {
  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Null while a second factor or a password change is pending.',
  })
  access_token: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  refresh_token: string | null;

  @ApiProperty({ type: UserInfoDto })
  user_info: UserInfoDto;

  @ApiProperty({ type: [TenantDto] })
  tenants: TenantView[];

  @ApiProperty({ type: [OrgUnitDto] })
  org_units: OrgUnitView[];

  @ApiProperty({ description: 'True: the client continues with the password change, by `change_uid`.' })
  change_password: boolean;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true })
  change_uid: string | null;

  @ApiProperty({ description: 'True: the client continues with the one-time code.' })
  mfa_required: boolean;

  @ApiProperty({ enum: ['email', 'totp'] })
  mfa_type: 'email' | 'totp';

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Identifies the pending login at /otp-verify and /otp-resend.',
  })
  mfa_token: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Replaces the `device_token` of the request. Null unless a trusted device replaced the code.',
  })
  device_token: string | null;
}
