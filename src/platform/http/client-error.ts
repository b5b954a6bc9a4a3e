import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  bodyTooLarge,
  type CatalogueEntry,
  methodNotAllowed,
  requestInvalid,
} from '../../shared/errors/error-catalogue';
import { answerHeaders } from './answer-headers';
import { errorEnvelope } from './error-envelope';
import { anyMethod } from './other-methods';

/** Time to read the answer: destroyed at once, a client that is still sending would see a reset instead. */
const lingerMs = 1000;

/** What Node's HTTP parser refuses never becomes a request: answered in the envelope all the same, and hung up. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refuseSocket(socket, ...answerOf(error.code));
}

/**
 * For what never becomes a request: one answer, and the end of the connection, also where the client leaves its side open.
 * Node has let go of such a socket: an error of it that nobody hears would end the process.
 */
export function refuseSocket(socket: Duplex, status: string, entry: CatalogueEntry): void {
  socket.on('error', () => undefined);
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

function answerOf(code: string | undefined): [string, CatalogueEntry] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['431 Request Header Fields Too Large', bodyTooLarge];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['408 Request Timeout', requestInvalid];
  // FOO as much as TRACE, which the parser knows: no path of ours has it (T218).
  if (code === 'HPE_INVALID_METHOD') return ['405 Method Not Allowed', methodNotAllowed];
  return ['400 Bad Request', requestInvalid];
}
