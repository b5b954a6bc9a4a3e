import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { LoginLogs } from '../../audit/login-log.repository';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import {
  accountLocked,
  loginFailed,
  notFoundForCaller,
  notPermitted,
  passwordPolicyViolated,
  passwordReused,
  passwordsDiffer,
} from '../../shared/errors/error-catalogue';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { accessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { UserSessions } from '../../sessions/user-sessions';
import { OwnPasswordService } from '../password/own-password.service';
import {
  ChangeOwnPasswordDto,
  LoginHistoryQuery,
  LoginHistoryResponse,
  SessionsEndedResponse,
  SessionsResponse,
  TokenPairResponse,
} from './account.dto';

@ApiTags('account')
@Controller('user')
export class AccountController {
  constructor(
    private readonly passwords: OwnPasswordService,
    private readonly sessions: UserSessions,
    private readonly logins: LoginLogs,
  ) {}

  @Post('change-password')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({ operationId: 'changeOwnPassword', summary: 'Change your password and end all your other sessions' })
  @AnswersTo(
    accessToken,
    TokenPairResponse,
    notPermitted,
    passwordsDiffer,
    accountLocked,
    loginFailed,
    passwordPolicyViolated,
    passwordReused,
  )
  async changePassword(
    @Body() body: ChangeOwnPasswordDto,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<TokenPairResponse> {
    const { current_password: currentPassword, password, confirm_password: confirmation } = body;
    const pair = await this.passwords.change({ currentPassword, password, confirmation }, session, client);
    return { access_token: pair.accessToken, refresh_token: pair.refreshToken };
  }

  @Get('sessions')
  @ApiOperation({ operationId: 'listSessions', summary: 'List your sessions' })
  @AnswersTo(accessToken, SessionsResponse)
  async list(@Session() { payload }: CurrentSession): Promise<SessionsResponse> {
    const sessions = await this.sessions.list(payload.sub);
    return {
      sessions: sessions.map(({ sid, createdAt, lastUsedAt, ip, userAgent, amr }) => {
        const current = sid === payload.sid;
        return {
          sid,
          created_at: createdAt.toISOString(),
          last_used_at: lastUsedAt.toISOString(),
          ip,
          user_agent: userAgent,
          amr: current ? payload.amr : amr,
          current,
        };
      }),
    };
  }

  @Delete('sessions')
  @ApiOperation({ operationId: 'endOtherSessions', summary: 'End all your sessions except this one' })
  @AnswersTo(accessToken, SessionsEndedResponse)
  async endOthers(@Session() session: CurrentSession, @Client() client: ClientInfo): Promise<SessionsEndedResponse> {
    return { result: true, ended: await this.sessions.endOthers(session, client) };
  }

  @Delete('sessions/:sid')
  @ApiParam({ name: 'sid', format: 'uuid', description: '`sid` of GET /user/sessions.' })
  @ApiOperation({ operationId: 'endSession', summary: 'End one of your sessions' })
  @AnswersTo(accessToken, SessionsEndedResponse, notFoundForCaller)
  async end(
    @Param('sid') sid: string,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<SessionsEndedResponse> {
    await this.sessions.end(session, sid, client);
    return { result: true, ended: 1 };
  }

  @Get('login-history')
  @ApiOperation({
    operationId: 'getLoginHistory',
    summary: 'List the last logins to your account, including failed ones',
  })
  @AnswersTo(accessToken, LoginHistoryResponse)
  async history(
    @Query() { limit }: LoginHistoryQuery,
    @Session() { payload }: CurrentSession,
  ): Promise<LoginHistoryResponse> {
    const logins = await this.logins.newest(payload.sub, Number(limit ?? 20));
    return {
      logins: logins.map(({ createdAt, ip, userAgent, provider, mfa, outcome }) => ({
        created_at: createdAt.toISOString(),
        ip,
        user_agent: userAgent,
        provider,
        mfa,
        outcome,
      })),
    };
  }
}
