import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ClientInfo } from '../../shared/client-info';
import { defaultLanguage, wishedLanguage } from '../../shared/languages';
import type { CidrRange } from '../config/http-settings';
import { clientAddress } from './client-address';
import { connectionSignal } from './connection-signal';

declare module 'fastify' {
  interface FastifyRequest {
    client: ClientInfo;
  }
}

/** A hook in `app.setup.ts` calls this once for each request. */
export function clientInfoOf(request: FastifyRequest, trusted: readonly CidrRange[]): ClientInfo {
  const wished = wishedLanguage(request.headers['accept-language']);
  const forwarded = request.headers['x-forwarded-for'];
  return {
    ip: clientAddress(
      request.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      trusted,
    ),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 512),
    language: wished ?? defaultLanguage,
    wishedLanguage: wished,
    requestId: request.id,
    signal: connectionSignal(request.socket),
  };
}

/** Parameter decorator of controllers: `@Client() client: ClientInfo`. */
export const Client = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ClientInfo => context.switchToHttp().getRequest<FastifyRequest>().client,
);
