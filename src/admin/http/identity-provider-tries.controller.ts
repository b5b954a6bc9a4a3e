import { Body, Controller, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { externalCookie } from '../../identity-providers/external-requests';
import { ServiceSettings } from '../../platform/config/service-settings';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { browserOf, newBrowser } from '../../platform/http/browser-cookie';
import { identityProviderUnavailable, notFoundForCaller } from '../../shared/errors/error-catalogue';
import { Random } from '../../shared/random';
import type { Administrator } from '../authority';
import { AdminChange } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { ProviderTries, type ProviderTry } from '../provider-tries';
import { BegunTryResponse, TriedCodeDto, TryResponse } from './identity-provider-tries.dto';
import { refused } from './refusals';

/** An administrator tries an identity provider (docs/spec/extensions.md#k). */
@ApiTags('admin')
@Controller('admin')
export class AdminIdentityProviderTriesController {
  constructor(
    private readonly tries: ProviderTries,
    private readonly random: Random,
    private readonly settings: ServiceSettings,
  ) {}

  @AdminChange(
    'POST',
    'identity-providers/:id/test',
    'identity-providers.write',
    BegunTryResponse,
    notFoundForCaller,
    identityProviderUnavailable,
  )
  @ApiOperation({
    operationId: 'adminTryIdentityProvider',
    summary: 'Begin a try: a sign-in at the provider that makes no session',
    description: 'Also at a disabled provider. Sets the cookie of this browser, as POST /login/external/{id} does.',
  })
  async begin(
    @Param('id') id: string,
    @Caller() by: Administrator,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BegunTryResponse> {
    const { systemUrl } = this.settings;
    const known = browserOf(systemUrl, externalCookie, request.headers.cookie);
    const [browser, header] =
      known === undefined ? newBrowser(systemUrl, externalCookie, this.random) : [known, undefined];
    const url = await this.tries.begin(by, id, browser).catch(refused);
    if (header !== undefined) void reply.header('set-cookie', header);
    return { redirect_to: url };
  }

  @AdminChange('POST', 'identity-providers/:id/test/result', 'identity-providers.write', TryResponse, notFoundForCaller)
  @ApiOperation({
    operationId: 'adminReadIdentityProviderTry',
    summary: 'Read the result of a try',
    description: 'Once, within a minute, by the administrator who began it. Else USER_404001.',
  })
  async read(
    @Param('id') id: string,
    @Body() { code }: TriedCodeDto,
    @Caller() by: Administrator,
  ): Promise<TryResponse> {
    return viewOf(await this.tries.read(by, id, code).catch(refused));
  }
}

function viewOf({ tried, loginName }: ProviderTry): TryResponse {
  if ('refused' in tried) {
    const reason = `the answer of the identity provider was refused: ${tried.refused}`;
    const nobody = { claims: null, user: null, second_factor: false, uid: null, login_name: null };
    return { ...nobody, outcome: 'refused', reason };
  }
  const { claims, person, mfa, owner } = tried;
  const { groups } = person;
  return {
    claims,
    user: {
      login_name: person.loginName,
      email: person.email,
      nickname: person.nickname,
      external_id: person.externalId,
      groups: groups && [...groups],
    },
    second_factor: mfa,
    outcome: owner.outcome,
    uid: owner.userId,
    login_name: loginName,
    reason: owner.reason,
  };
}
