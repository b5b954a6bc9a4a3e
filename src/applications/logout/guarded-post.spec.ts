import dns from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guardedPost, isLinkLocal } from './guarded-post';

describe('a POST to an application', () => {
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
  const post = (url: string, { https = false, signal = new AbortController().signal } = {}) =>
    guardedPost({ url, form: { logout_token: 'x' }, userAgent: 'jest', signal, https });

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
    expect(await post(at('/a'))).toEqual({ status: 204 });
  });

  it('follows no redirect (T505)', async () => {
    handle = (_request, response) => response.writeHead(302, { location: at('/elsewhere') }).end();
    expect(await post(at('/a'))).toEqual({ status: 302 });
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
    expect(await post(at('/a'))).toEqual({ status: 200 });
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
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    'fe80::1',
    'febf::1',
    'fd00:ec2::254',
  ])('knows %s as link-local (T504)', (address) => expect(isLinkLocal(address)).toBe(true));

  it.each(['10.0.0.1', '192.168.1.1', '172.16.0.1', '127.0.0.1', '::1', 'fd12::1', '::ffff:10.0.0.1', '203.0.113.7'])(
    'allows %s: applications of a company have private addresses',
    (address) => expect(isLinkLocal(address)).toBe(false),
  );

  it.each([
    'https://169.254.169.254/latest/meta-data',
    'https://2852039166/latest/meta-data',
    'https://0xa9.254.43518/',
    'https://[fe80::1]/',
    'https://[::ffff:169.254.169.254]/',
  ])('refuses %s without a connection (T504)', async (url) => {
    expect(await post(url)).toEqual({ failure: 'link-local' });
  });

  it.each([[['169.254.169.254']], [['203.0.113.7', '169.254.169.254']], [['fe80::1']]])(
    'refuses a name that resolves to %s (T504)',
    async (addresses) => {
      resolvesTo(...addresses);
      expect(await post('https://rebound.example.com/')).toEqual({ failure: 'link-local' });
    },
  );

  it('connects to the address that was checked: a second look-up is not made (T504)', async () => {
    const lookups = resolvesTo('127.0.0.1');
    expect(await post(at('/a', 'localhost'))).toEqual({ status: 200 });
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
});
