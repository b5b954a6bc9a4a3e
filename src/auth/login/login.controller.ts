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
import { Memberships } from '../../users/memberships';
import { LoginDto } from './login.dto';
import { LoginReporter } from './login-reporter';
import { loginResponse, LoginResponse } from './login-response';

@ApiTags('login')
@Controller()
export class LoginController {
  constructor(
    private readonly logins: LoginReporter,
    private readonly memberships: Memberships,
  ) {}

  @Post('login')
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({ operationId: 'login', summary: 'Log in with a password or a directory credential (§4.1)' })
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
    const { username, password, provider, captcha_token: captchaToken } = body;
    const outcome = await this.logins.login(
      { username, password, provider: provider ?? 'password', captchaToken },
      client,
    );
    const known = outcome.kind === 'session' ? await this.memberships.of(outcome.user) : { tenants: [], orgUnits: [] };
    return loginResponse(outcome, known);
  }
}
