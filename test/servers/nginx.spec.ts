import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import { Nginx } from '../support/servers/nginx';

describe('Nginx', () => {
  const upstreams: Server[] = [];
  const ports: number[] = [];
  const connections = new Set<unknown>();
  let nginx: Nginx;

  beforeAll(async () => {
    for (const name of ['first', 'second', 'third']) {
      const upstream = createServer((request, response) => response.end(JSON.stringify(seen(name, request))));
      // Longer than the pause between two requests on a busy machine.
      upstream.keepAliveTimeout = 60_000;
      upstream.on('connection', (socket) => connections.add(socket));
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      upstreams.push(upstream);
      ports.push((upstream.address() as AddressInfo).port);
    }
    nginx = await Nginx.start(ports.slice(0, 2));
  });

  afterAll(async () => {
    await nginx.stop();
    upstreams.forEach((upstream) => upstream.close());
  });

  function seen(name: string, request: IncomingMessage) {
    return { name, forwardedFor: request.headers['x-forwarded-for'], host: request.headers.host };
  }

  /** Each request uses a new connection, so that every kept connection is one between nginx and an upstream. */
  async function ask(headers: Record<string, string> = {}): Promise<ReturnType<typeof seen>> {
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      get(nginx.url, { agent: false, headers }, resolve).once('error', reject),
    );
    return (await json(response)) as ReturnType<typeof seen>;
  }

  it('distributes requests to all upstreams over keep-alive connections', async () => {
    const answers = [];
    for (let request = 0; request < 20; request++) answers.push((await ask()).name);
    expect(answers.filter((name) => name === 'first')).toHaveLength(10);
    expect(answers.filter((name) => name === 'second')).toHaveLength(10);
    expect(connections.size).toBe(2);
  });

  it('appends the client to X-Forwarded-For and keeps the host', async () => {
    expect(await ask({ 'x-forwarded-for': '203.0.113.9' })).toMatchObject({
      forwardedFor: '203.0.113.9, 127.0.0.1',
      host: new URL(nginx.url).host,
    });
  });

  it('sends new requests to other upstreams after setUpstreams', async () => {
    await nginx.setUpstreams(ports.slice(2));
    expect((await ask()).name).toBe('third');
    expect((await ask()).name).toBe('third');
  });

  it('has ended after stop', async () => {
    const { pid } = nginx;
    await nginx.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
