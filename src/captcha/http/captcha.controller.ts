import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import type { Challenge } from 'altcha-lib';
import { ApiOkResponse, ApiOperation, ApiTags } from '../../platform/http/api-docs';
import type { ClientInfo } from '../../shared/client-info';
import { captchaRejected, captchaUnavailable, routeNotFound } from '../../shared/errors/error-catalogue';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { AnswersTo, anyone } from '../../platform/http/audience';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { CaptchaService } from '../captcha.service';
import { CaptchaChallengeResponse, VerifyCaptchaRequest, VerifyCaptchaResponse } from './captcha.dto';

@ApiTags('captcha')
@Controller()
export class CaptchaController {
  constructor(private readonly captcha: CaptchaService) {}

  @Post('verify-captcha')
  @HttpCode(200)
  @RateLimited('captcha')
  @ApiOperation({ operationId: 'verifyCaptcha', summary: 'Exchange a captcha token for a pass that /login accepts' })
  @AnswersTo(anyone, VerifyCaptchaResponse, captchaRejected, captchaUnavailable)
  async verify(@Body() body: VerifyCaptchaRequest, @Client() client: ClientInfo): Promise<VerifyCaptchaResponse> {
    return { result: true, captcha_token: await this.captcha.verify(body.captcha_token, client.ip) };
  }

  @Get('captcha/challenge')
  @OwnFormat()
  @RateLimited('captcha')
  @ApiOperation({
    operationId: 'getCaptchaChallenge',
    summary: 'Get a proof-of-work challenge in the format of the altcha widget',
  })
  @ApiOkResponse({ type: CaptchaChallengeResponse, description: 'The challenge, without the envelope' })
  @AnswersTo(anyone, undefined, routeNotFound)
  challenge(): Promise<Challenge> {
    return this.captcha.challenge();
  }
}
