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
  /** Lets `/first` answer. */
  let release: () => void;

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
    // The answers of these two are ready in the wrong order.
    server.get('/first', () => new Promise((resolve) => (release = () => resolve({}))));
    server.post('/echo', async ({ body }, reply) => {
      const afterAnswer = () => (reply.raw.writableEnded ? release() : setImmediate(afterAnswer));
      setImmediate(afterAnswer);
      return reply.send(body);
    });
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

  it('a pipelined request that expects 100 Continue does not get it into the body of its answer', async () => {
    const body = '{"a":1}';
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue'];
    connection.send(request('GET', '/first') + request('POST', '/echo', lines) + body);
    await connection.receives('"a"');
    expect(connection.received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('a pipelined request whose body waits for 100 Continue gets it, and then its answer', async () => {
    const body = '{"a":1}';
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue'];
    connection.send(request('GET', '/nowhere') + request('POST', '/echo', lines));
    await connection.receives('HTTP/1.1 100 Continue\r\n\r\n');
    connection.send(body);
    await connection.receives('"a"');
    expect(connection.received).toMatch(/ 404 [^]* 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[^]*\r\n\r\n\{"a":1\}$/);
  });

  it.each(refused)('behind a complete answer: %s is refused', async (_what, bytes) => {
    connection.send(request('GET', '/nowhere'));
    await connection.answers(1);
    connection.send(bytes);
    await connection.closed;
    expect(connection.received.match(/HTTP\/1\.1 4\d\d /g)).toHaveLength(2);
  });
});
