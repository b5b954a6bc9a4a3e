import dns from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { FakeClock } from '../../../test/support/fakes';
import { ProviderAway } from '../provider-connection';
import { ProviderRequestCounts } from '../provider-request-counts';
import { ProviderFetch } from './provider-fetch';
import { ProviderLimits } from './provider-limits';

const html = '<b>secret-of-the-provider</b>';

describe('a request to an identity provider', () => {
  let server: Server;
  let issuer: string;
  let handle: RequestListener;
  let seen: string[];
  let clock: FakeClock;
  let counts: ProviderRequestCounts;
  let provider: ProviderFetch;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      handle(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen = [];
    handle = answer(200, '{"a":1}');
    clock = new FakeClock();
    provider = given();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    Logger.overrideLogger(true);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const answer =
    (status: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    (...[, response]: Parameters<RequestListener>) =>
      response.writeHead(status, headers).end(body);

  function given(allowedHosts: readonly string[] = [], { production = false } = {}): ProviderFetch {
    counts = new ProviderRequestCounts();
    const service = { production, systemUrl: '', dataDir: '' };
    // A busy machine takes its time. Tests of the time end the signal instead.
    const limits = Object.assign(new ProviderLimits(), { connectMs: 60_000, answerMs: 60_000 });
    return new ProviderFetch(service, { allowedHosts }, clock, limits, counts);
  }
  const get = (path = '/keys', fresh = false) => provider.send(`${issuer}${path}`, {}, { issuer, fresh });
  const post = (path = '/token', signal?: AbortSignal) =>
    provider.send(`${issuer}${path}`, { method: 'POST', body: new URLSearchParams({ code: 'x' }) }, { issuer, signal });
  const reasonOf = (asked: Promise<unknown>) =>
    asked.then(
      () => 'answered',
      (error: unknown) => (error instanceof ProviderAway ? error.reason : error),
    );
  function resolvesTo(address: string): void {
    jest
      .spyOn(dns, 'lookup')
      .mockImplementation(((_host: string, _options: object, done: (...given: unknown[]) => void) =>
        done(null, [{ address, family: 4 }])) as never);
  }

  it('gives the answer as fetch does, also an error that the protocol knows', async () => {
    handle = answer(400, '{"error":"invalid_grant"}', { 'content-type': 'application/json; charset=utf-8' });
    const response = await post();
    expect([response.status, await response.json()]).toEqual([400, { error: 'invalid_grant' }]);
    expect(counts.all.get(issuer)).toMatchObject({ answered: 1, failed: 0 });
  });

  it('sends the form and the headers of the library', async () => {
    const bodies: unknown[] = [];
    handle = (request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString(), request.headers['content-type']));
      request.on('end', () => answer(200, '{}')(request, response));
    };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await provider.send(`${issuer}/t`, { method: 'POST', headers, body: new URLSearchParams({ a: 'ü' }) }, { issuer });
    expect(bodies).toEqual(['a=%C3%BC', 'application/x-www-form-urlencoded']);
  });

  it.each([
    [301, 'redirect', 'a redirect'],
    [307, 'redirect', 'a redirect'],
    [304, 'redirect', 'an answer that was not asked for'],
    [429, 'status 429', 'too many requests'],
    [500, 'status 500', 'a failure'],
    [503, 'status 503', 'an outage'],
    [599, 'status 599', 'a status that nobody knows'],
    [799, 'status 799', 'a status that does not exist'],
  ])('status %i is no answer (%s): %s (T522, T523)', async (status, reason) => {
    handle = answer(status, '{}', { location: `${issuer}/elsewhere`, 'content-type': 'application/json' });
    expect(await reasonOf(get())).toBe(reason);
    expect(await reasonOf(post())).toBe(reason);
    expect(seen).toEqual(['GET /keys', 'POST /token']);
  });

  it.each(['text/html', '', 'application/jsonp', 'text/json', 'application/jwt', 'application/json\\x00'])(
    'a page of the type %j is no answer (T523)',
    async (type) => {
      handle = answer(200, html, type === '' ? {} : { 'content-type': type });
      expect(await reasonOf(get())).toBe('no JSON');
    },
  );

  it('gives nothing of an error page on (T523)', async () => {
    handle = answer(404, html, { 'content-type': 'text/html' });
    const response = await get();
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      404,
      'text/plain',
      '',
    ]);
  });

  it('takes no more than a megabyte (T523)', async () => {
    handle = answer(200, `"${'x'.repeat(1_048_600)}"`);
    expect(await reasonOf(get())).toBe('too large');
  });

  it('ends with the signal of the sign-in (T523)', async () => {
    const signal = new AbortController();
    handle = () => signal.abort();
    expect(await reasonOf(post('/token', signal.signal))).toBe('timeout');
  });

  it.each([
    ['http://idp.example.com/', 'not permitted'],
    ['ftp://127.0.0.1/', 'not permitted'],
    ['no URL', 'not permitted'],
    ['https://169.254.169.254/', 'link-local'],
    ['https://2852039166/', 'link-local'],
    ['https://[::ffff:a9fe:a9fe]/', 'link-local'],
    ['https://0.0.0.0/', 'link-local'],
    ['https://10.0.0.1/', 'inner address'],
    ['https://0xa000001/', 'inner address'],
    ['https://[fd12::1]/', 'inner address'],
    ['http://127.0.0.2/', 'inner address'],
    ['http://[::1]/', 'inner address'],
    ['http://[::ffff:127.0.0.1]/', 'inner address'],
  ])('never asks %s, whatever a document of the provider says: %s (T520, T521)', async (url, reason) => {
    expect(await reasonOf(provider.send(url, {}, { issuer }))).toBe(reason);
    expect(counts.all.get(issuer)).toMatchObject({ refused: 1, failed: 0 });
  });

  it('refuses a name of another host that resolves to a private address (T521)', async () => {
    resolvesTo('127.0.0.1');
    const url = issuer.replace('127.0.0.1', 'localhost');
    expect(await reasonOf(provider.send(`${url}/keys`, {}, { issuer }))).toBe('inner address');
    expect(seen).toEqual([]);
  });

  it('asks a private address behind the host of the issuer, or behind a host that the operator allows (T521)', async () => {
    resolvesTo('127.0.0.1');
    const local = issuer.replace('127.0.0.1', 'localhost');
    expect(await reasonOf(provider.send(`${local}/keys`, {}, { issuer: `${local}/tenant` }))).toBe('answered');
    provider = given(['localhost']);
    expect(await reasonOf(provider.send(`${local}/keys`, {}, { issuer: 'https://idp.example.com' }))).toBe('answered');
    expect(await reasonOf(provider.send(`${issuer}/keys`, {}, { issuer: 'https://idp.example.com' }))).toBe(
      'inner address',
    );
  });

  it('asks a link-local address for nobody, also behind the host of the issuer or an allowed one (T520)', async () => {
    resolvesTo('169.254.169.254');
    provider = given(['idp.example.com']);
    const own = { issuer: 'https://idp.example.com' };
    expect(await reasonOf(provider.send('https://idp.example.com/keys', {}, own))).toBe('link-local');
  });

  it('sends nothing by http in production, also to this machine', async () => {
    provider = given([], { production: true });
    expect(await reasonOf(get())).toBe('not permitted');
    expect(seen).toEqual([]);
  });

  it('refuses more than its share of parallel requests at once, and those of another provider go on (T524)', async () => {
    const waiting: (() => void)[] = [];
    handle = (request, response) => void waiting.push(() => answer(200, '{}')(request, response));
    const parallel = new ProviderLimits().parallel;
    const asked = Array.from({ length: parallel }, () => post());
    expect(await reasonOf(post())).toBe('busy');
    const other = provider.send(`${issuer}/other`, { method: 'POST' }, { issuer: `${issuer}/other` });
    while (waiting.length < parallel + 1) await new Promise((resolve) => setImmediate(resolve));
    waiting.forEach((go) => go());
    expect((await Promise.all([...asked, other])).map(({ status }) => status)).toEqual(Array(parallel + 1).fill(200));
    handle = answer(200, '{}');
    expect(await reasonOf(post())).toBe('answered');
    expect(counts.all.get(issuer)).toEqual({ answered: parallel + 1, failed: 0, refused: 0, skipped: 1 });
  });

  it('is not asked for ten seconds after three failures, and then by one request (T524)', async () => {
    handle = answer(503, '');
    for (let n = 0; n < 3; n++) expect(await reasonOf(get())).toBe('status 503');
    expect(await reasonOf(post())).toBe('avoided');
    clock.advanceSeconds(9);
    expect(await reasonOf(get())).toBe('avoided');
    expect(seen).toHaveLength(3);
    clock.advanceSeconds(1);
    expect(await Promise.all([reasonOf(get()), reasonOf(post())])).toEqual(['status 503', 'avoided']);
    clock.advanceSeconds(10);
    handle = answer(200, '{}');
    expect(await reasonOf(post())).toBe('answered');
    expect(await Promise.all([reasonOf(post()), reasonOf(post())])).toEqual(['answered', 'answered']);
  });

  const userinfo = () => provider.send(`${issuer}/userinfo`, { headers: { authorization: 'Bearer x' } }, { issuer });

  it.each<[string, RequestListener]>([
    ...[400, 401, 404, 429, 500, 501, 502, 503, 799].map((n): [string, RequestListener] => [`${n}`, answer(n, '{}')]),
    ['a page', answer(200, html, { 'content-type': 'text/html' })],
    ['a redirect', answer(302, '', { location: 'https://idp.example.com/blocked' })],
    ['a compressed page', answer(200, '{}', { 'content-encoding': 'gzip' })],
    ['an endless answer', answer(200, `"${'x'.repeat(1_048_600)}"`)],
    ['a reset', ({ socket }) => socket.resetAndDestroy()],
    ['a closed connection', ({ socket }) => socket.destroy()],
    ['an answer that is cut off', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{')],
    ['no HTTP', ({ socket }) => socket.end('blocked\r\n\r\n')],
  ])('what a visitor gets for a code makes no outage for others: %s (T524)', async (_what, listener) => {
    handle = listener;
    for (let n = 0; n < 5; n++) {
      const [token, claims] = [await reasonOf(post()), await reasonOf(userinfo())];
      expect([token, claims]).not.toContain('avoided');
    }
    expect(seen).toHaveLength(10);
  });

  it('what cannot be connected, or is silent, is avoided also for tokens (T524)', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const gone = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise((resolve) => closed.close(resolve));
    const ask = () => reasonOf(provider.send(`${gone}/token`, { method: 'POST', body: 'code=x' }, { issuer: gone }));
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([...Array(3).fill('ECONNREFUSED'), 'avoided']);
    const ended = AbortSignal.abort();
    for (let n = 0; n < 3; n++) expect(await reasonOf(post('/token', ended))).toBe('timeout');
    expect(await reasonOf(post())).toBe('avoided');
  });

  it('a flood of requests for the same keys is one request each ten seconds (T525)', async () => {
    await Promise.all(Array.from({ length: 30 }, () => get()));
    for (let n = 0; n < 30; n++) await get();
    expect(seen).toEqual(['GET /keys']);
    clock.advanceSeconds(10);
    handle = answer(200, '{"a":2}');
    expect(await (await get()).json()).toEqual({ a: 2 });
    expect(seen).toHaveLength(2);
  });

  it('asks again at once for an administrator', async () => {
    await get('/discovery');
    handle = answer(200, '{"a":2}');
    expect(await (await get('/discovery', true)).json()).toEqual({ a: 2 });
    expect(await (await get('/discovery')).json()).toEqual({ a: 2 });
  });

  it('a request that fails does not end the later one of an administrator: who asks then waits for that one (T525)', async () => {
    const waiting: ((status: number) => void)[] = [];
    handle = (request, response) => void waiting.push((status) => answer(status, '{}')(request, response));
    const arrived = async (many: number) => {
      while (waiting.length < many) await new Promise((resolve) => setImmediate(resolve));
    };
    const first = reasonOf(get());
    await arrived(1);
    const later = reasonOf(get('/keys', true));
    await arrived(2);
    waiting[0]?.(500);
    expect(await first).toBe('status 500');
    handle = answer(200, '{}');
    const third = reasonOf(get());
    waiting[1]?.(200);
    expect(await Promise.all([later, third])).toEqual(['answered', 'answered']);
    expect(seen).toHaveLength(2);
  });

  it('keeps no answer to a request with a token, and no failure', async () => {
    const withToken = { headers: { authorization: 'Bearer x' } };
    for (let n = 0; n < 2; n++) await provider.send(`${issuer}/userinfo`, withToken, { issuer });
    handle = answer(500, '{}');
    for (let n = 0; n < 2; n++) await reasonOf(get());
    expect(seen).toEqual(['GET /userinfo', 'GET /userinfo', 'GET /keys', 'GET /keys']);
  });

  it('keeps fifty answers at most (T525)', async () => {
    for (let n = 0; n < 51; n++) await get(`/${n}`);
    await get('/50');
    expect(seen).toHaveLength(51);
    await get('/0');
    expect(seen).toHaveLength(52);
  });
});
