import type { Socket } from 'node:net';
import { elementAt, tag } from '../protocol/ber';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';

const oid = '1.3.6.1.4.1.1466.20037';
/** LDAPMessage { 1, ExtendedRequest { requestName [0] oid } } in BER. */
const request = Buffer.concat([Buffer.from('301d02010177188016', 'hex'), Buffer.from(oid, 'ascii')]);
const longestAnswer = 4096;
const extendedResponse = 0x78;

/**
 * Asks for TLS on a connection (RFC 4511 §4.14) and resolves when the server has agreed. The caller then starts TLS.
 * ldapjs does not wait for the answer: it sends the service account's password in clear after the request (ADR 0010).
 * @throws DirectoryFailure when the server refuses, or when more bytes than its answer arrive before TLS. An attacker
 * on the network can inject such bytes (CVE-2011-0411).
 */
export function startTls(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const finish = (failure?: DirectoryFailure) => {
      socket.off('data', onData).off('error', onError).off('close', onClose);
      if (failure === undefined) resolve();
      else reject(failure);
    };
    const onError = (error: Error) => finish(connectionFailure(error));
    const onClose = () => finish(new DirectoryFailure('connection refused or lost'));
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const message = elementAt(received, 0);
      if (message === undefined) return;
      const { end } = message;
      if (message.tag !== tag.sequence || end > longestAnswer || received.length > end) {
        finish(new DirectoryFailure('StartTLS refused'));
      } else if (received.length === end) finish(failureOf(received));
    };
    socket.on('data', onData).on('error', onError).on('close', onClose);
    socket.write(request);
  });
}

/** Reads an ExtendedResponse (RFC 4511 §4.12). Returns the failure unless its `resultCode` is success. */
function failureOf(message: Buffer): DirectoryFailure | undefined {
  const id = elementAt(message, elementAt(message, 0)?.start);
  const response = elementAt(message, id?.end);
  const result = elementAt(message, response?.start);
  const code = result?.tag === tag.enumerated ? message[result.start] : undefined;
  return response?.tag === extendedResponse && code === 0 ? undefined : new DirectoryFailure('StartTLS refused', code);
}
