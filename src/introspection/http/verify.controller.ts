import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '../../platform/http/api-docs';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { AnswersTo } from '../../platform/http/audience';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { type CurrentSession, Session } from '../../sessions/current-session';
import { DomainError } from '../../shared/errors/domain-error';
import { notPermitted } from '../../shared/errors/error-catalogue';
import { documentedHeaders, groups, identityHeaders } from './identity-headers';
import { documentedChallenge, proxy } from './proxy-audience';
import { VerifyQuery } from './verify.dto';

/** A proxy asks about each request that it is to pass on (docs/spec/extensions.md#verify, docs/operations/proxies.md). */
@ApiTags('introspection')
@Controller()
export class VerifyController {
  @Get('verify')
  @OwnFormat()
  @RateLimited('introspection')
  @ApiOperation({
    operationId: 'verifyRequest',
    summary: 'Whether a proxy may pass a request on, and whose it is',
    description:
      'For `auth_request` of nginx, ForwardAuth of Traefik and their like: the status alone is the answer, and the user is in its ' +
      'headers. Both demands of the query have to be met. Values are UTF-8; each byte that is not printable ASCII, a percent ' +
      'sign, a comma, and a space at either end are percent-encoded. A header without a value is sent empty.',
  })
  @ApiOkResponse({ description: 'The request may pass. The body is empty.', headers: documentedHeaders })
  @ApiResponse({ status: 401, headers: documentedChallenge })
  @AnswersTo(proxy, undefined, notPermitted)
  verify(
    @Session() session: CurrentSession,
    @Query() { group, admin }: VerifyQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): void {
    if (group?.some((name) => groups.includes(name)) === false) throw new DomainError(notPermitted);
    if (admin !== undefined && !session.user.isAdmin) throw new DomainError(notPermitted);
    reply.headers(identityHeaders(session));
  }
}
