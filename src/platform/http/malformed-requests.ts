import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import {
  bodyTooLarge,
  type CatalogueEntry,
  methodNotAllowed,
  requestInvalid,
} from '../../shared/errors/error-catalogue';
import { refuseSocket } from './client-error';
import { sendError } from './error-envelope';

const maxHeaders = 200;

/**
 * Refuses these requests with an error envelope. Node would accept them, or refuse them with an empty body:
 * - more than 200 headers: Node limits the bytes of headers, but accepts 2000 short headers and silently drops the rest
 *   (docs/spec/attacks.md#t223);
 * - no Host header, or several (RFC 9112 §3.2). `requireHostHeader` of Node must be off for this;
 * - CONNECT.
 */
export function refuseMalformedRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const entry = refusalOf(request.raw);
    if (entry === undefined) {
      done();
      return;
    }
    reply.header('connection', 'close');
    sendError(reply, new DomainError(entry), request.client.language);
  });
  const { server } = fastify;
  server.on('connect', (_request, socket) => refuseSocket(socket, '405 Method Not Allowed', methodNotAllowed));
  // Node would refuse a request with an unknown `Expect` header. RFC 9110 §10.1.1 allows to ignore the header, so the
  // request is handled as if it had none.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    continueInTurn(response);
    server.emit('request', request, response);
  });
}

/**
 * Asks the client for its body (RFC 9110 §10.1.1). Until earlier requests of the connection are answered, Node would
 * queue this line and send it after the headers of this answer. It is therefore written when the response gets its
 * socket, unless the answer has begun by then.
 */
function continueInTurn(response: ServerResponse): void {
  if (response.socket) response.writeContinue();
  else response.once('socket', () => response.headersSent || response.writeContinue());
}

function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): CatalogueEntry | undefined {
  // The parser itself refuses too many bytes with 431 (client-error.ts).
  if (rawHeaders.length > 2 * maxHeaders) return { ...bodyTooLarge, status: 431 };
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0') ? undefined : requestInvalid;
}
