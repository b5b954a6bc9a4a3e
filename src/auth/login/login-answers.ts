import { Injectable } from '@nestjs/common';
import { Memberships, type OrgUnitView, type TenantView } from '../../users/membership.repository';
import { loginInfo } from './login-info';
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

function loginResponse(
  outcome: LoginOutcome,
  scopes: { readonly tenants: TenantView[]; readonly orgUnits: OrgUnitView[] },
): LoginResponse {
  const { user, kind } = outcome;
  const open = kind === 'session';
  return {
    access_token: open ? outcome.tokens.accessToken : null,
    refresh_token: open ? outcome.tokens.refreshToken : null,
    user_info: loginInfo(user, open),
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
