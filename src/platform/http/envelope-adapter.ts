import { StreamableFile } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { isOwnFormat } from './answers.decorator';

/**
 * Puts `{"status": true, "data": …}` around each success, unless the route has its own format or
 * answers a stream. ErrorEnvelopeFilter
 * renders the failures. This is not an interceptor: for a single interceptor Nest adds an observable, subscribers and
 * socket listeners to each request, which is a fifth of the processor time of a token check (ADR 0014).
 */
export class EnvelopeAdapter extends FastifyAdapter {
  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    const bare = body instanceof StreamableFile || isOwnFormat(response.request);
    const data = bare ? body : { status: true, data: body };
    return super.reply(response, data, statusCode);
  }
}
