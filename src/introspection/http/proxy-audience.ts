import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Audience } from '../../platform/http/audience';
import { accessToken } from '../../sessions/audiences';
import type { Proof } from '../../sessions/token-binding';
import { AccessTokenGuard } from '../../sessions/tokens.guard';
import { DomainError } from '../../shared/errors/domain-error';
import { proofAlgorithms } from '../../shared/errors/proof-rejected';

/**
 * Accepts an access token as AccessTokenGuard does. Its 401 has `WWW-Authenticate` (RFC 6750 §3), which a proxy passes on to the
 * client. Other routes do not send that header: their clients know this service.
 */
@Injectable()
export class ProxyTokenGuard extends AccessTokenGuard {
  /** A proxy passes on the proof of its client, which is for the request of that client. */
  protected override proofOf(request: FastifyRequest): Proof | undefined {
    return this.binding.proofOfForwarded(request);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await super.canActivate(context);
    } catch (reason) {
      if (reason instanceof DomainError && reason.entry.status === 401) {
        const http = context.switchToHttp();
        const { authorization } = http.getRequest<FastifyRequest>().headers;
        http.getResponse<FastifyReply>().header('www-authenticate', challengeTo(authorization, this.binding.required));
      }
      throw reason;
    }
  }
}

/** The error code is for a request with a token only (RFC 6750 §3.1). */
function challengeTo(authorization: string | undefined, bindingRequired: boolean): string {
  const scheme = /^(bearer|dpop)(?: |$)/i.exec(authorization ?? '')?.[1]?.toLowerCase();
  if (scheme === 'dpop') return `DPoP error="invalid_token", ${proofAlgorithms}`;
  if (scheme === 'bearer') return 'Bearer error="invalid_token"';
  return bindingRequired ? `DPoP ${proofAlgorithms}` : 'Bearer';
}

/** A proxy that passes on the access token of its client. */
export const proxy: Audience = { ...accessToken, guards: [ProxyTokenGuard] };

export const documentedChallenge = {
  'WWW-Authenticate': {
    description:
      '`Bearer`, with `error="invalid_token"` if the request had a token (RFC 6750). `DPoP`, with the reason, for a bound token.',
    schema: { type: 'string' },
  },
} as const;
