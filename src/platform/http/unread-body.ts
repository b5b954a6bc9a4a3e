import { Readable } from 'node:stream';
import type { FastifyRequest, preParsingHookHandler } from 'fastify';
import { ClientGone } from '../../shared/errors/client-gone';
import { DomainError } from '../../shared/errors/domain-error';
import { bodyTooLarge } from '../../shared/errors/error-catalogue';

const firstBytes = 64 * 1024;

/**
 * Reads a body that nobody has read yet. Node ends the connection of a client that does not finish its request in time
 * (`requestTimeout`).
 * @throws DomainError COMMON_413001 for one that is too large
 */
export function readAtMost(
  bytes: number,
  source: Readable,
  { headers }: Pick<FastifyRequest, 'headers'>,
): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > bytes) throw new DomainError(bodyTooLarge);
  // The client may have left while the guards were asking. Such a stream tells its end to nobody who comes later.
  if (source.destroyed) throw new ClientGone();
  return new Promise((resolve, reject) => {
    // One buffer: a client may send each byte as a chunk, and millions of small buffers would fill the memory.
    let body = Buffer.allocUnsafe(Math.min(bytes, firstBytes));
    let size = 0;
    const take = (chunk: Buffer) => {
      const end = size + chunk.length;
      if (end <= bytes) {
        if (end > body.length) body = Buffer.concat([body], Math.min(bytes, Math.max(end, 2 * body.length)));
        size += chunk.copy(body, size);
        return;
      }
      // Not `destroy`, which would close the connection before the answer.
      source.off('data', take).pause();
      reject(new DomainError(bodyTooLarge));
    };
    source.on('data', take);
    source.once('end', () => resolve(body.subarray(0, size)));
    source.once('error', () => reject(new ClientGone()));
    source.once('close', () => reject(new ClientGone()));
  });
}

/** Gives the parser nothing to read. The parser still judges the media type, and the size that the client names. */
export const leaveUnread: preParsingHookHandler = ({ headers }, _reply, _payload, done) => {
  const told = Number(headers['content-length'] ?? 0);
  done(null, Object.assign(Readable.from([]), { receivedEncodedLength: told }));
};
