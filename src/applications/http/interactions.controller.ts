import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiOperation, ApiParam, ApiTags } from '../../platform/http/api-docs';
import { AnswersTo } from '../../platform/http/audience';
import { DomainError } from '../../shared/errors/domain-error';
import {
  applicationRefused,
  refusedAsItIs,
  interactionNotFound,
  youngSessionRequired,
} from '../../shared/errors/error-catalogue';
import { accessToken } from '../../sessions/audiences';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { browserOf } from '../../platform/http/browser-cookie';
import { Interactions } from '../openid/interactions';
import { openIdProviderSettings } from '../openid/openid-endpoint';
import {
  FinishInteractionDto,
  InteractionFinishedResponse,
  InteractionResponse,
  interactionView,
} from './interactions.dto';

const uidParameter = {
  name: 'uid',
  description: 'The parameter `interaction` of the page.',
  schema: { type: 'string' },
} as const;

/** The pages finish the sign-in at an application (docs/spec/extensions.md#j). */
@ApiTags('applications')
@Controller('applications/interactions')
export class InteractionsController {
  constructor(
    private readonly interactions: Interactions,
    @Inject(openIdProviderSettings) private readonly settings: { readonly issuer: string; readonly systemUrl: string },
  ) {}

  @Get(':uid')
  @ApiParam(uidParameter)
  @ApiOperation({ operationId: 'getInteraction', summary: 'What an application asks for, before the sign-in goes on' })
  @AnswersTo(accessToken, InteractionResponse, interactionNotFound, applicationRefused)
  async describe(
    @Param('uid') uid: string,
    @Session() session: CurrentSession,
    @Req() request: FastifyRequest,
  ): Promise<InteractionResponse> {
    return interactionView(await this.interactions.describe(uid, this.browserOf(request), session));
  }

  @Post(':uid')
  @HttpCode(200)
  @ApiParam(uidParameter)
  @ApiOperation({
    operationId: 'finishInteraction',
    summary: 'Go on to the application with this session',
    description: 'The request must come from a page of the origin of `SYSTEM_URL`, in the browser that began.',
  })
  @AnswersTo(
    accessToken,
    InteractionFinishedResponse,
    interactionNotFound,
    applicationRefused,
    youngSessionRequired,
    refusedAsItIs,
  )
  async finish(
    @Param('uid') uid: string,
    @Body() { consent, select_account: selectAccount }: FinishInteractionDto,
    @Session() session: CurrentSession,
    @Req() request: FastifyRequest,
  ): Promise<InteractionFinishedResponse> {
    // A page of another origin must not sign its visitor in, whatever token it has.
    if (request.headers.origin !== new URL(this.settings.systemUrl).origin) throw new DomainError(interactionNotFound);
    const browser = this.browserOf(request);
    return { redirect_to: await this.interactions.finish(uid, browser, session, { consent, selectAccount }) };
  }

  private browserOf(request: FastifyRequest): string | undefined {
    return browserOf(this.settings.issuer, 'browser', request.headers.cookie);
  }
}
