import dns from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GuardedRequest, guardedRequest } from './guarded-request';

describe('a request to an address that somebody else has chosen', () => {
  let server: Server;
  let handle: RequestListener;
  let seen: string[];
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request.url ?? '');
      handle(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    seen = [];
    handle = (_request, response) => response.end();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const at = (path: string, host = '127.0.0.1') => `http://${host}:${(server.address() as AddressInfo).port}${path}`;
  type Options = Partial<GuardedRequest>;
  const ask = (url: string, options: Options = {}) =>
    guardedRequest({ url, method: 'GET', https: false, signal: new AbortController().signal, ...options });
  /** The status alone. */
  const post = (url: string, options: Options = {}) => ask(url, { method: 'POST', body: 'a=b', ...options });
  const read = (url: string, options: Options = {}) => ask(url, { largestBody: 1000, ...options });

  /** The name resolves to these addresses. */
  function resolvesTo(...addresses: readonly string[]): jest.SpyInstance {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    return jest
      .spyOn(dns, 'lookup')
      .mockImplementation(((_host: string, _options: object, done: (...given: unknown[]) => void) =>
        done(null, found)) as never);
  }

  it('ends with the status of the answer', async () => {
    handle = (_request, response) => response.writeHead(204).end();
    expect(await post(at('/a'))).toMatchObject({ status: 204 });
  });

  it('follows no redirect (T505, T522)', async () => {
    handle = (_request, response) => response.writeHead(302, { location: at('/elsewhere') }).end();
    expect(await post(at('/a'))).toMatchObject({ status: 302 });
    expect(seen).toEqual(['/a']);
  });

  it('reads the status of an answer that never ends, and closes the connection (T506)', async () => {
    const closed = new Promise<void>((resolve) => {
      handle = (_request, response) => {
        const chunk = Buffer.alloc(1_000_000);
        const more = () => response.write(chunk);
        response.on('drain', more).on('close', resolve).writeHead(200);
        more();
      };
    });
    expect(await post(at('/a'))).toMatchObject({ status: 200 });
    await closed;
  });

  it('ends with the signal when the receiver never answers (T506)', async () => {
    const signal = new AbortController();
    handle = () => signal.abort();
    expect(await post(at('/a'), { signal: signal.signal })).toEqual({ failure: 'timeout' });
  });

  it('ends with the signal when the name never resolves (T506)', async () => {
    const signal = new AbortController();
    jest.spyOn(dns, 'lookup').mockImplementation(() => signal.abort());
    expect(await post('https://slow.example.com/', { signal: signal.signal })).toEqual({ failure: 'timeout' });
  });

  it('tells a connection that is refused by its code', async () => {
    expect(await post('http://127.0.0.1:9/')).toEqual({ failure: 'ECONNREFUSED' });
  });

  it.each([
    'https://169.254.169.254/latest/meta-data',
    'https://2852039166/latest/meta-data',
    'https://0xa9.254.43518/',
    'https://[fe80::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://0/',
    'https://[::]/',
  ])('refuses %s without a connection (T504, T520)', async (url) => {
    expect(await post(url)).toEqual({ failure: 'link-local' });
  });

  it.each([[['169.254.169.254']], [['203.0.113.7', '169.254.169.254']], [['fe80::1']]])(
    'refuses a name that resolves to %s (T504, T520)',
    async (addresses) => {
      resolvesTo(...addresses);
      expect(await post('https://rebound.example.com/')).toEqual({ failure: 'link-local' });
    },
  );

  it('connects to the address that was checked: a second look-up is not made (T504, T520)', async () => {
    const lookups = resolvesTo('127.0.0.1');
    expect(await post(at('/a', 'localhost'))).toMatchObject({ status: 200 });
    expect(lookups).toHaveBeenCalledTimes(1);
  });

  it.each([
    'http://wiki.example.com/',
    'http://10.0.0.1/',
    'ftp://127.0.0.1/',
    'no URL',
    'http://127.0.0.1.example.com/',
  ])('refuses %s: http is for loopback alone', async (url) =>
    expect(await post(url)).toEqual({ failure: 'not permitted' }),
  );

  it('refuses http in production, also to loopback', async () => {
    expect(await post(at('/a'), { https: true })).toEqual({ failure: 'not permitted' });
    expect(seen).toEqual([]);
  });

  it('gives the status, the type and the text of an answer', async () => {
    handle = (_request, response) => response.writeHead(404, { 'content-type': 'application/json' }).end('{"a":"ü"}');
    expect(await read(at('/a'))).toEqual({ status: 404, contentType: 'application/json', text: '{"a":"ü"}' });
  });

  it('ends at the limit of a body that is longer, or that never ends, and closes the connection (T523)', async () => {
    const closed = new Promise<void>((resolve) => {
      handle = (_request, response) => {
        const more = () => response.write('x'.repeat(600));
        response.on('drain', more).on('close', resolve).writeHead(200);
        more();
        more();
      };
    });
    expect(await read(at('/a'))).toEqual({ failure: 'too large' });
    await closed;
  });

  it('refuses a compressed body, which could become a huge one (T523)', async () => {
    handle = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    expect(await read(at('/a'))).toEqual({ failure: 'compressed' });
  });

  it('refuses headers without end (T523)', async () => {
    handle = (_request, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end('{}');
    expect(await read(at('/a'))).toEqual({ failure: 'HPE_HEADER_OVERFLOW' });
  });

  it('tells a body that is cut off, and an answer that asks for another protocol', async () => {
    handle = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":');
      response.destroy();
    };
    expect(await read(at('/a'))).toEqual({ failure: 'ECONNRESET' });
    handle = (request) =>
      void request.socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    expect(await read(at('/a'))).toEqual({ failure: expect.stringMatching(/cut off|ECONNRESET/) });
  });

  it('ends with the signal within the body (T523)', async () => {
    const signal = new AbortController();
    handle = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":', () => signal.abort());
    };
    expect(await read(at('/a'), { signal: signal.signal })).toEqual({ failure: 'timeout' });
  });

  it('waits for a connection no longer than its limit (T523)', async () => {
    jest.spyOn(dns, 'lookup').mockImplementation(() => undefined);
    expect(await read('https://silent.example.com/', { connectMs: 20 })).toEqual({ failure: 'timeout' });
  });

  it('has no limit for the connection once there is one', async () => {
    const connectMs = 20_000;
    const set = jest.spyOn(globalThis, 'setTimeout');
    const cleared = jest.spyOn(globalThis, 'clearTimeout');
    const timer = () => set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === connectMs)]?.value as unknown;
    handle = (_request, response) => {
      const answer = () => (cleared.mock.calls.some(([one]) => one === timer()) ? response.end('{}') : wait());
      const wait = () => void setImmediate(answer);
      wait();
    };
    expect(await read(at('/a'), { connectMs })).toMatchObject({ text: '{}' });
  });

  it.each([[['10.0.0.1']], [['203.0.113.7', '10.0.0.1']]])(
    'refuses what its caller refuses, also behind a name: %s (T521)',
    async (addresses) => {
      resolvesTo(...addresses);
      const refuses = (address: string) => address === '10.0.0.1';
      expect(await read('https://idp.example.com/', { refuses })).toEqual({ failure: 'inner address' });
      expect(await read('https://10.0.0.1/', { refuses })).toEqual({ failure: 'inner address' });
      expect(await read('https://167772161/', { refuses })).toEqual({ failure: 'inner address' });
    },
  );
});
