import { Body, Controller, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiSecurity, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  directoryUnavailable,
  refreshTokenRejected,
} from '../../shared/errors/error-catalogue';
import { Answers } from '../../platform/http/answers.decorator';
import { Client } from '../../platform/http/client-info.decorator';
import {
  type CurrentSession,
  type PresentedToken,
  RefreshToken,
  Session,
  WithAccount,
} from '../../tokens/current-session';
import { SessionRefresher } from '../../tokens/session-refresher';
import { AccessTokenGuard, RefreshTokenGuard, SessionTokenGuard } from '../../tokens/tokens.guard';
import { TokenRevoker } from '../../tokens/token-revoker';
import { PasswordHistory } from '../../users/password-history';
import { DoneResponse, MeResponse, RefreshDto, RefreshResponse } from './session.dto';

@ApiTags('session')
@Controller()
export class SessionController {
  constructor(
    private readonly refresher: SessionRefresher,
    private readonly revoker: TokenRevoker,
    private readonly history: PasswordHistory,
  ) {}

  @Post('refresh')
  @HttpCode(200)
  @UseGuards(RefreshTokenGuard)
  @ApiBearerAuth('refresh_token')
  @ApiSecurity({})
  @ApiBody({ type: RefreshDto, required: false })
  @ApiOperation({ operationId: 'refresh', summary: 'Exchange a refresh token for a new access token' })
  @Answers(RefreshResponse, refreshTokenRejected, directoryUnavailable)
  async refresh(
    @Body() _body: RefreshDto,
    @RefreshToken() presented: PresentedToken,
    @Client() client: ClientInfo,
  ): Promise<RefreshResponse> {
    const { accessToken, refreshToken, expiresIn } = await this.refresher.refresh(presented, client);
    return {
      access_token: accessToken,
      refresh_token: refreshToken ?? presented.token,
      token_type: 'Bearer',
      expires_in: expiresIn,
    };
  }

  @Post('logout')
  @HttpCode(200)
  @UseGuards(SessionTokenGuard)
  @ApiBearerAuth('access_token')
  @ApiBearerAuth('refresh_token')
  @ApiOperation({ operationId: 'logout', summary: 'Revoke every token of this login' })
  @Answers(DoneResponse, accessTokenInvalid, accessTokenExpired, accessTokenRevoked)
  async logout(@Session() session: CurrentSession, @Client() client: ClientInfo): Promise<DoneResponse> {
    await this.revoker.revokeSession(session, client);
    return { result: true };
  }

  @Get('user/me')
  @UseGuards(AccessTokenGuard)
  @WithAccount()
  @ApiBearerAuth('access_token')
  @ApiOperation({
    operationId: 'getCurrentUser',
    summary: 'The user and the tenant and organisation scope of the token',
  })
  @Answers(MeResponse, accessTokenInvalid, accessTokenExpired, accessTokenRevoked)
  me(@Session() { user, payload, account }: CurrentSession): MeResponse {
    const expiresAt = account ? this.history.expiresAt(account) : null;
    return {
      uid: user.uid,
      login_name: user.loginName,
      nickname: user.nickname,
      email: user.email,
      is_admin: user.isAdmin,
      mfa_type: user.mfaType,
      tenant_id: user.tenantId,
      org_unit_id: user.orgUnitId,
      password_expires_at: expiresAt?.toISOString() ?? null,
      recovery_codes_left: account?.recoveryCodesLeft ?? 0,
      passkeys: account?.passkeys ?? 0,
      session: {
        sid: payload.sid,
        amr: payload.amr,
        issued_at: new Date(payload.iat * 1000).toISOString(),
        expires: new Date(payload.exp * 1000).toISOString(),
      },
    };
  }
}
