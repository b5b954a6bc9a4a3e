import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '../../platform/http/api-docs';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { AnswersTo } from '../../platform/http/audience';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { type CurrentSession, Session, WithGroups } from '../../sessions/current-session';
import { identityKey } from '../../shared/identity-key';
import { DomainError } from '../../shared/errors/domain-error';
import { notPermitted } from '../../shared/errors/error-catalogue';
import { documentedHeaders, identityHeaders } from './identity-headers';
import { documentedChallenge, proxy } from './proxy-audience';
import { VerifyQuery } from './verify.dto';

/** A proxy asks about each request that it is to pass on (docs/spec/extensions.md#verify, docs/operations/proxies.md). */
@ApiTags('introspection')
@Controller()
export class VerifyController {
  @Get('verify')
  @WithGroups()
  @OwnFormat()
  @RateLimited('introspection')
  @ApiOperation({
    operationId: 'verifyRequest',
    summary: 'Whether a proxy may pass a request on, and whose it is',
    description:
      'For `auth_request` of nginx, ForwardAuth of Traefik and their like: the status alone is the answer, and the user is in its ' +
      'headers. All demands of the query have to be met. Values are UTF-8; each byte that is not printable ASCII, a percent ' +
      'sign, a comma, and a space at either end are percent-encoded. A header without a value is sent empty.',
  })
  @ApiOkResponse({ description: 'The request may pass. The body is empty.', headers: documentedHeaders })
  @ApiResponse({ status: 401, headers: documentedChallenge })
  @AnswersTo(proxy, undefined, notPermitted)
  verify(
    @Session() session: CurrentSession,
    @Query() { group, admin, tenant }: VerifyQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): void {
    if (tenant !== undefined && session.user.tenantId !== tenant) throw new DomainError(notPermitted);
    const asked = group?.map(identityKey);
    const meets = (name: string) => asked?.includes(identityKey(name)) === true;
    if (asked !== undefined && !session.groups?.some(meets)) throw new DomainError(notPermitted);
    if (admin !== undefined && !session.user.isAdmin) throw new DomainError(notPermitted);
    reply.headers(identityHeaders(session, meets));
  }
}
