import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiExcludeController } from '../../platform/http/api-docs';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { Admits, anyone } from '../../platform/http/audience';
import { FormBody } from '../../platform/http/body-parser';
import { Client } from '../../platform/http/client-info.decorator';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import type { ClientInfo } from '../../shared/client-info';
import { BackchannelLogout } from '../logout/backchannel-logout.service';
import { BackchannelLogoutDto, type LogoutRefused } from './backchannel-logout.dto';

/**
 * Identity providers tell here that somebody has signed out there (OpenID Connect Back-Channel Logout 1.0,
 * docs/spec/extensions.md#k). It is no route for clients, and answers as that specification says.
 */
@ApiExcludeController()
@Controller()
export class BackchannelLogoutController {
  constructor(private readonly logout: BackchannelLogout) {}

  @Post('login/external/:id/backchannel-logout')
  @HttpCode(200)
  @OwnFormat()
  @FormBody()
  @RateLimited('login')
  @Admits(anyone)
  async end(
    @Param('id') id: string,
    @Body() { logout_token: token }: BackchannelLogoutDto,
    @Client() client: ClientInfo,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LogoutRefused | ''> {
    reply.header('cache-control', 'no-store');
    if (await this.logout.end(id, token, client)) return '';
    reply.code(400);
    return { error: 'invalid_request' };
  }
}
