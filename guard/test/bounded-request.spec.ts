import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { createVerifier } from '../dist/verifier.js';
import { type Ports, systemPorts } from '../dist/ports.js';
import { asking, World } from './world';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** A server that answers `/introspect` as a test tells it, over real connections. */
describe('an answer over the network', () => {
  const world = new World();
  let server: Server;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let asked = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked += 1;
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => (asked = 0));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const url = (path = '/introspect') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  /** Time passes when a test says so. */
  let expire = () => {};
  const ports: Ports = {
    ...systemPorts,
    epochSeconds: () => world.epochSeconds,
    after: (_milliseconds, callback) => {
      expire = callback;
      return () => undefined;
    },
  };
  const realTime: Ports = { ...ports, after: systemPorts.after };
  const openConnections = () => promisify(server.getConnections.bind(server))();
  const guard = () => createVerifier({ ...asking, introspectionUrl: url() }, ports);
  const verify = () => guard().verify(world.unsigned());
  const unavailable = (reason: string) => ({ status: 'unavailable', reason, url: url() });

  it.each([
    ['no answer', () => undefined],
    ['headers without a body', (response: ServerResponse) => response.writeHead(200).flushHeaders()],
    ['a body without an end', (response: ServerResponse) => response.write('{"active": tr')],
    ['a refusal without an end', (response: ServerResponse) => response.writeHead(429).write('x')],
  ])('%s is given up after the time-out', async (_what, begin) => {
    answer = (_request, response) => {
      begin(response);
      expire();
    };
    expect(await verify()).toEqual(unavailable('timeout'));
    expect(asked).toBe(1);
  });

  it.each(['br', 'gzip', 'deflate'])(
    'an answer that %s cannot decompress is given up in time, and the next question is asked again (T337)',
    async (coding) => {
      // The end of the connection is the end of the body. `fetch` of Node 20 forgets the reader of such a body.
      const lines = ['HTTP/1.1 200 OK', `Content-Encoding: ${coding}`, '', 'not compressed'];
      answer = (request) => request.socket.end(lines.join('\r\n'));
      const patient = createVerifier({ ...asking, introspectionUrl: url(), timeoutMs: 300 }, realTime);
      const token = world.unsigned();
      expect(await patient.verify(token)).toMatchObject({ status: 'unavailable' });
      answer = (_request, response) => response.end('{"active":false}');
      expect(await patient.verify(token)).toMatchObject({ status: 'invalid' });
    },
  );

  it('the connection is closed when the time is over within an answer, also after garbage was collected', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-length': 100 }).write('{"active": tr');
    const hasty = createVerifier({ ...asking, introspectionUrl: url(), timeoutMs: 1000 }, realTime);
    const verdicts = Array.from({ length: 10 }, () => hasty.verify(world.unsigned()));
    const collecting = setInterval(collectGarbage, 100);
    expect(await Promise.all(verdicts)).toEqual(Array(10).fill(unavailable('timeout')));
    clearInterval(collecting);
    while ((await openConnections()) > 0) await pause(20);
  });

  it('an endless answer is not read to its end (T337)', async () => {
    let written = 0;
    answer = (_request, response) => {
      response.on('error', () => undefined);
      const piece = Buffer.alloc(64 * 1024, ' ');
      const more = () => {
        while (!response.destroyed && response.write(piece)) written += piece.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    expect(await verify()).toEqual(unavailable('answer_too_long'));
    expect(written).toBeLessThan(100 * 1024 * 1024);
  });

  it('a small compressed answer that becomes a large one is not read to its end', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, ' '));
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    expect(await verify()).toEqual(unavailable('answer_too_long'));
  });

  it('a redirect is not followed, so the credentials go nowhere else (T337)', async () => {
    answer = (_request, response) => response.writeHead(307, { location: url('/elsewhere') }).end();
    expect(await verify()).toEqual(unavailable('unexpected_status'));
    expect(asked).toBe(1);
  });

  it('a connection that breaks once is tried again, and one that always breaks is unavailable', async () => {
    const token = world.unsigned();
    answer = (request, response) => {
      if (asked === 1) request.socket.destroy();
      else response.end(JSON.stringify({ active: false }));
    };
    expect(await guard().verify(token)).toEqual({ status: 'invalid', reason: 'not_active' });
    expect(asked).toBe(2);
    answer = (request) => request.socket.destroy();
    expect(await guard().verify(token)).toEqual(unavailable('connection'));
    expect(asked).toBe(4);
  });

  it('the question is a form with the token and its kind (RFC 7662 §2.1)', async () => {
    let question = '';
    let type: string | undefined;
    answer = (request, response) => {
      type = request.headers['content-type'];
      request.on('data', (piece: Buffer) => (question += piece.toString()));
      request.on('end', () => response.end('{"active":false}'));
    };
    await verify();
    expect(type).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(question))).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type_hint: 'access_token',
    });
  });
});
