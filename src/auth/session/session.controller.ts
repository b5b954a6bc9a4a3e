import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import { directoryUnavailable } from '../../shared/errors/error-catalogue';
import { AnswersTo } from '../../platform/http/audience';
import { DoneResponse } from '../../platform/http/done-response';
import { Client } from '../../platform/http/client-info.decorator';
import { accessToken, refreshToken, sessionToken } from '../../sessions/audiences';
import {
  type CurrentSession,
  type PresentedToken,
  RefreshToken,
  Session,
  WithAccount,
} from '../../sessions/current-session';
import { SessionRefresher } from '../../sessions/session-refresher';
import { TokenRevoker } from '../../sessions/token-revoker';
import { OfferedProviders } from '../../identity-providers/offered-providers';
import { PasswordHistory } from '../../users/password-change-log.repository';
import { MeResponse, RefreshDto, RefreshResponse } from './session.dto';

@ApiTags('session')
@Controller()
export class SessionController {
  constructor(
    private readonly refresher: SessionRefresher,
    private readonly revoker: TokenRevoker,
    private readonly history: PasswordHistory,
    private readonly offered: OfferedProviders,
  ) {}

  @Post('refresh')
  @HttpCode(200)
  @ApiBody({ type: RefreshDto, required: false })
  @ApiOperation({ operationId: 'refresh', summary: 'Exchange a refresh token for a new access token' })
  @AnswersTo(refreshToken, RefreshResponse, directoryUnavailable)
  async refresh(
    @Body() _body: RefreshDto,
    @RefreshToken() presented: PresentedToken,
    @Client() client: ClientInfo,
  ): Promise<RefreshResponse> {
    const pair = await this.refresher.refresh(presented, client);
    return {
      access_token: pair.accessToken,
      refresh_token: pair.refreshToken ?? presented.token,
      token_type: 'Bearer',
      expires_in: pair.expiresIn,
    };
  }

  @Post('logout')
  @HttpCode(200)
  @ApiOperation({ operationId: 'logout', summary: 'Revoke every token of this login' })
  @AnswersTo(sessionToken, DoneResponse)
  async logout(@Session() session: CurrentSession, @Client() client: ClientInfo): Promise<DoneResponse> {
    await this.revoker.revokeSession(session, client);
    return { result: true };
  }

  @Get('user/me')
  @WithAccount()
  @ApiOperation({
    operationId: 'getCurrentUser',
    summary: 'The user and the tenant and organisation scope of the token',
  })
  @AnswersTo(accessToken, MeResponse)
  async me(@Session() { user, payload, account, groups }: CurrentSession): Promise<MeResponse> {
    const expiresAt = account ? this.history.expiresAt(account) : null;
    const provider = account?.identityProviderId ?? null;
    return {
      // The busiest route: a literal, in which a missing field does not compile.
      uid: user.uid,
      login_name: user.loginName,
      email: user.email,
      nickname: user.nickname,
      is_admin: user.isAdmin,
      role: user.role,
      mfa_type: user.mfaType,
      tenant_id: user.tenantId,
      org_unit_id: user.orgUnitId,
      groups: groups ?? [],
      password_expires_at: expiresAt?.toISOString() ?? null,
      recovery_codes_left: account?.recoveryCodesLeft ?? 0,
      passkeys: account?.passkeys ?? 0,
      identity_provider: provider,
      identity_provider_name: provider === null ? null : await this.offered.nameOf(provider),
      session: {
        sid: payload.sid,
        amr: payload.amr,
        issued_at: new Date(payload.iat * 1000).toISOString(),
        expires: new Date(payload.exp * 1000).toISOString(),
      },
    };
  }
}
