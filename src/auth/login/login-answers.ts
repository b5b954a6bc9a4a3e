import { Injectable } from '@nestjs/common';
import { Memberships, type OrgUnitView, type TenantView } from '../../users/membership.repository';
import type { LoginResponse } from './login.dto';
import type { LoginOutcome } from './login.service';

/** Makes the answer of a login from its outcome (docs/spec/service.md#2.7). */
@Injectable()
export class LoginAnswers {
  constructor(private readonly memberships: Memberships) {}

  async of(outcome: LoginOutcome): Promise<LoginResponse> {
    const scopes = outcome.kind === 'session' ? await this.memberships.of(outcome.user) : { tenants: [], orgUnits: [] };
    return loginResponse(outcome, scopes);
  }
}

/** Until a session is open, the answer contains only the uid, the login name and the masked address of the user. */
function loginResponse(
  outcome: LoginOutcome,
  scopes: { readonly tenants: TenantView[]; readonly orgUnits: OrgUnitView[] },
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
    tenants: scopes.tenants,
    org_units: scopes.orgUnits,
    change_password: kind === 'password-change',
    change_uid: kind === 'password-change' ? outcome.changeUid : null,
    mfa_required: kind === 'mfa',
    mfa_type: kind === 'mfa' ? outcome.channel : user.mfaType,
    mfa_token: kind === 'mfa' ? outcome.mfaToken : null,
    device_token: open ? outcome.deviceToken : null,
  };
}

/** Masks `alice@example.com` as `a•••@example.com`, so that its owner can still recognise the address. */
function maskEmail(email: string | null): string | null {
  if (email === null) return null;
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${at === -1 ? '' : email.slice(at)}`;
}
