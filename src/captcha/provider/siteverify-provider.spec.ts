import type { Socket } from 'node:net';
import { hang, hangInBody, json, reset, SiteverifyStub, text } from '../../../test/support/captcha/siteverify-stub';
import { SiteverifyProvider } from './siteverify-provider';

const timeoutMs = 300;
const generousMs = 60_000;

describe('SiteverifyProvider', () => {
  let stub: SiteverifyStub;

  beforeEach(async () => {
    stub = new SiteverifyStub();
    await stub.listen();
  });
  afterEach(() => stub.close());

  const providerAt = (verifyUrl: string) => new SiteverifyProvider('turnstile', { secret: 's&e=cret', verifyUrl }, {});
  const judge = (verifyUrl = stub.url, ms = generousMs) =>
    providerAt(verifyUrl).judge('a+token/=&x', '203.0.113.7', ms);

  it('T034 sends one form with the secret, the token and the client address', async () => {
    expect(await judge()).toEqual({ verdict: 'accepted' });
    expect(stub.asked).toEqual([{ secret: 's&e=cret', response: 'a+token/=&x', remoteip: '203.0.113.7' }]);
    expect(stub.requests[0]).toEqual({
      method: 'POST',
      contentType: expect.stringContaining('application/x-www-form-urlencoded'),
    });
  });

  it.each([500, 502, 429, 403, 400, 201, 204])('T039 a success with status %d is no verdict', async (status) => {
    stub.behaviour = json({ success: true }, status);
    expect(await judge()).toEqual({ verdict: 'unavailable', reason: `status ${status}` });
    expect(stub.asked).toHaveLength(1);
  });

  it('T039 a reset connection, a closed port, an unknown host name and a TLS error are no verdict', async () => {
    stub.behaviour = reset;
    expect(await judge()).toMatchObject({ verdict: 'unavailable' });
    expect(stub.asked).toHaveLength(1);
    const closed = new SiteverifyStub();
    await closed.listen();
    const { url } = closed;
    await closed.close();
    expect(await judge(url)).toEqual({ verdict: 'unavailable', reason: 'ECONNREFUSED' });
    // A DNS label has at most 63 characters, so this name fails without a query to a name server.
    expect(await judge(`http://${'a'.repeat(64)}.invalid/`)).toMatchObject({ verdict: 'unavailable' });
    expect(await judge(stub.url.replace('http:', 'https:'))).toMatchObject({ verdict: 'unavailable' });
  });

  it.each([
    ['before the headers', hang],
    ['in the body', hangInBody],
  ])('T040 a provider that hangs %s runs into the time-out', async (_case, behaviour) => {
    stub.behaviour = behaviour;
    const started = performance.now();
    expect(await judge(stub.url, timeoutMs)).toEqual({ verdict: 'unavailable', reason: 'timeout' });
    // Without the time-out, the provider would wait for ever.
    expect(performance.now() - started).toBeLessThan(timeoutMs + 30_000);
  });

  it('T041 a response of 50 MB is not read to its end: the connection is closed early', async () => {
    let socket: Socket | undefined;
    let closed!: () => void;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    stub.behaviour = (response) => {
      socket = response.socket!;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"success":true,"filler":"');
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      let left = 50;
      const more = () => {
        while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more);
        response.end('"}');
      };
      response.on('close', closed);
      more();
    };
    expect(await judge()).toEqual({ verdict: 'unavailable', reason: 'too large' });
    await gone;
    expect(socket!.bytesWritten).toBeLessThan(20 * 1024 * 1024);
  });

  it('T041 the size limit applies to the decompressed response', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.from(JSON.stringify({ success: true, filler: 'x'.repeat(1024 * 1024) })));
    stub.behaviour = (response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
    expect(await judge()).toEqual({ verdict: 'unavailable', reason: 'too large' });
  });

  it.each([301, 302, 307, 308])('T042 a redirect (%d) is not followed', async (status) => {
    const other = new SiteverifyStub();
    await other.listen();
    try {
      stub.behaviour = text('', status, { location: other.url });
      expect(await judge()).toEqual({ verdict: 'unavailable', reason: 'redirect' });
      expect(other.asked).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('the reason never contains the URL, the secret or the token', async () => {
    const judgement = await judge(`http://user:hidden@127.0.0.1:${stub.port}/`);
    expect(judgement).toEqual({ verdict: 'unavailable', reason: 'unreachable' });
  });
});
