import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { externalCookie } from '../../identity-providers/external-requests';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import {
  accountDisabled,
  accountDormant,
  accountLocked,
  accountNotEnabled,
  codeSentTooOften,
  directoryUnavailable,
  externalAnswerRejected,
  loginFailed,
  notPermitted,
  passkeyRejected,
  requestInvalid,
} from '../../shared/errors/error-catalogue';
import { ServiceSettings } from '../../platform/config/service-settings';
import { browserOf } from '../../platform/http/browser-cookie';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { accessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { LoginResponse } from '../login/login.dto';
import { LoginAnswers } from '../login/login-answers';
import { ReauthenticateDto } from './reauthentication.dto';
import { type Reauthentication, ReauthenticationService } from './reauthentication.service';

@ApiTags('account')
@Controller('user')
export class ReauthenticationController {
  constructor(
    private readonly reauthentication: ReauthenticationService,
    private readonly answers: LoginAnswers,
    private readonly settings: ServiceSettings,
  ) {}

  @Post('reauthenticate')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({
    operationId: 'reauthenticate',
    summary:
      'Confirm who you are, with your password, a passkey or your company, and get new tokens of the same session',
  })
  @AnswersTo(
    accessToken,
    LoginResponse,
    accountLocked,
    loginFailed,
    passkeyRejected,
    accountDisabled,
    accountNotEnabled,
    accountDormant,
    notPermitted,
    codeSentTooOften,
    directoryUnavailable,
    externalAnswerRejected,
  )
  async reauthenticate(
    @Body() body: ReauthenticateDto,
    @Session() session: CurrentSession,
    @Req() request: FastifyRequest,
    @Client() client: ClientInfo,
  ): Promise<LoginResponse> {
    return this.answers.of(
      await this.reauthentication.confirm(commandOf(body, this.browserOf(request)), session, client),
    );
  }

  private browserOf({ headers }: FastifyRequest): string | undefined {
    return browserOf(this.settings.systemUrl, externalCookie, headers.cookie);
  }
}

/** @throws DomainError COMMON_400001 for none or several of the proofs, and for a part of a passkey */
function commandOf(body: ReauthenticateDto, browser: string | undefined): Reauthentication {
  const { password, challenge_id, response, external, second_factor } = body;
  const secondFactor = second_factor ?? false;
  const hasPasskey = challenge_id != null || response != null;
  if (external != null && password == null && !hasPasskey)
    return { external: { code: external, browser }, secondFactor };
  if (password != null && !hasPasskey && external == null) return { password, secondFactor };
  if (password == null && external == null && challenge_id != null && response != null) {
    return { passkey: { challengeId: challenge_id, response }, secondFactor };
  }
  const problem = ['send either password, or challenge_id and response, or external'];
  throw new DomainError(requestInvalid, { fields: { password: problem } });
}
