import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { isBuiltin } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { json } from 'node:stream/consumers';
import { acquireTimeoutMs } from '../../src/platform/database/time-limits';
import { SoftAuthenticator } from '../support/authenticator';
import { authenticatorCode } from '../support/mfa';
import { post } from '../support/post';
import { runProgram } from '../support/run-program';
import { runScript } from '../support/run-script';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { captchaToken, password, patientDatabase, testSettings } from '../support/settings';

const login = async (service: ServiceProcess, username: string, provider = 'password') =>
  (await post(service, '/login', { username, password, provider, captcha_token: captchaToken })).body;

/** Packages named only in generated code, and in branches for optional packages that are not installed. */
const neverLoaded = [
  '@fastify/multipart',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'ajv',
  'ajv-formats',
  'bluebird',
  'bullmq',
  'cardinal',
  'fast-json-stringify',
  'keygrip',
  'mysql2',
  'picomatch',
];

/** A text of @simplewebauthn/server. */
const webAuthnLibrary = 'Credential ID was not base64url-encoded';

/** The build is a few files with one copy of each module (ADR 0015). Here it runs in a folder that contains nothing else. */
describe('the built program', () => {
  let directory: string;
  let tree: string;
  let main: string;
  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), 'tree-'));
    main = join(tree, 'dist/src/main.js');
    const copied = await runScript('scripts/runtime-files.mjs', '--into', tree);
    expect(copied).toEqual({ code: 0, output: '' });
  });
  afterAll(() => rm(tree, { recursive: true, force: true }));
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** Returns the files that the process has loaded, as the coverage report of V8 lists them. */
  async function loadedFiles(): Promise<string[]> {
    const reports = await Promise.all(
      (await readdir(directory)).map(
        async (name) =>
          JSON.parse(await readFile(join(directory, name), 'utf8')) as { result: readonly { url: string }[] },
      ),
    );
    return reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => url.startsWith('file:'));
  }

  const everyChunk = async (folder = tree) => {
    const bundle = join(folder, 'dist/src/bundle');
    return (await readdir(bundle)).filter((name) => name.endsWith('.js')).map((name) => join(bundle, name));
  };
  /** The files that contain the text. */
  const holding = async (text: string, files: readonly string[]) => {
    const local = files.map((file) => (file.startsWith('file:') ? fileURLToPath(file) : file));
    const sources = await Promise.all(local.map((file) => readFile(file, 'utf8')));
    return local.filter((_, n) => sources[n]!.includes(text));
  };

  it('loads no package outside the bundle except the bcrypt binary and the documentation page', async () => {
    const databases = MariaDbDatabases.shared();
    const url = await databases.freshDatabase();
    try {
      const env = { ...testSettings, DATABASE_URL: url, API_DOCS: 'true', NODE_V8_COVERAGE: directory };
      const service = await ServiceProcess.start({ env, script: main });
      expect((await fetch(`${service.url}/openapi.json`)).status).toBe(200);
      expect(await login(service, 'nobody')).toMatchObject({ error_code: 'LOGIN_404001' });
      expect((await post(service, '/login/passkey-options', {})).status).toBe(200);
      await service.stop();
      const files = await loadedFiles();
      // A login page asks for options whenever it is opened. Only a passkey needs the library (ADR 0024).
      const holders = await holding(webAuthnLibrary, files);
      expect(holders).toEqual([]);
      expect(await holding(webAuthnLibrary, await everyChunk())).not.toEqual([]);
      const packages = files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
      expect(new Set(packages)).toEqual(new Set(['@node-rs/bcrypt', 'swagger-ui-dist']));
      // The program itself, and the file of its hash threads.
      const own = files.filter((file) => !file.includes('/node_modules/') && !file.includes('/dist/src/bundle/'));
      expect(own.map((file) => file.replace(/.*\/dist\/src\//, '')).sort()).toEqual([
        'hashing/engine/hash-worker.js',
        'main.js',
      ]);
    } finally {
      await databases.drop(url);
    }
  });

  it('finds what it loads on demand (pages, mail templates, authenticators, the LDAP client, metrics, traces, log records, documentation, passkeys), and neither the service nor a command prints a deprecation warning', async () => {
    const smtp = await Smtp.start();
    const traced: unknown[] = [];
    const collector = createServer((request, response) => {
      void json(request).then((body) => {
        traced.push(body);
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const metricsPort = await freePort();
    const env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
      API_DOCS: 'true',
      PORTAL: 'on',
      METRICS_PORT: `${metricsPort}`,
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls=none`,
      MAIL_FROM: 'portal@example.com',
      LDAP_URL: `ldap://127.0.0.1:${await freePort()}`,
      LDAP_SEARCH_BASE: 'dc=example,dc=com',
      LDAP_BIND_DN: 'cn=reader,dc=example,dc=com',
      LDAP_BIND_PASSWORD: 'reader',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    };
    const cli = join(tree, 'dist/src/cli.js');
    let service: ServiceProcess | undefined;
    try {
      expect(await runProgram(cli, ['migrate'], { env, cwd: directory })).toMatchObject({ code: 0, stderr: '' });
      service = await ServiceProcess.start({ env, script: main });
      const { url } = service;
      for (const user of [
        ['later', '--email', 'later@example.com', '--password', password],
        ['of-the-directory', '--provider', 'ldap'],
      ]) {
        const create = ['user', 'create', '--login-name', ...user];
        expect(await runProgram(cli, create, { env, cwd: directory })).toMatchObject({ code: 0, stderr: '' });
      }

      // The working directory of the program is another one.
      const home = await fetch(`${url}/`, { headers: { accept: 'text/html' } });
      expect({ status: home.status, type: home.headers.get('content-type') }).toEqual({
        status: 200,
        type: 'text/html; charset=utf-8',
      });

      const { data } = await login(service, 'later');
      const bearer = { authorization: `Bearer ${data.access_token}` };
      const { body: enrolment } = await post(service, '/totp-secret', {}, bearer);
      expect(enrolment.data.secret).toMatch(/^[A-Z2-7]{32}$/);
      const picture = await fetch(`${service.url}/otp-qrcode/${data.user_info.uid}`, { headers: bearer });
      expect(picture.headers.get('content-type')).toBe('image/png');
      expect([...Buffer.from(await picture.arrayBuffer()).subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);

      const code = authenticatorCode(enrolment.data.secret as string, new Date());
      const confirmed = { uid: data.user_info.uid as string, type: 'totp', code };
      expect((await post(service, '/otp-verify', confirmed, bearer)).status).toBe(200);

      const { body: options } = await post(service, '/passkeys/options', {}, bearer);
      const response = new SoftAuthenticator('http://portal.test').create(options.data);
      expect((await post(service, '/passkeys', { name: 'Phone', response }, bearer)).status).toBe(200);

      expect((await post(service, '/forget-password', { email: 'later@example.com' })).status).toBe(200);
      const mails = await smtp.waitFor(3);
      for (const { to } of mails) expect(to).toEqual(['later@example.com']);
      expect(mails.map(({ mail }) => mail.html).join()).toContain('http://portal.test');

      expect(await login(service, 'of-the-directory', 'ldap')).toMatchObject({ error_code: 'LOGIN_503001' });
      expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain('auth_hash_concurrency');
      const page = await (await fetch(`${service.url}/docs/`)).text();
      const assets = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => new URL(path!, `${url}/docs/`));
      expect(assets.length).toBeGreaterThan(4);
      for (const asset of assets) expect({ asset, status: (await fetch(asset)).status }).toMatchObject({ status: 200 });
      expect(service.lines.filter((line) => line.includes('Warning'))).toEqual([]);
    } finally {
      await service?.stop();
      await smtp.stop();
      collector.close().closeAllConnections();
    }
    for (const signal of ['resourceSpans', 'resourceLogs']) expect(JSON.stringify(traced)).toContain(signal);
  });

  it('hashes in JavaScript when the binary cannot be loaded, and does not start when both are missing', async () => {
    const packages = join(tree, 'node_modules');
    const aside = join(directory, 'aside');
    const env = { ...testSettings, DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}` };
    await rename(join(packages, '@node-rs'), `${aside}-native`);
    try {
      const service = await ServiceProcess.start({ env, script: main });
      expect(await login(service, 'nobody')).toMatchObject({ error_code: 'LOGIN_404001' });
      await service.line(/the native bcrypt is not in use/);
      await service.stop();
      await rename(join(packages, 'bcryptjs'), `${aside}-bcryptjs`);
      await expect(ServiceProcess.start({ env, script: main })).rejects.toThrow("Cannot find module 'bcryptjs'");
    } finally {
      await rename(`${aside}-native`, join(packages, '@node-rs'));
      await rename(`${aside}-bcryptjs`, join(packages, 'bcryptjs'));
    }
  });

  describe('its V8 code cache', () => {
    const preload = join(__dirname, '../support/code-cache-report.cjs');
    let env: Record<string, string>;
    let copy: string;
    beforeEach(async () => {
      copy = join(directory, 'tree');
      await cp(tree, copy, { recursive: true });
      env = {
        ...{ ...testSettings, DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}` },
        NODE_OPTIONS: `--require ${preload}`,
      };
      await migrate();
    });
    const reportOf = (line: string) =>
      JSON.parse(line.slice(line.indexOf('{'))) as { cached: number; rejected: number; compiled: string[] };
    const migrate = async () => {
      const { code, stdout, stderr } = await runProgram(join(copy, 'dist/src/cli.js'), ['migrate'], { env, cwd: copy });
      return { code, stdout, ...reportOf(stderr) };
    };
    /** The files of a start with `import()`. */
    const importing = ['packages~main~cli11.js'];
    const chunk = async () => {
      const [found] = await holding('? "nothing to do" :', await everyChunk(copy));
      return found!;
    };

    it('is accepted by V8, for each file that the programs load at their start, with everything on or off', async () => {
      expect(await migrate()).toMatchObject({ code: 0, rejected: 0, compiled: importing });
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const OIDC_PRIVATE_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      const on = { PORTAL: 'on', ADMIN_API: 'on', OIDC: 'on', SCIM: 'on', EVENT_RECEIVERS: 'on', OIDC_PRIVATE_KEY };
      for (const settings of [{}, on]) {
        const service = await ServiceProcess.start({
          env: { ...env, ...settings },
          script: join(copy, 'dist/src/main.js'),
        });
        const reported = service.line(/^code cache: /);
        await service.stop();
        expect(reportOf(await reported)).toMatchObject({ rejected: 0, compiled: importing });
      }
    });

    it('is not used for a file that was changed, also to another one of the same length', async () => {
      const source = await readFile(await chunk(), 'utf8');
      await writeFile(await chunk(), source.replace('? "nothing to do" :', '? "NOTHING TO DO" :'));
      const changed = (await holding('NOTHING TO DO', await everyChunk(copy))).map((file) => basename(file));
      const { stdout, compiled } = await migrate();
      expect({ stdout, compiled: compiled.sort() }).toEqual({
        stdout: 'NOTHING TO DO\n',
        compiled: [...importing, ...changed].sort(),
      });
    });

    it('is not used when it is damaged, and the program does the same without it', async () => {
      const cache = `${await chunk()}.cache`;
      const bytes = await readFile(cache);
      bytes[bytes.length >> 1]! ^= 1;
      await writeFile(cache, bytes);
      const { stdout, compiled } = await migrate();
      expect({ stdout, compiled: compiled.sort() }).toEqual({
        stdout: 'nothing to do\n',
        compiled: [...importing, basename(await chunk())].sort(),
      });
      for (const file of await everyChunk(copy)) await rm(`${file}.cache`, { force: true });
      expect(await migrate()).toMatchObject({ code: 0, stdout: 'nothing to do\n', cached: 0 });
    });
  });

  it('has ten times the time limits for the database in tests that ask for them, although the build has a code cache', async () => {
    const probe = join(directory, 'probe.cjs');
    await writeFile(
      probe,
      `const { prototype } = require('node:module');
       const compile = prototype._compile;
       prototype._compile = function (code, ...more) {
         const [, limit] = /exports\\.acquireTimeoutMs = (\\d+);/.exec(code) ?? [];
         if (limit) console.log('limit', limit);
         return compile.call(this, code, ...more);
       };`,
    );
    const NODE_OPTIONS = `${patientDatabase.NODE_OPTIONS} --require ${probe}`;
    const { stdout } = await runProgram('dist/src/cli.js', ['--help'], { env: { NODE_OPTIONS }, cwd: directory });
    // test/support/patient-limits.ts has done the same to what this file imports.
    expect(stdout.match(/limit \d+/g)).toEqual([`limit ${acquireTimeoutMs}`]);
  });

  it('requires only packages that scripts/runtime-files.mjs lists', async () => {
    const sources = await Promise.all([...(await everyChunk()), main].map((file) => readFile(file, 'utf8')));
    const asked = /\b(?:require|import|require\.resolve)\(\s*["'`]([^"'`.][^"'`]*)["'`]\s*\)/g;
    const names = sources.flatMap((source) => [...source.matchAll(asked)].map(([, id]) => id!));
    const packages = new Set(names.filter((id) => !isBuiltin(id)).map((id) => /^(@[^/]+\/)?[^/]+/.exec(id)![0]));
    const list = await readFile('scripts/runtime-files.mjs', 'utf8');
    const [, outside] = /^export const outside = \{$(.*?)^\};$/ms.exec(list)!;
    const listed = (id: string) => new RegExp(`^  '?${id}'?: `, 'm').test(outside!);
    expect([...packages].filter((id) => !listed(id)).sort()).toEqual(neverLoaded);
  });
});
