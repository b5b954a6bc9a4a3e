import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  accountDisabled,
  accountDormant,
  accountLocked,
  accountNotEnabled,
  captchaRejected,
  captchaUnavailable,
  codeSentTooOften,
  directoryUnavailable,
  loginFailed,
  userNotFound,
} from '../../shared/errors/error-catalogue';
import { Answers } from '../../platform/http/answers.decorator';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { Memberships, type OrgUnitView, type TenantView } from '../../users/memberships';
import { LoginDto, LoginResponse } from './login.dto';
import { type LoginOutcome, LoginService } from './login.service';

@ApiTags('login')
@Controller()
export class LoginController {
  constructor(
    private readonly logins: LoginService,
    private readonly memberships: Memberships,
  ) {}

  @Post('login')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({ operationId: 'login', summary: 'Log in with a password or a directory credential' })
  @Answers(
    LoginResponse,
    captchaRejected,
    captchaUnavailable,
    userNotFound,
    accountLocked,
    loginFailed,
    accountDisabled,
    accountNotEnabled,
    accountDormant,
    codeSentTooOften,
    directoryUnavailable,
  )
  async login(@Body() body: LoginDto, @Client() client: ClientInfo): Promise<LoginResponse> {
    const { username, password, provider, captcha_token: captchaToken, device_token } = body;
    const outcome = await this.logins.login(
      { username, password, provider: provider ?? 'password', captchaToken, deviceToken: device_token ?? undefined },
      client,
    );
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
