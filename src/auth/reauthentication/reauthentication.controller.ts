import { Body, Controller, HttpCode, Post } from '@nestjs/common';
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
  loginFailed,
  notPermitted,
  passkeyRejected,
  requestInvalid,
} from '../../shared/errors/error-catalogue';
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
  ) {}

  @Post('reauthenticate')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({
    operationId: 'reauthenticate',
    summary: 'Confirm who you are with your password or a passkey, and get new tokens of the same session',
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
  )
  async reauthenticate(
    @Body() body: ReauthenticateDto,
    @Session() session: CurrentSession,
    @Client() client: ClientInfo,
  ): Promise<LoginResponse> {
    return this.answers.of(await this.reauthentication.confirm(commandOf(body), session, client));
  }
}

/** @throws DomainError COMMON_400001 for neither or both of the proofs, and for a part of a passkey */
function commandOf({ password, challenge_id, response, second_factor }: ReauthenticateDto): Reauthentication {
  const secondFactor = second_factor ?? false;
  if (password != null && challenge_id == null && response == null) return { password, secondFactor };
  if (password == null && challenge_id != null && response != null) {
    return { passkey: { challengeId: challenge_id, response }, secondFactor };
  }
  const problem = ['send either password, or challenge_id and response'];
  throw new DomainError(requestInvalid, { fields: { password: problem } });
}
