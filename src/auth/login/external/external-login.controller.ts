import { Body, Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { externalCookie, ExternalRequests } from '../../../identity-providers/external-requests';
import { ServiceSettings } from '../../../platform/config/service-settings';
import { ApiOperation, ApiParam, ApiTags } from '../../../platform/http/api-docs';
import { AnswersTo } from '../../../platform/http/audience';
import { browserOf, newBrowser } from '../../../platform/http/browser-cookie';
import { Client } from '../../../platform/http/client-info.decorator';
import { RateLimited } from '../../../platform/limits/rate-limited.decorator';
import { anyoneOrAccessToken, signIn } from '../../../sessions/audiences';
import { type CurrentSession, Session } from '../../../sessions/current-session';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import {
  accessTokenInvalid,
  accountDisabled,
  accountDormant,
  accountLocked,
  accountNotEnabled,
  codeSentTooOften,
  externalAnswerRejected,
  identityProviderUnavailable,
  loginFailed,
  requestInvalid,
  routeNotFound,
} from '../../../shared/errors/error-catalogue';
import { Random } from '../../../shared/random';
import { LoginAnswers } from '../login-answers';
import { LoginResponse } from '../login.dto';
import { BeginExternalDto, ExternalBegunResponse, ExternalLoginDto } from './external-login.dto';
import { ExternalLoginService } from './external-login.service';
import { pathOf } from './return-to';

const idParameter = {
  name: 'id',
  description: 'The `id` of the identity provider.',
  schema: { type: 'string', example: 'entra' },
} as const;

@ApiTags('login')
@Controller('login/external')
export class ExternalLoginController {
  constructor(
    private readonly requests: ExternalRequests,
    private readonly logins: ExternalLoginService,
    private readonly answers: LoginAnswers,
    private readonly random: Random,
    private readonly settings: ServiceSettings,
  ) {}

  @Post(':id')
  @HttpCode(200)
  @ApiParam(idParameter)
  @ApiOperation({ operationId: 'beginExternalLogin', summary: 'Begin a sign-in at an identity provider' })
  @AnswersTo(anyoneOrAccessToken, ExternalBegunResponse, routeNotFound, accessTokenInvalid, identityProviderUnavailable)
  async begin(
    @Param('id') providerId: string,
    @Body() { return_to: wished, fresh }: BeginExternalDto,
    @Session() session: CurrentSession | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExternalBegunResponse> {
    const returnTo = wished == null ? undefined : pathOf(wished);
    if (wished != null && returnTo === undefined) {
      throw new DomainError(requestInvalid, { fields: { return_to: ['return_to must be a path of the pages'] } });
    }
    const confirms = fresh === true ? session?.payload.sub : undefined;
    if (fresh === true && confirms === undefined) throw new DomainError(accessTokenInvalid);
    const known = this.browserOf(request);
    const [browser, header] =
      known === undefined ? newBrowser(this.settings.systemUrl, externalCookie, this.random) : [known, undefined];
    const url = await this.requests.begin({ providerId, browser, returnTo, confirms });
    if (header !== undefined) void reply.header('set-cookie', header);
    return { redirect_to: url };
  }

  @Post()
  @HttpCode(200)
  @RateLimited('login')
  @ApiOperation({
    operationId: 'loginExternally',
    summary: 'Log in with the code of a sign-in at an identity provider',
  })
  @AnswersTo(
    signIn,
    LoginResponse,
    externalAnswerRejected,
    accountLocked,
    loginFailed,
    accountDisabled,
    accountNotEnabled,
    accountDormant,
    codeSentTooOften,
  )
  async login(
    @Body() { code, device_token: deviceToken }: ExternalLoginDto,
    @Req() request: FastifyRequest,
    @Client() client: ClientInfo,
  ): Promise<LoginResponse> {
    const command = { code, browser: this.browserOf(request), deviceToken: deviceToken ?? undefined };
    return this.answers.of(await this.logins.login(command, client));
  }

  private browserOf({ headers }: FastifyRequest): string | undefined {
    return browserOf(this.settings.systemUrl, externalCookie, headers.cookie);
  }
}
