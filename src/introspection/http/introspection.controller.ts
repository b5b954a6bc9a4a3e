import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '../../platform/http/api-docs';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { AnswersTo, type Audience } from '../../platform/http/audience';
import { FormBody } from '../../platform/http/body-parser';
import { RateLimited } from '../../platform/limits/rate-limited.decorator';
import { TokenIntrospection } from '../../sessions/token-introspection';
import { type ClientCredentials, ServiceClients } from '../service-client.repository';
import { IntrospectionDto, introspectionOf, IntrospectionResponse, WrongClientResponse } from './introspection.dto';

/**
 * A service behind the portal. The handler checks it instead of a guard: a wrong body is answered with 400 before the
 * credentials are read, and a wrong client with 401 in the format of RFC 7662.
 */
const serviceClient: Audience = { guards: [], security: [{ service_client: [] }], refusals: [] };

/** Services behind the portal ask whether a token is valid (RFC 7662, docs/spec/extensions.md#f). */
@ApiTags('introspection')
@Controller()
export class IntrospectionController {
  constructor(
    private readonly clients: ServiceClients,
    private readonly introspection: TokenIntrospection,
  ) {}

  @Post('introspect')
  @HttpCode(200)
  @OwnFormat()
  @FormBody()
  @RateLimited('introspection')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiOperation({
    operationId: 'introspectToken',
    summary: 'Whether a token is valid at this moment, for services',
    description:
      'The status is 200 for a token that is not valid as well (`{"active": false}`, RFC 7662). A proxy that looks at the status only, ' +
      'as `auth_request` of nginx does, would let everybody in. It asks `GET /verify`.',
  })
  @ApiOkResponse({ type: IntrospectionResponse, description: 'What the token stands for, without the envelope' })
  @ApiResponse({
    status: 401,
    type: WrongClientResponse,
    description: 'The client is unknown, revoked or not authenticated.',
    headers: {
      'WWW-Authenticate': { description: 'The scheme to authenticate with (RFC 7617).', schema: { type: 'string' } },
    },
  })
  @AnswersTo(serviceClient, undefined)
  async introspect(
    @Headers('authorization') authorization: string | undefined,
    @Body() { token }: IntrospectionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IntrospectionResponse | WrongClientResponse> {
    const credentials = basicCredentials(authorization);
    // The database answers both questions at the same time. A wrong client learns nothing, and costs hardly more than a `GET /user/me`.
    const [isGenuine, live] = await Promise.all([
      credentials !== undefined && this.clients.isGenuine(credentials),
      credentials && this.introspection.liveToken(token),
    ]);
    if (!isGenuine) {
      reply.code(401).header('www-authenticate', 'Basic realm="introspection", charset="UTF-8"');
      return { error: 'invalid_client' };
    }
    return introspectionOf(live);
  }
}

/**
 * Reads the credentials of a client from `Authorization: Basic` (RFC 6749 §2.3.1, RFC 7617). Both parts are
 * form-encoded. Ids and secrets of this service contain no character that the encoding changes.
 * @returns undefined for anything else
 */
function basicCredentials(authorization: string | undefined): ClientCredentials | undefined {
  const encoded = /^basic +([a-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}
