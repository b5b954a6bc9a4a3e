import { once } from 'node:events';
import { readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { jsonRequest, RawConnection, rawRequest, request } from '../support/raw-http';
import { routes, taking } from '../support/routes';
import { runProgram } from '../support/run-program';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, testSettings } from '../support/settings';

const login = (username: string, typed = password) => ({ username, password: typed, captcha_token: captchaToken });

/** The built program on its own SQLite file gets bytes that no HTTP library would send. */
describe('HTTP over raw sockets (docs/spec/attacks.md#3.9)', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await ServiceProcess.start({ env: { ...testSettings, LOG_LEVEL: 'trace' } });
  });
  afterAll(() => service.stop());
  afterEach(async () => {
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  });

  const givenUser = async (name: string) => {
    // The working folder of the program contains `data/`. The command line has to find the same file.
    const cwd = await readlink(`/proc/${service.pid}/cwd`);
    const create = ['user', 'create', '--login-name', name, '--password', password];
    const { code, stderr } = await runProgram('dist/src/cli.js', create, { env: testSettings, cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  };
  const ask = (bytes: string | Buffer) => rawRequest(service.port, bytes);
  const residentMiB = async () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;

  describe('T224 an ambiguous request is answered with 400, and the connection is closed', () => {
    const body = '{"a":1}';
    it.each([
      [
        'Content-Length and Transfer-Encoding',
        ['Content-Length: 7', 'Transfer-Encoding: chunked'],
        `7\r\n${body}\r\n0\r\n\r\n`,
      ],
      ['two Content-Lengths', ['Content-Length: 7', 'Content-Length: 8'], body],
      ['a list of Content-Lengths', ['Content-Length: 7, 7'], body],
      ['a signed Content-Length', ['Content-Length: +7'], body],
      ['a hexadecimal Content-Length', ['Content-Length: 0x7'], body],
      ['a negative Content-Length', ['Content-Length: -7'], body],
      ['an unknown Transfer-Encoding', ['Transfer-Encoding: xchunked'], body],
      ['chunked that is not the last coding', ['Transfer-Encoding: chunked, identity'], body],
      ['a chunk size with a sign', ['Transfer-Encoding: chunked'], `+7\r\n${body}\r\n0\r\n\r\n`],
      ['a folded header', ['X-Folded: a', ' b', 'Content-Length: 7'], body],
      ['a space before the colon', ['Content-Length : 7'], body],
      ['a control character in a header', ['X-Control: a\u0000b', 'Content-Length: 7'], body],
      ['a header without a name', [': a', 'Content-Length: 7'], body],
    ])('%s', async (_what, lines, payload) => {
      const connection = await RawConnection.open(service.port);
      // A smuggled second request must not be answered.
      connection.send(
        request('POST', '/login', ['Content-Type: application/json', ...lines], payload) +
          request('GET', '/health/live'),
      );
      const [answer, second] = await connection.answers(2);
      await connection.closed;
      expect(second).toBeUndefined();
      expect(answer).toMatchObject({
        status: 400,
        headers: {
          connection: 'close',
          'content-type': expect.stringMatching(/^application\/json/),
          'cache-control': 'no-store',
        },
      });
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error_code: 'COMMON_400001', msg: expect.any(String) });
    });

    it('bare line feeds are refused', async () => {
      const answer = await ask('POST /login HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n');
      expect(answer?.status).toBe(400);
    });
  });

  describe('methods and targets', () => {
    it.each(['TRACE', 'PROPFIND', 'PURGE', 'LINK'])('T218 %s is refused and echoes nothing', async (method) => {
      for (const { path } of [...routes, { path: '/nowhere' }]) {
        const answer = await ask(request(method, path, ['X-Echo: canary-echo', 'Connection: close']));
        expect([404, 405, 501]).toContain(answer?.status);
        if (path !== '/nowhere') expect(answer?.status).toBe(405);
        expect(answer?.body).not.toContain('canary-echo');
        expect(JSON.parse(answer?.body ?? '')).toMatchObject({
          error_code: expect.stringMatching(/^COMMON_40[45]001$/),
        });
      }
    });

    it.each(['FOO', 'get', 'G\u0000T', 'CONNECT'])('T218 the method %j is answered with 405', async (method) => {
      const connection = await RawConnection.open(service.port);
      connection.send(request(method, method === 'CONNECT' ? '127.0.0.1:22' : '/login'));
      const [answer] = await connection.answers(1);
      await connection.closed;
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST', 'cache-control': 'no-store' } });
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error_code: 'COMMON_405001' });
    });

    it('a client that resets a connection after CONNECT does not affect the service', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(request('CONNECT', '127.0.0.1:22'));
      await connection.answers(1);
      await connection.reset();
      expect((await ask(request('GET', '/health/live')))?.status).toBe(200);
    });

    it.each(['/./login', '/x/../login', '/%2e/login', '/x/%2e%2e/login', '//login', '/login/.', '/login?/../x'])(
      'W44 the path %s does not reach the handler of another path',
      async (path) => {
        const answer = await ask(jsonRequest(path, login('nobody')));
        const code = JSON.parse(answer?.body ?? '{}').error_code;
        // A query does not change the path.
        expect(code).toBe(path.startsWith('/login?') ? 'LOGIN_404001' : 'COMMON_404001');
      },
    );

    it.each([
      ['/%ff', 400],
      ['/%', 400],
      ['/a\u0001b', 400],
      ['login', 400],
      ['*', 404],
    ])('T210 the target %j is refused with an error in the envelope', async (target, status) => {
      const answer = await ask(request('GET', target));
      expect(answer?.status).toBe(status);
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error_code: `COMMON_${status}001` });
    });

    it('T232 a request without a Host is answered with 400, and a foreign Host has no effect', async () => {
      for (const hosts of ['', 'Host: localhost\r\nHost: evil.example\r\n']) {
        const refused = await ask(`GET /health/live HTTP/1.1\r\n${hosts}\r\n`);
        expect(refused).toMatchObject({ status: 400, headers: { connection: 'close' } });
        expect(JSON.parse(refused?.body ?? '')).toMatchObject({ error_code: 'COMMON_400001' });
      }
      const absolute = await ask(request('GET', 'http://evil.example/health/live'));
      expect([200, 404]).toContain(absolute?.status);
      for (const host of ['evil.example', '[::1', 'a b', '', 'localhost:99999']) {
        const answer = await ask(request('GET', '/health/live', [`Host: ${host}`]));
        expect([200, 400]).toContain(answer?.status);
        expect(answer?.body).not.toContain('evil.example');
      }
      const document = await ask(
        request('GET', '/openapi.json', ['Host: evil.example', 'X-Forwarded-Host: evil.example']),
      );
      expect(document?.body).not.toContain('evil.example');
    });

    it('T228 Expect: 100-continue is served, and Upgrade and other expectations are ignored', async () => {
      const expected = await ask(jsonRequest('/login', login('nobody'), ['Expect: 100-continue']));
      expect(expected?.status).toBe(404);
      const unmet = await ask(jsonRequest('/login', login('nobody'), ['Expect: cake']));
      expect(JSON.parse(unmet?.body ?? '')).toMatchObject({ error_code: 'LOGIN_404001' });
      for (const protocol of ['h2c', 'websocket']) {
        const lines = [
          'Connection: Upgrade, HTTP2-Settings',
          `Upgrade: ${protocol}`,
          'HTTP2-Settings: AAMAAABkAAQAAP__',
        ];
        const answer = await ask(
          request('GET', '/health/live', [...lines, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']),
        );
        expect([200, 400, 426]).toContain(answer?.status);
      }
    });

    it('HTTP/1.0 and HTTP/0.9 and HTTP/2 prefaces are answered and closed', async () => {
      for (const bytes of [
        'GET /health/live HTTP/1.0\r\n\r\n',
        'GET /health/live\r\n\r\n',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ]) {
        const connection = await RawConnection.open(service.port);
        connection.send(bytes);
        await connection.closed;
        expect(connection.received).toMatch(/^HTTP\/1\.1 (200|400|505)/);
      }
    });
  });

  describe('sizes', () => {
    it.each([
      ['headers of 32 KiB', Array.from({ length: 32 }, (_, n) => `X-${n}: ${'a'.repeat(1000)}`)],
      ['a header of 16 KiB and one byte', [`X-Long: ${'a'.repeat(16_385)}`]],
      ['a token of 20 KiB', [`Authorization: Bearer ${'a'.repeat(20_000)}`]],
      ['2000 headers', Array.from({ length: 2000 }, (_, n) => `X-${n}: a`)],
    ])('T223 %s are answered with 431', async (_what, lines) => {
      const answer = await ask(request('GET', '/user/me', lines));
      expect(answer).toMatchObject({ status: 431, headers: { connection: 'close' } });
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error_code: 'COMMON_413001' });
    });

    it('headers of 12 KiB are served', async () => {
      const answer = await ask(request('GET', '/user/me', [`X-Long: ${'a'.repeat(12_000)}`]));
      expect(answer?.status).toBe(401);
    });

    it.each(taking('POST').map((route) => [route.path] as const))(
      'T201 %s: a body that is announced with 100 MB is answered with 413 before it is sent',
      async (path) => {
        const connection = await RawConnection.open(service.port);
        connection.send(request('POST', path, ['Content-Type: application/json', 'Content-Length: 100000000']));
        const [answer] = await connection.answers(1);
        expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
        expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error_code: 'COMMON_413001' });
        await connection.closed;
      },
    );

    it('T201 an endless chunked body gets 413 and a closed connection, and does not fill the memory', async () => {
      const before = await residentMiB();
      const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'a'), Buffer.from('\r\n')]);
      const told = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const connection = await RawConnection.open(service.port);
          connection.send(request('POST', '/login', ['Content-Type: application/json', 'Transfer-Encoding: chunked']));
          let sent = 0;
          while (sent < 1600 && (await connection.push(chunk))) sent++;
          await connection.closed;
          // Less than 10 MB of the 100 MB are sent, because the buffers of the kernel hold no more.
          expect(sent).toBeLessThan(160);
          return connection.received;
        }),
      );
      // On some connections the reset arrives before the answer. At least one connection must receive the answer.
      expect(told.filter((received) => received !== '').join()).toMatch(/^HTTP\/1\.1 413 /);
      expect((await residentMiB()) - before).toBeLessThan(60);
    });

    it('T268 a user name of 10 MB does not make a long log line', async () => {
      const answer = await fetch(`${service.url}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(login('n'.repeat(10_000_000))),
      }).catch(() => undefined);
      expect([413, undefined]).toContain(answer?.status);
      for (const line of service.lines) expect(line.length).toBeLessThan(4000);
    });
  });

  describe('one connection, many requests', () => {
    it('T225 100 pipelined logins are answered in order, and only 3 of them are compared', async () => {
      await givenUser('pipelined');
      const connection = await RawConnection.open(service.port);
      const ids = Array.from({ length: 100 }, (_, n) => `pipelined-${String(n).padStart(3, '0')}`);
      connection.send(
        ids.map((id) => jsonRequest('/login', login('pipelined', 'wrong'), [`X-Request-Id: ${id}`])).join(''),
      );
      const answers = await connection.answers(100);
      expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(ids);
      const codes = answers.map(({ body }) => JSON.parse(body).error_code as string);
      expect(codes.filter((code) => code === 'LOGIN_401001')).toHaveLength(3);
      expect(codes.filter((code) => code === 'LOGIN_401004')).toHaveLength(97);
      await connection.end();
    });

    it('T226 one connection serves 2000 requests, and its keep-alive time is longer than that of an ingress', async () => {
      const connection = await RawConnection.open(service.port);
      for (let sent = 0; sent < 2000; sent += 100) {
        connection.send(request('GET', '/health/live').repeat(100));
        await connection.answers(sent + 100);
      }
      const answers = await connection.answers(2000);
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(Number(/timeout=(\d+)/.exec(answers.at(-1)?.headers['keep-alive'] ?? '')?.[1])).toBeGreaterThan(60);
      expect(connection.isOpen).toBe(true);
      await connection.end();
    });

    it('T231 a login succeeds while 1000 idle connections are open', async () => {
      await givenUser('crowded');
      const idle = await Promise.all(Array.from({ length: 1000 }, () => RawConnection.open(service.port)));
      const answer = await ask(jsonRequest('/login', login('crowded')));
      expect(answer?.status).toBe(200);
      await Promise.all(idle.map((connection) => connection.end()));
    });
  });

  it('T221 T222 slow headers are cut off after 10 s and slow bodies after 15 s, and other logins are not delayed', async () => {
    await givenUser('honest');
    const slow = async (start: string, drip: string) => {
      const connection = await RawConnection.open(service.port);
      connection.send(start);
      const timer = setInterval(() => connection.send(drip), 1000);
      const lasted = await connection.closed;
      clearInterval(timer);
      return { lasted, received: connection.received };
    };
    const openings = (count: number, one: () => ReturnType<typeof slow>) => Array.from({ length: count }, one);
    const headers = openings(50, () => slow('POST /login HTTP/1.1\r\nHost: localhost\r\n', 'X-a: b\r\n'));
    const bodies = openings(50, () =>
      slow(request('POST', '/login', ['Content-Type: application/json', 'Content-Length: 1000']), ' '),
    );
    const silent = openings(50, () => slow('', ''));

    const times: number[] = [];
    while (times.length < 60) {
      const started = performance.now();
      expect((await ask(jsonRequest('/login', login('honest'))))?.status).toBe(200);
      times.push(performance.now() - started);
    }
    // A login that had to wait for the slow connections would wait until the service closes the first of them.
    expect(times.sort((a, b) => a - b)[times.length / 2]).toBeLessThan(5000);

    // Node looks for overdue requests every two seconds. Its own limits are 60 s and 300 s.
    for (const [group, limit] of [
      [headers, 10],
      [silent, 10],
      [bodies, 15],
    ] as const) {
      for (const { lasted, received } of await Promise.all(group)) {
        expect(lasted / 1000).toBeGreaterThan(limit - 0.5);
        expect(lasted / 1000).toBeLessThan(limit + 30);
        expect(received).toMatch(/^HTTP\/1\.1 408 |^$/);
      }
    }
  });

  it('T273 a thousand connections that come while the event loop is busy wait for it, and none has to try again', async () => {
    const allowed = Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8'));
    service.signal('SIGSTOP');
    const sockets = Array.from({ length: Math.min(1000, allowed) }, () => connect(service.port, '127.0.0.1'));
    try {
      // The kernel completes connections for a stopped process until the backlog of its listener is full.
      const patience = 60_000;
      await Promise.all(sockets.map((one) => once(one, 'connect', { signal: AbortSignal.timeout(patience) })));
    } finally {
      service.signal('SIGCONT');
      for (const socket of sockets) socket.destroy();
    }
  });

  it('W47 no log line contains a secret at the level trace', async () => {
    await givenUser('quiet');
    const { data } = JSON.parse((await ask(jsonRequest('/login', login('quiet'))))?.body ?? '');
    const bearer = [`Authorization: Bearer ${data.access_token}`, 'Cookie: canary-cookie=1', 'X-Canary: canary-header'];
    await ask(request('GET', '/user/me?canary=canary-query', bearer));
    await ask(jsonRequest('/refresh', { refresh_token: data.refresh_token }));
    await ask(jsonRequest('/login', login('quiet', 'canary-password')));
    await ask(jsonRequest('/login', { ...login('quiet'), captcha_token: 'canary-captcha' }));
    await ask(request('GET', '/canary-path'));
    await ask(request('CANARY', '/canary-method', ['X-Canary: canary-header']));
    await ask(jsonRequest('/logout', {}, bearer));
    // The line of a request is written after its answer.
    await service.line(/"route":"\/logout"/);
    const everything = service.lines.join('\n');
    for (const secret of [data.access_token, data.refresh_token, password, captchaToken, 'canary', 'CANARY']) {
      expect(everything).not.toContain(secret);
    }
    for (const line of service.lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});
