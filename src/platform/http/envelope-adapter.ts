import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { isOwnFormat } from './answers.decorator';

/**
 * `{"status": true, "data": …}` around every success, except where a route has a format of its own. Here and not in an
 * interceptor: a single one makes Nest put an observable, its subscribers and its socket listeners around every request,
 * a fifth of the processor time of a token check (ADR 0014). Failures do not come this way (ErrorEnvelopeFilter).
 */
export class EnvelopeAdapter extends FastifyAdapter {
  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    const data = isOwnFormat(response.request) ? body : { status: true, data: body };
    return super.reply(response, data, statusCode);
  }
}
