import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import {
  bodyTooLarge,
  type CatalogueEntry,
  methodNotAllowed,
  requestInvalid,
  routeNotFound,
} from '../../shared/errors/error-catalogue';
import { negotiateLanguage } from '../../shared/languages';
import { answerHeaders, errorEnvelope, sendError } from './error-envelope';
import { anyMethod } from './other-methods';

/** Time for the client to read the answer. Without it, a client that is still sending would see a reset connection. */
const lingerMs = 1000;

/**
 * Answers a request that the HTTP parser of Node refuses, in the envelope, and closes the connection. No hook sees such
 * a request.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refuseSocket(socket, ...answerOf(error.code));
}

/**
 * Answers a request that the router refuses before any hook has run, for example because its path is not UTF-8. The
 * answer of Fastify would quote the path, with any token in it.
 */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...answerHeaders, 'x-request-id': request.id });
  const entry = error.code === 'FST_ERR_BAD_URL' ? requestInvalid : routeNotFound;
  sendError(reply, new DomainError(entry), negotiateLanguage(request.headers['accept-language']));
}

/**
 * Sends one answer and ends the connection, even if the client keeps its side open. Node no longer listens for errors
 * of such a socket, and an `error` event without a listener would end the process.
 */
export function refuseSocket(socket: Duplex, status: string, entry: CatalogueEntry): void {
  socket.on('error', () => undefined);
  if (isInAnswer(socket)) {
    socket.destroy();
    return;
  }
  setTimeout(() => socket.destroy(), lingerMs).unref();
  const body = JSON.stringify(errorEnvelope(entry, 'en'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...answerHeaders,
    ...(entry === methodNotAllowed ? { allow: anyMethod } : {}),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
}

/**
 * Whether the answer to an earlier request, for example an export, is being sent on this connection. The refusal would
 * become a part of it. Node makes the same check, by the same property, when a server has no handler of its own.
 */
function isInAnswer(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

function answerOf(code: string | undefined): [string, CatalogueEntry] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['431 Request Header Fields Too Large', bodyTooLarge];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['408 Request Timeout', requestInvalid];
  // The parser refuses an unknown method such as FOO. The answer is that for TRACE, which it accepts and no route has.
  if (code === 'HPE_INVALID_METHOD') return ['405 Method Not Allowed', methodNotAllowed];
  return ['400 Bad Request', requestInvalid];
}
