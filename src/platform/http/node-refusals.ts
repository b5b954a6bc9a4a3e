import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { methodNotAllowed, requestInvalid } from '../../shared/errors/error-catalogue';
import { refuseSocket } from './client-error';
import { sendError } from './error-envelope';

/**
 * What Node would refuse by itself, with an empty body or without a word: no Host (then `requireHostHeader` must be off;
 * RFC 9112 §3.2 wants exactly one), CONNECT, and an expectation it does not know, which is simply not met (RFC 9110 §10.1.1).
 */
export function refuseInNodesPlace(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (hasItsHost(request.raw)) {
      done();
      return;
    }
    reply.header('connection', 'close');
    sendError(reply, new DomainError(requestInvalid), request.client.language);
  });
  const { server } = fastify;
  server.on('connect', (_request, socket) => refuseSocket(socket, '405 Method Not Allowed', methodNotAllowed));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

function hasItsHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
