import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { bodyTooLarge } from '../../shared/errors/error-catalogue';
import { sendError } from './error-envelope';

const mostHeaders = 200;

/** Node bounds the bytes of the headers, but takes 2000 short ones and drops those beyond without a word (T223). */
export function refuseManyHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.rawHeaders.length <= 2 * mostHeaders) {
      done();
      return;
    }
    reply.header('connection', 'close');
    // The parser's own refusal (client-error.ts) has this status as well.
    sendError(reply, new DomainError({ ...bodyTooLarge, status: 431 }), request.client.language);
  });
}
