import { ApiProperty } from '../../platform/http/api-docs';
import type { OrgUnitView, TenantView } from '../../users/memberships';
import type { LoginOutcome } from './login-outcome';

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

/** While a branch is pending only `uid`, `login_name` and a masked `email` are told; the rest is null. */
export class UserInfoDto {
  @ApiProperty({ format: 'uuid' })
  uid: string;

  @ApiProperty({ example: 'alice' })
  login_name: string;

  @ApiProperty({ type: 'string', nullable: true, example: 'Alice' })
  nickname: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'alice@example.com' })
  email: string | null;

  @ApiProperty({ type: 'boolean', nullable: true })
  is_admin: boolean | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'root' })
  tenant_id: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  org_unit_id: string | null;
}

/** LoginResponse of §2.7; `mfa_token` is the one field added to it (decisions.md 3). */
export class LoginResponse {
  @ApiProperty({ type: 'string', nullable: true, description: 'Null while a second factor or a change is pending.' })
  access_token: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  refresh_token: string | null;

  @ApiProperty({ type: UserInfoDto })
  user_info: UserInfoDto;

  @ApiProperty({ type: [TenantDto] })
  tenants: TenantView[];

  @ApiProperty({ type: [OrgUnitDto] })
  org_units: OrgUnitView[];

  @ApiProperty({ description: 'True routes the client to the password change, with `change_uid`.' })
  change_password: boolean;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true })
  change_uid: string | null;

  @ApiProperty({ description: 'True routes the client to the one-time code.' })
  mfa_required: boolean;

  @ApiProperty({ enum: ['email', 'totp'] })
  mfa_type: 'email' | 'totp';

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Names the pending login to /otp-verify and /otp-resend.',
  })
  mfa_token: string | null;
}

/** Pure: outcome to response. */
export function loginResponse(
  outcome: LoginOutcome,
  memberships: { readonly tenants: TenantView[]; readonly orgUnits: OrgUnitView[] },
): LoginResponse {
  const { user, kind } = outcome;
  const open = kind === 'session';
  return {
    access_token: open ? outcome.tokens.accessToken : null,
    refresh_token: open ? outcome.tokens.refreshToken : null,
    user_info: {
      uid: user.uid,
      login_name: user.loginName,
      nickname: open ? user.nickname : null,
      email: open ? user.email : maskEmail(user.email),
      is_admin: open ? user.isAdmin : null,
      tenant_id: open ? user.tenantId : null,
      org_unit_id: open ? user.orgUnitId : null,
    },
    tenants: memberships.tenants,
    org_units: memberships.orgUnits,
    change_password: kind === 'password-change',
    change_uid: kind === 'password-change' ? outcome.changeUid : null,
    mfa_required: kind === 'mfa',
    mfa_type: kind === 'mfa' ? outcome.channel : user.mfaType,
    mfa_token: kind === 'mfa' ? outcome.mfaToken : null,
  };
}

/** `alice@example.com` becomes `a•••@example.com`: enough for the owner to recognise. */
export function maskEmail(email: string | null): string | null {
  if (email === null) return null;
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${at === -1 ? '' : email.slice(at)}`;
}
