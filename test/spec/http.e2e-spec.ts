import { dirname } from 'node:path/posix';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { asVersion30 } from '../../src/openapi/document/version-30';
import { type Answer, password, TestService } from '../support/app';
import { countHashing } from '../support/count-hashing';
import { countStatements } from '../support/count-statements';
import { isEverythingOn } from '../support/everything';
import { methodsOf, named, type RouteCase, routes, taking } from '../support/routes';
import { captchaToken } from '../support/settings';

const json = { 'content-type': 'application/json' };
const posts = taking('POST');
const open = posts.filter((route) => !route.guarded);

/** Checks what all error answers have in common, whichever part of the service sends them. */
function expectRefusal(answer: Answer, code: string): void {
  expect(answer.body).toMatchObject({ error_code: code, msg: expect.stringMatching(/\S/) });
  expect(Object.keys(answer.body as object).every((key) => ['error_code', 'msg', 'data'].includes(key))).toBe(true);
  expect(String(answer.status)).toBe(/_(\d{3})\d{3}$/.exec(code)?.[1]);
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
  expectHeaders(answer);
  // The answer reveals no stack, file, statement or package.
  expect(JSON.stringify(answer.body)).not.toMatch(
    /at \/|\.ts:|\.js:|node_modules|select |sqlite|mysql|FST_|Exception/i,
  );
}

function expectHeaders({ headers }: Answer, cacheControl = 'no-store'): void {
  expect(headers).toMatchObject({ 'cache-control': cacheControl, 'x-content-type-options': 'nosniff' });
  expect(headers['x-request-id']).toMatch(/^[\w-]{8,64}$/);
  for (const name of ['x-powered-by', 'server']) expect(headers).not.toHaveProperty(name);
}

describe('HTTP: hostile input and transport (docs/spec/attacks.md#3.8, docs/spec/attacks.md#3.9)', () => {
  let service: TestService;
  /** Counts what is expensive about one request. A machine can be slow; the counts are the same on each. */
  let workOf: (send: () => Promise<unknown>) => Promise<{ statements: number; jobs: number; rounds: number }>;
  beforeAll(async () => {
    service = await TestService.start();
    const [hashing, statements] = [countHashing(service), countStatements(service.app.get(DataSource))];
    workOf = async (send) => {
      let sent = 0;
      const hashed = await hashing(async () => (sent = await statements(send)));
      return { statements: sent, ...hashed };
    };
  });
  afterAll(() => service.stop());

  /** Sends the body without serialising it. */
  const raw = (
    { method, path }: RouteCase,
    body: string | Buffer | undefined,
    headers: Record<string, string> = json,
  ) => service.send(method, path, body, { headers });

  describe.each(named(routes))('%s', (_name, route) => {
    const offered = methodsOf(route);
    const others = (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const).filter(
      (method) => !offered.includes(method),
    );

    it.each(others)('T215 %s is answered with 405 and Allow, with any body or none', async (method) => {
      for (const [body, headers] of [
        [undefined, {}],
        ['{"a":1}', json],
        ['{', json],
        ['a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
      ] as const) {
        const answer = await service.send(method, route.path, body, { headers: headers });
        expect(answer.status).toBe(405);
        expect(String(answer.headers.allow).split(/, */).sort()).toEqual([...offered].sort());
        if (method === 'HEAD') expect(answer.raw).toHaveLength(0);
        else expectRefusal(answer, 'COMMON_405001');
      }
    });

    it('T220 neither a header nor a query parameter overrides the method', async () => {
      const answer = await service.send('PUT', `${route.path}?_method=${route.method}`, undefined, {
        headers: { 'x-http-method-override': route.method, 'x-method-override': route.method },
      });
      expect(answer.status).toBe(405);
    });

    it('T229 does not identify the server, and forbids caching and content sniffing', async () => {
      expectHeaders(await service.send(route.method, route.path, route.body), route.cached);
      expectHeaders(await service.send('PUT', route.path));
    });

    it('W44 another spelling of the path reaches no handler', async () => {
      // A slash at the end makes an empty identifier.
      const byId = routes.find(({ path }) => path.startsWith(`${route.path}/`));
      // Beside a route with an identifier, another spelling is an identifier. Its methods may be other ones.
      const beside = routes.find(
        ({ path, unknownId }) => unknownId !== undefined && dirname(path) === dirname(route.path),
      );
      const refusals = ['COMMON_404001', route.unknownId, byId?.unknownId, (byId ?? beside) && 'COMMON_405001'];
      for (const path of [
        `${route.path}/`,
        `/${route.path}`,
        `${route.path};a=b`,
        `${route.path}%2f`,
        `${route.path}%00`,
        route.path.toUpperCase(),
      ]) {
        const { status, body } = await service.send(route.method, path, route.body);
        expect({ path, known: refusals.includes(String(body?.error_code)) }).toEqual({ path, known: true });
        expect([401, 404, 405]).toContain(status);
      }
    });
  });

  describe.each(named(taking('GET')))('HEAD for %s', (_name, { path, cached }) => {
    it('T090 T216 has the status and the guard of GET, and no body', async () => {
      const [get, head] = [await service.get(path), await service.send('HEAD', path)];
      expect(head.status).toBe(get.status);
      expect(head.raw).toHaveLength(0);
      expectHeaders(head, cached);
    });
  });

  describe.each(named(routes.filter((route) => route.guarded)))('%s', (_name, route) => {
    it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', 'bearer x', `Bearer ${'x'.repeat(200)}`, 'Bearer é'])(
      'is answered with 401 for Authorization %j',
      async (authorization) => {
        const headers = { ...json, ...(authorization === undefined ? {} : { authorization }) };
        const answer = await service.send(route.method, route.path, route.method === 'POST' ? '{}' : undefined, {
          headers,
        });
        expectRefusal(answer, route.path === '/refresh' ? 'AUTH_401006' : 'AUTH_401001');
      },
    );
  });

  describe.each(named(routes.filter((route) => route.unknownId !== undefined)))('%s', (_name, route) => {
    const uid = route.path.slice(route.path.lastIndexOf('/') + 1);
    it.each([
      '%00',
      '..%2f..%2fetc%2fpasswd',
      ';x=1',
      'undefined',
      'null',
      'NaN',
      '0',
      '-1',
      '[object%20Object]',
      'a'.repeat(200),
      '%F0%9F%99%82',
      uid.toUpperCase(),
      `%7B${uid}%7D`,
      uid.replaceAll('-', ''),
      `${uid}%20`,
      `%EF%BC%96${uid.slice(1)}`,
      "'%20OR%201=1--%20",
      '__proto__',
      '*',
      '%25',
    ])('T210 T211 the malformed id %s is answered like an unknown one', async (other) => {
      const answer = await service.send(route.method, route.path.replace(uid, other));
      expectRefusal(answer, route.unknownId ?? '');
    });

    it('T210 the path without an id is answered with 404, or with 405 where it is a list', async () => {
      for (const path of [route.path.replace(uid, ''), route.path.replace(`/${uid}`, '')]) {
        const { body } = await service.send(route.method, path);
        // The list without an id may be a route of its own, with other methods.
        const list = routes.some((one) => one.path === path) ? 'COMMON_405001' : undefined;
        expect(['COMMON_404001', route.unknownId, list]).toContain(body.error_code);
      }
    });
  });

  if (isEverythingOn) {
    it('GET / is the login page, and its other methods are answered with the 405 envelope', async () => {
      const page = await service.get('/');
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expectRefusal(await service.post('/', {}), 'COMMON_405001');
    });
  }

  describe('paths that do not exist', () => {
    it.each([
      ...(isEverythingOn ? [] : ['/']),
      '/nowhere',
      '/login/alice',
      '/metrics',
      '/health',
      '/health/details',
      '/.env',
      '/%00',
      '/..%2f..%2fetc%2fpasswd',
      '/user/me%0d%0aX-Injected:1',
      `/${'a'.repeat(200)}`,
      '/user/🙂',
      '/__proto__',
      '/constructor',
    ])('T230 %s is answered with the 404 envelope', async (path) => {
      const answer = await service.get(path);
      expectRefusal(answer, 'COMMON_404001');
      expect(answer.headers).not.toHaveProperty('x-injected');
      expectRefusal(await service.post(path, {}), 'COMMON_404001');
    });

    it.each(['/%ff', '/%', '/user/%e0%a4', '/%c0%af', '/login%'])(
      'T210 %s is answered with the 400 envelope',
      async (path) => {
        expectRefusal(await service.get(path), 'COMMON_400001');
        const answer = await service.post(path, {}, { headers: { 'accept-language': 'zh' } });
        expectRefusal(answer, 'COMMON_400001');
        expect(answer.body.msg).toMatch(/\p{Script=Han}/u);
      },
    );

    it('API_DOCS=false removes the documentation page and keeps the OpenAPI document', async () => {
      expect((await service.get('/docs')).status).toBe(200);
      const other = await TestService.start({ API_DOCS: 'false' });
      for (const path of ['/docs', '/docs/', '/docs/index.html', '/docs/swagger-ui.css']) {
        expectRefusal(await other.get(path), 'COMMON_404001');
      }
      expect((await other.get('/openapi.json')).status).toBe(200);
      await other.stop();
    });
  });

  it.each([
    ['/openapi.json', '3.1.0'],
    ['/openapi-3.0.json', '3.0.3'],
  ])('%s has a strong ETag and answers 304 without a body to a request with this ETag', async (path, version) => {
    const whole = await service.get(path);
    expect(whole.body.openapi).toBe(version);
    const { etag } = whole.headers;
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const method of ['GET', 'HEAD'] as const) {
      const known = await service.send(method, path, undefined, {
        headers: { 'if-none-match': String(etag) },
      });
      expect(known).toMatchObject({ status: 304, headers: { etag } });
      expect(known.raw).toHaveLength(0);
      expectHeaders(known);
    }
    expect((await service.get(path, { headers: { 'if-none-match': '"another"' } })).raw).toEqual(whole.raw);
  });

  it('/openapi-3.0.json is the contract of the service in 3.0.3', async () => {
    const { body } = await service.get('/openapi.json');
    expect((await service.get('/openapi-3.0.json')).body).toEqual(asVersion30(body as OpenAPIObject));
  });

  describe('media types', () => {
    it.each([
      ['text/plain', '{"username":"a"}'],
      ['application/x-www-form-urlencoded', 'username=alice&password=x'],
      ['application/x-www-form-urlencoded', 'username[a]=b'],
      ['application/x-www-form-urlencoded', 'a[]=1&'.repeat(2000)],
      ['multipart/form-data; boundary=x', '--x--'],
      ['application/xml', '<a/>'],
      ['application/ld+json', '{}'],
      ['application/jsonp', '{}'],
      ['application/json; charset=utf-7', '{}'],
      ['application/json; charset=utf-16le', Buffer.from('{}', 'utf16le')],
      ['application/json; charset=iso-8859-1', '{}'],
      ['', '{}'],
      ['*/*', '{}'],
    ])('T202 T203 %s is answered with 415, without reading the body', async (type, body) => {
      for (const route of posts) expectRefusal(await raw(route, body, { 'content-type': type }), 'COMMON_415001');
    });

    it.each([
      'application/json',
      'APPLICATION/JSON',
      'application/json;charset=utf-8',
      'application/json; charset="UTF-8"',
      'Application/JSON; x=y',
      ' application/json',
      'application/json\ta',
      'application/json garbage',
      'application/json,text/plain',
    ])('T202 %j is either validated as JSON or refused', async (type) => {
      for (const route of open.filter(({ required = [] }) => required.length > 0)) {
        const { status, body } = await raw(route, '{"username":{}}', { 'content-type': type });
        expect(['COMMON_400001', 'COMMON_415001']).toContain(body.error_code);
        expect([400, 415]).toContain(status);
      }
    });

    it('a request without a body and without a content type is treated like one with an empty body', async () => {
      for (const route of posts) {
        const { headers, status } = await service.send(route.method, route.path, undefined);
        expect({ status, type: headers['content-type'] }).not.toMatchObject({ status: 500 });
        expect([200, 400, 401, ...(route.missing ? [404] : [])]).toContain(status);
      }
    });

    it.each(['gzip', 'deflate', 'br', 'gzip, gzip', 'x-unknown'])(
      'T204 Content-Encoding %s is answered with 415',
      async (coding) => {
        for (const route of posts) {
          const headers = { ...json, 'content-encoding': coding };
          expectRefusal(await raw(route, Buffer.from('1f8b0800', 'hex'), headers), 'COMMON_415001');
        }
      },
    );
  });

  describe('bodies that are not a JSON object', () => {
    it.each([
      ['T194 an array', '[]'],
      ['T194 an array of objects', '[{"username":"alice"}]'],
      ['T194 a text', '"x"'],
      ['T194 a number', '1'],
      ['T194 true', 'true'],
      ['T194 whitespace', ' \r\n '],
      ['T195 an open brace', '{'],
      ['T195 a trailing comma', '{"username":"a",}'],
      ['T195 NaN', '{"username":NaN}'],
      ['T195 a comment', '{"username":"a"/* */}'],
      ['T195 single quotes', "{'username':'a'}"],
      ['T195 a byte order mark', '\ufeff{}'],
      ['T195 two documents', '{}{}'],
      ['T196 invalid UTF-8', Buffer.from('{"username":"\xff\xfe"}', 'latin1')],
      ['T196 an overlong encoding', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
      ['T196 a surrogate in UTF-8', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
      ['T196 UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
      ['T198 __proto__', '{"__proto__":{"status":1},"username":"a","password":"b"}'],
      ['T198 an escaped __proto__', '{"__pr\\u006fto__":{"status":1}}'],
      ['T198 constructor', '{"constructor":{"prototype":{"status":1}}}'],
      ['T198 constructor without prototype', '{"constructor":1}'],
      ['T198 prototype without constructor', '{"prototype":{"status":1}}'],
      ['T198 a nested __proto__', '{"username":{"a":[{"__proto__":{"status":1}}]}}'],
      ['T200 8000 levels', `${'['.repeat(8000)}${']'.repeat(8000)}`],
      ['T200 2700 levels of objects', `${'{"a":'.repeat(2700)}1${'}'.repeat(2700)}`],
      // So many levels can be parsed with any stack: only the limit refuses them.
      ['T200 100 levels of objects', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
    ])('%s is answered with COMMON_400001 without expensive work', async (_what, body) => {
      for (const route of open) {
        let answer!: Answer;
        const work = await workOf(async () => (answer = await raw(route, body)));
        expect({ path: route.path, ...work }).toEqual({ path: route.path, statements: 0, jobs: 0, rounds: 0 });
        expectRefusal(answer, 'COMMON_400001');
        // The body itself is refused. Without its checks, some of these texts would only lack the fields of the route.
        expect(Object.keys(answer.body.data.fields as object)).toEqual(['body']);
      }
      for (const route of posts.filter((one) => one.guarded))
        expect([400, 401]).toContain((await raw(route, body)).status);
    });

    it('T198 does not pollute the prototype of objects', async () => {
      await raw(posts[0] as RouteCase, '{"__proto__":{"status":1,"polluted":true}}');
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      expect(({} as Record<string, unknown>).status).toBeUndefined();
    });

    it.each([
      ['empty', ''],
      ['null', 'null'],
    ])('T194 %s is treated as a body without fields', async (_what, body) => {
      for (const route of open.filter(({ required = [] }) => required.length > 0)) {
        const answer = await raw(route, body);
        expectRefusal(answer, 'COMMON_400001');
        expect(Object.keys(answer.body.data.fields as object)).toEqual(
          expect.arrayContaining([...(route.required ?? [])]),
        );
      }
    });

    it('T201 a body of more than 16 KiB is answered with 413, and one of exactly 16 KiB is read', async () => {
      const sized = (bytes: number) => `{"username":"${'a'.repeat(bytes - 15)}"}`;
      for (const route of posts) {
        expect(sized(16_384)).toHaveLength(16_384);
        expect((await raw(route, sized(16_384))).status).not.toBe(413);
        const answer = await raw(route, sized(16_385));
        expectRefusal(answer, 'COMMON_413001');
        expect(answer.headers.connection).toBe('close');
      }
    });

    it('when a key occurs twice, the last value is used', async () => {
      await service.givenUser('twice');
      const body = `{"username":"nobody","username":"twice","password":"${password}","captcha_token":"${captchaToken}"}`;
      expect((await raw(posts[0] as RouteCase, body)).status).toBe(200);
    });
  });

  const fields = open.flatMap((route) =>
    [...(route.required ?? []), ...(route.optional ?? [])].map(
      (field) => [`${route.path} ${field}`, route, field, route.required?.includes(field) ?? false] as const,
    ),
  );

  describe.each(fields)('%s', (_name, route, field, required) => {
    const send = (value: unknown) => service.post(route.path, { ...route.body, [field]: value });

    it.each([0, 1, true, false, {}, [], ['alice'], { uid: 1 }, { _type: 'raw' }, { $ne: null }, [['a', 'b']], 1e300])(
      'T192 T193 W42 %j does not reach a query: COMMON_400001 names the field',
      async (value) => {
        const answer = await send(value);
        expectRefusal(answer, 'COMMON_400001');
        expect(answer.body.data.fields).toEqual({ [field]: [expect.stringMatching(`^${field} must be `)] });
        expect(answer.body.data.fields[field][0]).not.toContain('characters');
        // The message does not repeat the value, which may be a password.
        expect(answer.body.data.fields[field][0]).not.toContain('alice');
      },
    );

    it('T189 a required field that is missing or null is answered with COMMON_400001', async () => {
      for (const value of [undefined, null]) {
        const answer = await send(value);
        if (required) {
          expectRefusal(answer, 'COMMON_400001');
          expect(answer.body.data.fields).toEqual({ [field]: [`${field} is required`] });
        } else {
          expect(answer.status).toBeGreaterThanOrEqual(400);
          expect(answer.status).toBeLessThan(500);
        }
      }
    });

    it('T189 an empty text is refused and never selects the first row', async () => {
      const answer = await send('');
      expectRefusal(answer, answer.body.error_code as string);
      expect(answer.status).toBeLessThan(500);
      // Some fields have a code of their own for a wrong value; the others say that the field is required.
      if (required && answer.status === 400 && answer.body.error_code === 'COMMON_400001') {
        expect(answer.body.data.fields).toEqual({ [field]: [`${field} is required`] });
      }
    });
  });

  it('the error of an empty optional field lists its values and does not call it required', async () => {
    const { body } = await service.post('/login', {
      username: 'nobody',
      password: 'wrong',
      captcha_token: captchaToken,
      provider: '',
    });
    expect(body.data.fields).toEqual({
      provider: ['provider must be one of the following values: password, ldap, auto'],
    });
  });

  it('COMMON_400001 names all invalid fields at once', async () => {
    const { body } = await service.post('/login', { username: 1, provider: 'x', captcha_token: captchaToken });
    expect(Object.keys(body.data.fields as object).sort()).toEqual(['password', 'provider', 'username']);
  });

  it('T199 unknown fields are dropped and change no column', async () => {
    const user = await service.givenUser('dropper');
    const extra = { status: -1, uid: 'x', is_admin: true, isAdmin: true, login_failed_count: 9, mfa_type: 'totp' };
    expect((await service.login('dropper', password, extra)).status).toBe(200);
    expect(await service.userRow(user.uid)).toMatchObject({ status: 1, login_failed_count: 0, mfa_type: 'email' });
    expect(Number((await service.userRow(user.uid)).is_admin)).toBe(0);
  });

  describe('hostile text', () => {
    it.each([
      "' OR 1=1-- ",
      "nobody' UNION SELECT * FROM users-- ",
      '\\',
      '"; DROP TABLE users; --',
      '0x61',
      '/*!50000 1*/',
      '%00',
      '*)(uid=*',
      '${jndi:ldap://127.0.0.1/a}',
      '%n%n%s',
      'nobody\r\nX-Injected: 1',
      '\u001b[31mred',
      'nobody\u0000',
      '👩‍👩‍👧‍👦',
      '\u202egnp.exe',
      '\u200b\u200d\ufeff',
      `a${'\u0301'.repeat(200)}`,
      '\ud800',
      '\uffff',
      '.',
      '../../etc/passwd',
      '{{7*7}}',
      '__proto__',
      'constructor',
      'toString',
    ])('T205 T206 T207 T213 the user name %j is answered as unknown', async (username) => {
      const answer = await service.login(username, 'wrong');
      expectRefusal(answer, 'LOGIN_404001');
      expect((await service.login(username, username)).status).toBe(404);
    });

    it('T205 T207 the same text as a password is answered as a wrong password', async () => {
      await service.givenUser('target');
      for (const typed of ["' OR 1=1-- ", '\\', '\u0000', '👩‍👩‍👧‍👦', '\ud800', 'a'.repeat(73), `${password}\u0000`]) {
        await service.database.affected("UPDATE users SET login_failed_count = 0 WHERE login_name_key = 'target'");
        expectRefusal(await service.login('target', typed), 'LOGIN_401001');
      }
    });

    it.each([256, 10_000])('T208 a user name of %i characters is answered with COMMON_400001', async (length) => {
      const answer = await service.login('a'.repeat(length), 'wrong');
      expectRefusal(answer, 'COMMON_400001');
      expect(Object.keys(answer.body.data.fields as object)).toEqual(['username']);
    });

    it('T209 a password as long as the body allows costs the work of a short wrong one', async () => {
      const workOfGuess = async (name: string, typed: string) => {
        await service.givenUser(name);
        return workOf(async () => expectRefusal(await service.login(name, typed), 'LOGIN_401001'));
      };
      const short = await workOfGuess('patient1', 'wrong');
      expect(short).toMatchObject({ jobs: 1, rounds: expect.any(Number) });
      expect(await workOfGuess('patient2', 'x'.repeat(16_000))).toEqual(short);
    });
  });

  describe('msg', () => {
    it.each([
      [undefined, 'en'],
      ['en-GB', 'en'],
      ['zh-CN,zh;q=0.9', 'zh'],
      ['fr', 'en'],
      ['<script>', 'en'],
    ])('is in the language of Accept-Language %j for every kind of error', async (wanted, language) => {
      const headers: Record<string, string> = wanted === undefined ? {} : { 'accept-language': wanted };
      const refusals = [
        await service.login('nobody', 'wrong', {}, { headers }),
        await service.login('nobody', 'wrong', { captcha_token: 'wrong' }, { headers }),
        await service.post('/login', {}, { headers }),
        await service.get('/nowhere', { headers }),
        await service.get('/login', { headers }),
        await service.get('/user/me', { headers }),
        await service.send('POST', '/login', '{', { headers: { ...json, ...headers } }),
        await service.send('POST', '/login', 'x', { headers: { 'content-type': 'text/plain', ...headers } }),
        await service.send('POST', '/login', ' '.repeat(20_000), { headers: { ...json, ...headers } }),
      ];
      expect(refusals.map(({ status }) => status)).toEqual([404, 401, 400, 404, 405, 401, 400, 415, 413]);
      for (const { body } of refusals) {
        expect(/\p{Script=Han}/u.test(String(body.msg)) ? 'zh' : 'en').toBe(language);
        expect(body.error_code).toMatch(/^[A-Z]+_\d{6}$/);
      }
    });
  });
});
