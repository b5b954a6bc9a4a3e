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
  legacyUnavailable,
  loginFailed,
  userNotFound,
} from '../../shared/errors/error-catalogue';
import { PrivacySettings } from '../../users/account-settings';
import { inSteps } from '../../platform/http/answer-steps';
import { AnswersTo } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { signIn } from '../../sessions/audiences';
import { LoginAnswers } from './login-answers';
import { LoginDto, LoginResponse } from './login.dto';
import { LoginService } from './login.service';

@ApiTags('login')
@Controller()
export class LoginController {
  constructor(
    private readonly logins: LoginService,
    private readonly answers: LoginAnswers,
    private readonly settings: PrivacySettings,
  ) {}

  @Post('login')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({ operationId: 'login', summary: 'Log in with a password or a directory credential' })
  @AnswersTo(
    signIn,
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
    legacyUnavailable,
  )
  async login(@Body() body: LoginDto, @Client() client: ClientInfo): Promise<LoginResponse> {
    const { username, password, provider, captcha_token: captchaToken, device_token } = body;
    const command = { username, password, provider: provider ?? 'password', captchaToken } as const;
    return inSteps(this.settings.hideAccountExistence, async () => {
      const outcome = await this.logins.login({ ...command, deviceToken: device_token ?? undefined }, client);
      return this.answers.of(outcome);
    });
  }
}
