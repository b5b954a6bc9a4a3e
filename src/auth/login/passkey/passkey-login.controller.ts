import { Body, Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../../platform/http/api-docs';
import type { ClientInfo } from '../../../shared/client-info';
import {
  accountDisabled,
  accountDormant,
  accountLocked,
  accountNotEnabled,
  directoryUnavailable,
  passkeyRejected,
  routeNotFound,
} from '../../../shared/errors/error-catalogue';
import { AnswersTo, anyone } from '../../../platform/http/audience';
import { Client } from '../../../platform/http/client-info.decorator';
import { RateLimited } from '../../../platform/limits/rate-limited.decorator';
import { PasskeyAssertions } from '../../../passkeys/passkey-assertions';
import { PasskeysOn } from '../../../passkeys/passkeys-on.guard';
import { LoginResponse } from '../login.dto';
import { LoginAnswers } from '../login-answers';
import { signIn } from '../../../sessions/audiences';
import { PasskeyLoginDto, PasskeyOptionsResponse } from './passkey-login.dto';
import { PasskeyLoginService } from './passkey-login.service';

@ApiTags('login')
@Controller('login')
@UseGuards(PasskeysOn)
export class PasskeyLoginController {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly logins: PasskeyLoginService,
    private readonly answers: LoginAnswers,
  ) {}

  /** Not in the limit of logins: a login page asks whenever it is opened, and the answer costs next to nothing. */
  @Post('passkey-options')
  @HttpCode(200)
  @ApiOperation({ operationId: 'createPasskeyChallenge', summary: 'Begin a login with a passkey' })
  @AnswersTo(anyone, PasskeyOptionsResponse, routeNotFound)
  options(): PasskeyOptionsResponse {
    const { challengeId, options } = this.assertions.newChallenge();
    return { challenge_id: challengeId, options };
  }

  @Post('passkey')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({ operationId: 'loginWithPasskey', summary: 'Log in with a passkey, which is both factors' })
  @AnswersTo(
    signIn,
    LoginResponse,
    routeNotFound,
    passkeyRejected,
    accountLocked,
    accountDisabled,
    accountNotEnabled,
    accountDormant,
    directoryUnavailable,
  )
  async login(@Body() body: PasskeyLoginDto, @Client() client: ClientInfo): Promise<LoginResponse> {
    const { challenge_id: challengeId, response } = body;
    return this.answers.of(await this.logins.login({ challengeId, response }, client));
  }
}
