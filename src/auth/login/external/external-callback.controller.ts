import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { externalCookie } from '../../../identity-providers/external-requests';
import { ServiceSettings } from '../../../platform/config/service-settings';
import { isStoreFailure } from '../../../platform/database/store-failure';
import { OwnFormat } from '../../../platform/http/answers.decorator';
import { ApiExcludeController } from '../../../platform/http/api-docs';
import { Admits, anyone } from '../../../platform/http/audience';
import { browserOf } from '../../../platform/http/browser-cookie';
import { Client } from '../../../platform/http/client-info.decorator';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { serviceUnavailable } from '../../../shared/errors/error-catalogue';
import { type ExternalCallback, ExternalCallbackService } from './external-callback.service';

/** An identity provider sends the browser here. It is no route for clients: every answer leads to the pages. */
@ApiExcludeController()
@Controller('login/external')
export class ExternalCallbackController {
  constructor(
    private readonly callbacks: ExternalCallbackService,
    private readonly settings: ServiceSettings,
  ) {}

  @Get(':id/callback')
  @OwnFormat()
  @Admits(anyone)
  async callback(
    @Param('id') providerId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Client() client: ClientInfo,
  ): Promise<void> {
    const { systemUrl } = this.settings;
    const { searchParams: query } = new URL(request.url, systemUrl);
    const browser = browserOf(systemUrl, externalCookie, request.headers.cookie);
    const page = await this.pageOf({ providerId, query, browser }, client);
    await reply.redirect(`${systemUrl}${page}`, 303);
  }

  private async pageOf(callback: ExternalCallback, client: ClientInfo): Promise<string> {
    const page = (parameters: Record<string, string>) => `/?${new URLSearchParams(parameters).toString()}`;
    try {
      const { code, returnTo, isTry } = await this.callbacks.receive(callback, client);
      // In the fragment, so that no proxy logs it.
      if (isTry) return `/admin#/identity-providers/${callback.providerId}?tried=${code}`;
      return page({ external: code, ...(returnTo !== undefined && { return_to: returnTo }) });
    } catch (error) {
      if (error instanceof DomainError) return page({ error: error.entry.code });
      if (isStoreFailure(error)) return page({ error: serviceUnavailable.code });
      throw error;
    }
  }
}
