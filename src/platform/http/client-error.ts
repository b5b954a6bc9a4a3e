import type { Socket } from 'node:net';
import { bodyTooLarge, type CatalogueEntry, requestInvalid } from '../../shared/errors/error-catalogue';
import { answerHeaders } from './answer-headers';
import { errorEnvelope } from './error-envelope';

/** What Node's HTTP parser refuses never becomes a request: answered in the envelope all the same, and hung up. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, entry] = answerOf(error.code);
  const body = JSON.stringify(errorEnvelope(entry, 'en'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...answerHeaders,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
}

function answerOf(code: string | undefined): [string, CatalogueEntry] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['431 Request Header Fields Too Large', bodyTooLarge];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['408 Request Timeout', requestInvalid];
  return ['400 Bad Request', requestInvalid];
}
