import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { collectGarbage } from '../../../test/support/heap';
import { eventually } from '../../../test/support/servers/eventually';
import { boundedDelivery, boundedRequest } from './bounded-request';

const largestBody = 65_536;
/** Only a request that hangs meets it. */
const patientMs = 60_000;
const page = 'x'.repeat(40_000);
const answer = (status: string, body = '', ...headers: string[]) =>
  [`HTTP/1.1 ${status}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');

describe('a request to another service', () => {
  let server: Server;
  let url: string;
  let reply: string;
  let endsConnection = false;
  let [connections, open] = [0, 0];

  beforeAll(async () => {
    server = createServer((socket) => {
      connections += 1;
      open += 1;
      socket.on('close', () => (open -= 1)).on('error', () => undefined);
      socket.on('data', () => (endsConnection ? socket.end(reply) : socket.write(reply)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  beforeEach(() => {
    endsConnection = false;
  });

  const ask = (timeoutMs = patientMs) =>
    boundedRequest(url, { timeoutMs, largestBody }, { method: 'POST', body: '{}' });
  const deliver = () => boundedDelivery(url, AbortSignal.timeout(patientMs), { body: '{}' });

  it.each(['br', 'gzip', 'deflate'])('ends in time when its answer cannot be decompressed by %s', async (coding) => {
    // The end of the connection is the end of the body. `fetch` forgets the reader of such a body.
    reply = ['HTTP/1.1 200 OK', `Content-Encoding: ${coding}`, '', '67\r\n{"success":true}\r\n0\r\n\r\n'].join('\r\n');
    endsConnection = true;
    expect(await ask(300)).toEqual({ failure: expect.any(String) });
    expect(await deliver()).toBeUndefined();
  });

  it('closes its connection after an answer with a long body that it does not read', async () => {
    for (const status of ['301 Moved Permanently', '302 Found', '304 Not Modified', '404 Not Found', '503 Busy']) {
      reply = answer(status, page, 'Location: /elsewhere');
      expect(await ask()).toEqual({ failure: expect.stringMatching(/^(redirect|status \d+)$/) });
      expect(await deliver()).toMatch(/^(redirect|status \d+)$/);
    }
    // An idle connection lasts for some seconds.
    await eventually(() => open === 0, { what: 'no connection is open' });
  });

  it('closes its connection when the time is over within a body, also after garbage was collected', async () => {
    reply = ['HTTP/1.1 200 OK', 'Content-Length: 100', '', 'the beginning'].join('\r\n');
    const asked = Array.from({ length: 10 }, () => ask(1000));
    const collecting = setInterval(collectGarbage, 100);
    expect(await Promise.all(asked)).toEqual(Array(10).fill({ failure: 'timeout' }));
    clearInterval(collecting);
    await eventually(() => open === 0, { what: 'no connection is open' });
  });

  it('takes a message as delivered by its status, also when the time is over within the body', async () => {
    reply = ['HTTP/1.1 200 OK', 'Content-Length: 100', '', 'the beginning'].join('\r\n');
    expect(await boundedDelivery(url, AbortSignal.timeout(300), { body: '{}' })).toBeUndefined();
  });

  it('leaves its connection open for the next request after an answer that it has read', async () => {
    reply = answer('200 OK', '{"success":true}');
    const before = connections;
    for (let n = 0; n < 3; n++) {
      expect(await ask()).toEqual({ text: '{"success":true}' });
      expect(await deliver()).toBeUndefined();
    }
    // The first request may not have given its connection back yet when the next one begins.
    expect(connections - before).toBeLessThan(6);
  });

  it('never begins when its signal is aborted', async () => {
    const before = connections;
    expect(await boundedDelivery(url, AbortSignal.abort(), { body: '{}' })).toBe('timeout');
    expect(connections).toBe(before);
  });
});
