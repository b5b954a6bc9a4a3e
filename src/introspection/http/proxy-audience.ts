import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Audience } from '../../platform/http/audience';
import { accessToken } from '../../sessions/audiences';
import { AccessTokenGuard } from '../../sessions/tokens.guard';
import { DomainError } from '../../shared/errors/domain-error';

/**
 * Accepts an access token as AccessTokenGuard does. Its 401 has `WWW-Authenticate` (RFC 6750 §3), which a proxy passes on to the
 * client. Other routes do not send that header: their clients know this service.
 */
@Injectable()
export class ProxyTokenGuard extends AccessTokenGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await super.canActivate(context);
    } catch (reason) {
      if (reason instanceof DomainError && reason.entry.status === 401) {
        const http = context.switchToHttp();
        const { authorization } = http.getRequest<FastifyRequest>().headers;
        http.getResponse<FastifyReply>().header('www-authenticate', challengeTo(authorization));
      }
      throw reason;
    }
  }
}

/** The error code is for a request with a token only (RFC 6750 §3.1). */
const challengeTo = (authorization: string | undefined): string =>
  /^bearer(?: |$)/i.test(authorization ?? '') ? 'Bearer error="invalid_token"' : 'Bearer';

/** A proxy that passes on the access token of its client. */
export const proxy: Audience = { ...accessToken, guards: [ProxyTokenGuard] };

export const documentedChallenge = {
  'WWW-Authenticate': {
    description: '`Bearer`, with `error="invalid_token"` if the request had a token (RFC 6750).',
    schema: { type: 'string' },
  },
} as const;
