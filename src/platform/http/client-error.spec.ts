import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { RawConnection, request } from '../../../test/support/raw-http';
import { answerClientError } from './client-error';
import { refuseMalformedRequests } from './malformed-requests';

/** Bytes that follow a request on its connection, and are refused before any hook sees them. */
const refused: [what: string, bytes: string][] = [
  ['bytes that are no request', 'garbage\r\n\r\n'],
  ['CONNECT', request('CONNECT', '127.0.0.1:22')],
  ['too many bytes of headers', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
];

describe('a connection on which the client sends something to refuse', () => {
  let server: FastifyInstance;
  let connection: RawConnection;
  /** Ends the answer of `/export`. */
  let exported: Readable;

  beforeAll(async () => {
    const adapter = new FastifyAdapter({ clientErrorHandler: answerClientError, http: { requireHostHeader: false } });
    server = adapter.getInstance();
    refuseMalformedRequests(server);
    server.get('/export', (_request, reply) => {
      exported = new Readable({ read: () => undefined });
      exported.push('{"row":1}\n');
      return reply.header('content-type', 'application/x-ndjson').send(exported);
    });
    server.get('/slow', () => new Promise(() => undefined));
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    connection = await RawConnection.open((server.server.address() as AddressInfo).port);
  });
  afterEach(() => connection.end());

  it.each(refused)(
    'while an answer is being sent: %s cuts the answer off, and adds nothing to it',
    async (_what, bytes) => {
      connection.send(request('GET', '/export'));
      await connection.receives('{"row":1}');
      connection.send(bytes);
      await connection.closed;
      expect(connection.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(connection.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
      // Without the last chunk the client knows that the answer is incomplete.
      expect(connection.received).toMatch(/\{"row":1\}\n\r\n$/);
    },
  );

  it.each(refused)('behind a request without an answer so far: %s is refused', async (_what, bytes) => {
    connection.send(request('GET', '/slow') + bytes);
    await connection.closed;
    expect(connection.received).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(connection.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it.each(refused)('behind a complete answer: %s is refused', async (_what, bytes) => {
    connection.send(request('GET', '/nowhere'));
    await connection.answers(1);
    connection.send(bytes);
    await connection.closed;
    expect(connection.received.match(/HTTP\/1\.1 4\d\d /g)).toHaveLength(2);
  });
});
