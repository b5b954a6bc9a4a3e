import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { listen, shut, withBody } from '../support/loopback';
import { post } from '../support/post';
import { rawRequest, request, type RawAnswer } from '../support/raw-http';
import { runProgram } from '../support/run-program';
import { AskingProxy, type ProxyExample, type ProxyName } from '../support/servers/asking-proxy';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, testSettings } from '../support/settings';

const page = readFileSync(resolve(__dirname, '../../docs/operations/proxies.md'), 'utf8');

/** The blocks below the heading of a proxy. */
function exampleOf(title: string, language: string): ProxyExample {
  const [, section = ''] = page.split(`\n### ${title}\n`);
  const block = (of: string) =>
    new RegExp(`^\`\`\`${of}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section.split('\n### ')[0]!)?.[1];
  return { configuration: block(language)!, script: block('lua') };
}

const examples: Record<ProxyName, ProxyExample> = {
  nginx: exampleOf('nginx', 'nginx'),
  apache: exampleOf('Apache', 'apache'),
  haproxy: exampleOf('HAProxy', 'haproxy'),
};

/** What reached the application. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: [name: string, value: string][];
  readonly body: string;
}

/** Each character becomes 9 bytes. Two such names need more than the 4 KB that nginx reserves by default. */
const longLogin = '李'.repeat(250);
const longName = '学'.repeat(250);

describe.each(Object.keys(examples) as ProxyName[])('behind %s, as docs/operations/proxies.md shows it', (name) => {
  const directory = mkdtempSync(join(tmpdir(), 'proxies-'));
  const seen: Seen[] = [];
  let app: Server;
  let env: Record<string, string>;
  let service: ServiceProcess;
  let proxy: AskingProxy;
  let uid: string;

  beforeAll(async () => {
    const DATABASE_URL = `sqlite:${join(directory, 'auth.sqlite')}`;
    env = { ...testSettings, DATABASE_URL, DATA_DIR: directory, PORT: `${await freePort()}` };
    ({ uid } = await givenUser('ann', '--nickname', 'Ann, Zoë'));
    await givenUser(longLogin, '--nickname', longName, '--email', 'long@example.com');
    await givenUser('root', '--admin');
    service = await ServiceProcess.start({ env });
    app = createServer(
      withBody((asked, answer, body) => {
        const { method = '', url = '', rawHeaders } = asked;
        const headers = rawHeaders.flatMap((header, n) =>
          n % 2 ? [] : [[header, rawHeaders[n + 1]!] as [string, string]],
        );
        seen.push({ method, url, headers, body });
        answer.setHeader('content-length', '2').end('ok');
      }),
    );
    const ports = { service: service.port, app: await listen(app) };
    proxy = await AskingProxy.start(name, examples[name], ports);
  });
  beforeEach(() => void seen.splice(0));
  afterAll(async () => {
    await proxy?.stop();
    if (app !== undefined) await shut(app);
    await service?.kill();
    await rm(directory, { recursive: true, force: true });
  });

  async function givenUser(login: string, ...more: string[]): Promise<{ uid: string }> {
    const email = more.includes('--email') ? [] : ['--email', `${login}@example.com`];
    const args = ['--login-name', login, ...email, '--password', password, ...more];
    const command = ['user', 'create', ...args, '--json'];
    const { code, stdout, stderr } = await runProgram('dist/src/cli.js', command, { env, cwd: directory });
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as { uid: string };
  }

  async function logIn(username: string): Promise<{ access: string; refresh: string }> {
    const { status, body } = await post(service, '/login', { username, password, captcha_token: captchaToken });
    expect(status).toBe(200);
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  }

  const ask = (lines: string[], path = '/reports', method = 'GET', body = ''): Promise<RawAnswer | undefined> =>
    rawRequest(proxy.port, request(method, path, ['Connection: close', ...lines], body));
  const bearer = (token: string) => `Authorization: Bearer ${token}`;
  const refused = (answer: RawAnswer | undefined, status: number) => {
    expect({ status: answer?.status, seen }).toEqual({ status, seen: [] });
    expect(Object.keys(answer!.headers).filter((header) => header.startsWith('x-auth'))).toEqual([]);
  };

  /** Everything that an application could take for one of the headers, in any spelling. Empty values count as absent. */
  function identity(): Record<string, string> {
    expect(seen).toHaveLength(1);
    const found = seen[0]!.headers
      .filter(([header, value]) => /^x[^a-z0-9]*auth/i.test(header) && value !== '')
      .map(([header, value]) => [header.toLowerCase(), value] as const);
    expect(new Set(found.map(([header]) => header)).size).toBe(found.length);
    return Object.fromEntries(found);
  }
  const ann = () => ({
    'x-auth-subject': uid,
    'x-auth-name': 'ann',
    'x-auth-display-name': 'Ann%2C Zo%C3%AB',
    'x-auth-email': 'ann@example.com',
    'x-auth-tenant': 'root',
    'x-auth-amr': 'pwd',
  });

  it('a request without a token is 401 with WWW-Authenticate, and the application is not asked', async () => {
    const answer = await ask([]);
    refused(answer, 401);
    expect(answer?.headers['www-authenticate']).toBe('Bearer');
  });

  it('with a token the application learns who it is, and does not get the token', async () => {
    const { access } = await logIn('ann');
    expect(await ask([bearer(access)], '/reports?of=2026')).toMatchObject({ status: 200, body: 'ok' });
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/reports?of=2026' });
    expect(identity()).toEqual(ann());
    expect(JSON.stringify(seen)).not.toContain(access);
  });

  it.each([
    ['in upper case', ['X-AUTH-SUBJECT: root']],
    ['twice', ['X-Auth-Subject: root', 'x-auth-subject: root']],
    ['with underscores', ['X_Auth_Subject: root', 'X-Auth_Subject: root', 'x_auth-groups: admins']],
    ['with dots', ['X.Auth.Subject: root']],
    ['for a value that the user does not have', ['X-Auth-Unit: board', 'X-Auth-Groups: admins']],
    ['removed by Connection', ['Connection: close, X-Auth-Subject', 'X-Auth-Subject: root']],
    ['as a list', ['X-Auth-Groups: a,b', 'X-Auth-Amr: mfa, hwk']],
    ['behind the others', [...Array.from({ length: 60 }, (_, n) => `X-Other-${n}: 1`), 'X-Auth-Subject: root']],
  ])('T368 a forged header %s never reaches the application', async (_how, lines) => {
    const { access } = await logIn('ann');
    const answer = await rawRequest(
      proxy.port,
      request('GET', '/reports', [...lines, bearer(access), ...closing(lines)]),
    );
    expect(answer?.status).toBe(200);
    expect(identity()).toEqual(ann());
    // Without a token it changes nothing either.
    seen.splice(0);
    refused(await rawRequest(proxy.port, request('GET', '/reports', [...lines, ...closing(lines)])), 401);
  });
  const closing = (lines: string[]) =>
    lines.some((line) => line.startsWith('Connection')) ? [] : ['Connection: close'];

  it.each([
    [
      'a folded line',
      `GET /reports HTTP/1.1\r\nHost: x\r\nX-Other: 1\r\n X-Auth-Subject: root\r\nConnection: close\r\n`,
    ],
    ['a space before the colon', `GET /reports HTTP/1.1\r\nHost: x\r\nX-Auth-Subject : root\r\nConnection: close\r\n`],
    [
      'a bare line feed',
      `GET /reports HTTP/1.1\r\nHost: x\r\nX-Other: 1\nX-Auth-Subject: root\r\nConnection: close\r\n`,
    ],
  ])('T368 a header forged by %s is refused or does not reach the application', async (_how, head) => {
    const { access } = await logIn('ann');
    const answer = await rawRequest(proxy.port, `${head}${bearer(access)}\r\n\r\n`);
    if (answer?.status === 200) expect(identity()).toEqual(ann());
    else refused(answer, 400);
  });

  it.each([
    ['/admin', '/admin'],
    ['/admin/users', '/admin/users'],
    ['/admin?x=1', '/admin?x=1'],
  ])('%s is 403 for a user, and open for an administrator', async (_title, path) => {
    const [user, admin] = [await logIn('ann'), await logIn('root')];
    refused(await ask([bearer(user.access)], path), 403);
    refused(await ask([], path), 401);
    expect((await ask([bearer(admin.access)], path))?.status).toBe(200);
    expect(identity()).toMatchObject({ 'x-auth-name': 'root' });
  });

  it.each([
    '/public/../admin/users',
    '/./admin',
    '//admin',
    '/%61dmin',
    '/x/%2e%2e/admin',
    '/admin/',
    '/x/..%2fadmin',
    '/ADMIN/users',
    '/Admin',
  ])('T370 the path %s is no way around the check of /admin', async (path) => {
    const { access } = await logIn('ann');
    const answer = await ask([bearer(access)], path);
    expect([400, 403, 404]).toContain(answer?.status);
    expect(seen).toEqual([]);
  });

  it.each(['a refresh token', 'nonsense', 'a token of 7000 characters', 'another scheme', 'a quote and a space'])(
    'T371 %s is 401',
    async (what) => {
      const { refresh, access } = await logIn('ann');
      const sent = {
        'a refresh token': bearer(refresh),
        nonsense: bearer('x'),
        'a token of 7000 characters': bearer('x'.repeat(7000)),
        'another scheme': `Authorization: Basic ${Buffer.from(`ann:${password}`).toString('base64')}`,
        'a quote and a space': bearer(`" ${access}`),
      }[what]!;
      refused(await ask([sent]), 401);
    },
  );

  it('T371 a token is refused at once after the logout', async () => {
    const { access } = await logIn('ann');
    expect((await ask([bearer(access)]))?.status).toBe(200);
    await post(service, '/logout', {}, { authorization: `Bearer ${access}` });
    seen.splice(0);
    refused(await ask([bearer(access)]), 401);
  });

  it.each([
    ['with a length', ['Content-Length: 11'], 'a=1&b=22222'],
    ['in chunks', ['Transfer-Encoding: chunked'], 'b\r\na=1&b=22222\r\n0\r\n\r\n'],
  ])('the body of a request %s goes to the application, and the check is still a GET', async (_how, lines, body) => {
    const { access } = await logIn('ann');
    const type = 'Content-Type: application/x-www-form-urlencoded';
    expect((await ask([bearer(access), type, ...lines], '/orders', 'POST', body))?.status).toBe(200);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/orders', body: 'a=1&b=22222' });
    expect(identity()).toEqual(ann());
  });

  it('T368 a length and chunks at once smuggle no second request past the check', async () => {
    const { access } = await logIn('ann');
    const smuggled = `GET /admin HTTP/1.1\r\nHost: x\r\nX-Auth-Subject: root\r\n\r\n`;
    const body = `0\r\n\r\n${smuggled}`;
    const lines = [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'];
    await rawRequest(proxy.port, request('POST', '/orders', [...lines, bearer(access)], body));
    expect(seen.filter(({ url }) => url !== '/orders')).toEqual([]);
  });

  it('T372 parallel requests of two users never get the headers of one another', async () => {
    const tokens = { ann: (await logIn('ann')).access, root: (await logIn('root')).access };
    const names = Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? 'root' : 'ann'));
    const answers = await Promise.all(names.map((of) => ask([bearer(tokens[of as 'ann'])], `/reports?of=${of}`)));
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
    expect(seen).toHaveLength(names.length);
    for (const { url, headers } of seen) {
      const [, name] = headers.find(([header]) => header.toLowerCase() === 'x-auth-name')!;
      expect(url).toBe(`/reports?of=${name}`);
    }
  });

  it('HEAD, conditional and range requests, and a large header, are checked as any other', async () => {
    const { access } = await logIn('ann');
    const lines = ['If-None-Match: *', 'If-Modified-Since: Thu, 26 Nov 2099 00:00:00 GMT', 'Range: bytes=0-0'];
    await ask([...lines, bearer(access), `X-Large: ${'x'.repeat(6000)}`], '/reports', 'HEAD');
    expect(seen[0]).toMatchObject({ method: 'HEAD', url: '/reports' });
    expect(identity()).toEqual(ann());
    seen.splice(0);
    await ask(lines, '/reports', 'HEAD');
    expect(seen).toEqual([]);
  });

  it('T369 long names in another script pass, each in one header', async () => {
    const { access } = await logIn(longLogin);
    expect((await ask([bearer(access)]))?.status).toBe(200);
    const { 'x-auth-name': login = '', 'x-auth-display-name': name = '' } = identity();
    expect([login, name].map(decodeURIComponent)).toEqual([longLogin, longName]);
  });

  it('T371 while the service is down or does not answer nobody is let in, and afterwards the same token passes', async () => {
    const { access } = await logIn('ann');
    await service.kill();
    const answer = await ask([bearer(access)]);
    expect([500, 502, 503]).toContain(answer?.status);
    expect(seen).toEqual([]);
    service = await ServiceProcess.start({ env });
    expect((await ask([bearer(access)]))?.status).toBe(200);
  });
});
