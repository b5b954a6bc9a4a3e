import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { TestService } from '../support/app';
import { adminSettings } from '../support/browser/admin-data';
import { buildExamples } from '../support/examples';
import { FakeClock } from '../support/fakes';
import { runProgram } from '../support/run-program';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, testSettings } from '../support/settings';

const packed = resolve(__dirname, '../../examples/node_modules');

const privateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** They run against the whole service, with the packages that `npm pack` makes. */
describe('the examples of the packages', () => {
  let service: TestService;
  let url: string;
  let folder: string;
  let client: Record<string, string>;

  beforeAll(async () => {
    await buildExamples();
    folder = await mkdtemp(join(tmpdir(), 'stranger-'));
    await symlink(packed, join(folder, 'node_modules'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    service = await TestService.start(
      { ...adminSettings, PORT: `${port}`, JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY: privateKey() },
      { clock: new FakeClock(new Date()) },
    );
    await service.app.listen(port, '127.0.0.1');
    const { id, secret } = await service.app.get(ServiceClients).create('orders');
    client = { AUTH_CLIENT_ID: id, AUTH_CLIENT_SECRET: secret };
    await service.givenUser('alice');
    await service.givenUser('admin', { isAdmin: true });
  });
  afterAll(async () => {
    // Both are missing when an example does not build.
    await service?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Runs the example of a section of the README of the SDK, and what uses it. @returns what it prints */
  const run = async (section: string, use = ''): Promise<string> => {
    const readme = await readFile(join(packed, '@portal-auth/sdk/README.md'), 'utf8');
    const [, example] = new RegExp(`^## ${section}\n[^#]*?\`\`\`ts\n([^]+?)\`\`\``, 'm').exec(readme) ?? [];
    const program = (String(example) + use)
      .replaceAll('https://auth.example.com', url)
      .replaceAll('from the widget', captchaToken);
    const { outputText } = ts.transpileModule(program, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    const file = join(folder, `${section}.mjs`);
    await writeFile(file, outputText);
    const { code, stdout, stderr } = await runProgram(file, [], { env: {}, cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  it('README of the SDK: the example signs in and reads the account', async () => {
    const printed = await run('Sign in');
    expect(printed).toContain('signed-in 0 0\n');
    expect(printed).toContain(`login_name: 'alice'`);
  });

  it('README of the SDK: the example of the operations refreshes, reads the account and signs out', async () => {
    expect(await run('Only the operations')).toBe('alice\n');
  });

  it('README of the SDK: the example of a server with its own sessions signs in, reads the account and signs out', async () => {
    const use = `
      const headers = {};
      const response = { setHeader: (name, value) => (headers.cookie = value.split(';')[0]) };
      await signIn(response, { username: 'alice', password: 'Correct-Horse-7', captchaToken: 'from the widget' });
      console.log((await authOf({ headers }).me()).login_name, authOf({ headers: {} }));
      await signOut({ headers });
      console.log(authOf({ headers }));`;
    expect(await run('On a server with its own sessions', use)).toBe('alice undefined\nundefined\n');
  });

  it('README of the SDK: the example of the administration unlocks the locked users', async () => {
    await service.givenUser('lou');
    for (let i = 0; i < 3; i++) await service.login('lou', 'Wrong-Horse-7');
    expect((await service.login('lou')).body.error_code).toBe('LOGIN_401004');
    expect(await run('Administration')).toMatch(/^\d+ \S+ \d+\n$/);
    expect((await service.login('lou')).status).toBe(200);
  });

  it.each(['express-service', 'nest-service'])('examples/%s answers 200, 401 and 503 in both modes', async (name) => {
    const { uid } = await service.givenUser(name);
    const { access } = await service.session(name);
    const start = (env: Record<string, string>): Promise<ServiceProcess> =>
      ServiceProcess.start({
        script: `examples/${name}/dist/main.js`,
        env: { AUTH_URL: url, AUTH_ISSUER: testSettings.SYSTEM_URL, ...env },
        ready: '/health',
      });
    const nobody = { AUTH_URL: `http://127.0.0.1:${await freePort()}` };
    const started = await Promise.allSettled([
      start(client),
      start({ AUTH_MODE: 'jwks' }),
      start({ ...client, ...nobody }),
      start({ AUTH_MODE: 'jwks', ...nobody }),
    ]);
    const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const ask = (token?: string): Promise<Response[]> =>
      Promise.all(
        running.map((one) =>
          fetch(`${one.url}/orders`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }),
        ),
      );
    const statuses = (answers: Response[]) => answers.map(({ status }) => status);
    try {
      expect(started.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))).toEqual([]);
      const answers = await ask(access);
      expect(statuses(answers)).toEqual([200, 200, 503, 503]);
      const body = { orders: [], user: uid, tenant: 'root' };
      expect(await Promise.all(answers.slice(0, 2).map((one) => one.json()))).toEqual([body, body]);
      expect(answers[2]?.headers.get('retry-after')).toBe('1');

      const without = await ask();
      expect(statuses(without)).toEqual([401, 401, 401, 401]);
      expect(without[0]?.headers.get('www-authenticate')).toMatch(/^Bearer /);
      // A signature of the right form, but of other bytes.
      const [head, claims, signature] = access.split('.') as [string, string, string];
      const forged = `${head}.${claims}.${Buffer.from(signature, 'base64url').reverse().toString('base64url')}`;
      expect(statuses(await ask(forged)).slice(0, 2)).toEqual([401, 401]);

      // The mode `jwks` sees a sign-out when the token expires.
      await service.post('/logout', {}, { bearer: access });
      expect(statuses(await ask(access)).slice(0, 2)).toEqual([401, 200]);
    } finally {
      await Promise.all(running.map((one) => one.stop()));
    }
  });
});
