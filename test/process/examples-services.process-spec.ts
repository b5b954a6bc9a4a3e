import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { BuiltService } from '../support/built-service';
import { ExampleNginx } from '../support/servers/example-nginx';
import { ExampleProgram } from '../support/servers/example-program';
import { findProgram } from '../support/servers/server-programs.mjs';
import { forgedTokens, signer } from '../support/forged-tokens';
import { freePort } from '../support/servers/free-port';
import { testSettings } from '../support/settings';

const examples = resolve(__dirname, '../../examples');
/** Debian's, which has Debian's packages. */
const python = '/usr/bin/python3';

type Env = Record<string, string>;

/** Builds an example if it needs that. @returns how to start it with given settings, as its README says */
const languages: Record<string, (folder: string) => Promise<(env: Env) => Promise<ExampleProgram>>> = {
  'go-service': async (folder) => {
    const env = { ...process.env, GOCACHE: join(folder, 'cache'), GOFLAGS: '-mod=mod', GOPROXY: 'off' };
    const command = join(folder, 'orders');
    const cwd = join(examples, 'go-service');
    await promisify(execFile)(findProgram('go')!, ['build', '-o', command, '.'], { cwd, env });
    return (settings) => ExampleProgram.start({ command, env: settings, ready: '/health' });
  },
  'python-service': (folder) =>
    Promise.resolve((settings) =>
      ExampleProgram.start({
        command: python,
        args: (port) => ['-m', 'flask', '--app', 'app', 'run', '--port', `${port}`],
        cwd: join(examples, 'python-service'),
        env: { ...settings, PYTHONDONTWRITEBYTECODE: '1', PYTHONPYCACHEPREFIX: folder },
        ready: '/health',
      }),
    ),
};

/** They run against the built service. */
describe('the examples that are not written for Node', () => {
  let service: BuiltService;
  let uid: string;
  let settings: Env;

  beforeAll(async () => {
    service = await BuiltService.start();
    ({ uid } = await service.givenUser('ann', '--nickname', 'Ann, Zoë'));
    await service.givenUser('root', '--admin');
    const { id, secret } = await service.cli<{ id: string; secret: string }>('client', 'create', 'orders');
    settings = {
      AUTH_URL: service.url,
      AUTH_ISSUER: testSettings.SYSTEM_URL,
      AUTH_CLIENT_ID: id,
      AUTH_CLIENT_SECRET: secret,
    };
  });
  afterAll(() => service?.stop());

  const asked = async (example: { readonly url: string }, path: string, token?: string) => {
    const headers: Env = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(example.url + path, { headers });
    return { status: answer.status, challenge: answer.headers.get('www-authenticate'), text: await answer.text() };
  };
  const bodyOf = async (answer: Promise<{ text: string }>) => JSON.parse((await answer).text) as unknown;

  describe.each(Object.keys(languages))('examples/%s', (name) => {
    const routes = ['/orders', '/payments', '/account'];
    let folder: string;
    let start: (env: Env) => Promise<ExampleProgram>;
    let example: ExampleProgram;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), `${name}-`));
      start = await languages[name]!(folder);
      example = await start(settings);
    });
    afterAll(async () => {
      await example?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it.each(routes)('%s is 401 without an access token', async (route) => {
      expect(await asked(example, route)).toMatchObject({ status: 401, challenge: 'Bearer' });
      const basic = await fetch(example.url + route, { headers: { authorization: 'Basic YW5uOmFubg==' } });
      expect(basic.status).toBe(401);
    });

    it('accepts an access token offline, and knows the name by asking the service', async () => {
      const { access } = await service.logIn('ann');
      expect(await bodyOf(asked(example, '/orders', access))).toEqual({ orders: [], user: uid, tenant: 'root' });
      expect(await bodyOf(asked(example, '/account', access))).toEqual({ user: uid, name: 'ann', admin: false });
    });

    it.each(routes)('%s refuses forged, expired and refresh tokens', async (route) => {
      const forged = await forgedTokens(service.pem, await service.logIn('ann'));
      const statuses = Object.keys(forged).map(async (what) => [
        what,
        (await asked(example, route, forged[what])).status,
      ]);
      expect(await Promise.all(statuses)).toEqual(Object.keys(forged).map((what) => [what, 401]));
    });

    it('/payments wants two factors, and says so as RFC 9470 does', async () => {
      const { access } = await service.logIn('ann');
      const { status, challenge } = await asked(example, '/payments', access);
      expect(status).toBe(401);
      expect(challenge).toBe('Bearer error="insufficient_user_authentication", acr_values="urn:portal:acr:2"');
      const claims = decodeJwt(access);
      const sign = signer(service.pem, access);
      const good = await sign({ ...claims, acr: 'urn:portal:acr:2' });
      expect(await bodyOf(asked(example, '/payments', good))).toEqual({ payments: [], user: uid });
      // A token of version 1.0.0 has no acr.
      expect((await asked(example, '/payments', await sign({ ...claims, acr: undefined }))).status).toBe(401);
    });

    it('refuses a token after the sign-out where it asks the service, and elsewhere when it expires', async () => {
      const { access } = await service.logIn('ann');
      await service.logOut(access);
      expect((await asked(example, '/account', access)).status).toBe(401);
      expect((await asked(example, '/orders', access)).status).toBe(200);
    });

    it('answers 503 while the service cannot be asked, and lets nobody in with wrong credentials of its own', async () => {
      const { access } = await service.logIn('ann');
      const alone = await start({ ...settings, AUTH_URL: `http://127.0.0.1:${await freePort()}` });
      const unknown = await start({ ...settings, AUTH_CLIENT_SECRET: 'wrong' });
      try {
        for (const route of routes) expect((await asked(alone, route, access)).status).toBe(503);
        expect((await asked(unknown, '/account', access)).status).toBe(503);
      } finally {
        await Promise.all([alone.stop(), unknown.stop()]);
      }
    });
  });

  it('examples/spring-service has valid syntax, and says that no test runs it', async () => {
    const folder = join(examples, 'spring-service');
    const source = join(folder, 'src/main/java');
    const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.java'));
    expect(files.length).toBeGreaterThan(0);
    // Debian has no Spring Boot 3, so the compiler stops before it looks for the classes.
    const parse = [
      '-XDshould-stop.at=PARSE',
      '-XDshould-stop.ifNoError=PARSE',
      ...files.map((file) => join(source, file)),
    ];
    await promisify(execFile)(findProgram('javac')!, parse);
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toContain('**No test compiles or runs this example.**');
  });

  describe('examples/nginx', () => {
    let app: ExampleProgram;
    let nginx: ExampleNginx;

    beforeAll(async () => {
      app = await ExampleProgram.start({
        command: python,
        args: () => [join(examples, 'nginx/app.py')],
        ready: '/',
      });
      nginx = await ExampleNginx.start({ service: service.port, app: app.port });
    });
    afterAll(() => Promise.all([nginx?.stop(), app?.stop()]));

    it('asks about each request, and tells the application who calls', async () => {
      const { access, refresh } = await service.logIn('ann');
      expect(await bodyOf(asked(nginx, '/reports', access))).toMatchObject({
        path: '/reports',
        subject: uid,
        name: 'ann',
        'display-name': 'Ann, Zoë',
      });
      const refused = await Promise.all(['', 'x', refresh].map((token) => asked(nginx, '/reports', token)));
      expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
      await service.logOut(access);
      expect((await asked(nginx, '/reports', access)).status).toBe(401);
    });

    it('lets only administrators pass to /admin, and everybody to /health without a name', async () => {
      const [user, admin] = [await service.logIn('ann'), await service.logIn('root')];
      expect((await asked(nginx, '/Admin/users', user.access)).status).toBe(403);
      expect(await bodyOf(asked(nginx, '/admin/users', admin.access))).toMatchObject({ name: 'root' });
      const forged = await fetch(`${nginx.url}/health`, { headers: { 'x-auth-name': 'root' } });
      expect(await forged.json()).toEqual({ path: '/health' });
    });
  });
});
