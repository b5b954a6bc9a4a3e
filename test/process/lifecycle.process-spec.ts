import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { post } from '../support/post';
import { jsonRequest, RawConnection, rawRequest, request } from '../support/raw-http';
import { routes } from '../support/routes';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { boundedAnswerMs, captchaToken, password, testSettings } from '../support/settings';

const login = (username: string, typed = password) => ({ username, password: typed, captcha_token: captchaToken });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lifecycle-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const cli = async (args: string[], env: Record<string, string>) => {
  const { code, stdout, stderr } = await runProgram('dist/src/cli.js', [...args, '--json'], {
    env: { ...testSettings, ...env },
    cwd: directory,
  });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, any>;
};
const givenUser = (name: string, env: Record<string, string>) =>
  cli(['user', 'create', '--login-name', name, '--password', password], env);

const statusOf = async (service: ServiceProcess, path: string) => (await fetch(`${service.url}${path}`)).status;

describe('an invalid setting at the start (T261)', () => {
  const canary = 'canary-5c1d';
  it.each([
    ['a short JWT_SECRET', { JWT_SECRET: canary }, ['JWT_SECRET']],
    ['a database of an unsupported kind', { DATABASE_URL: `postgres://u:${canary}@h/a` }, ['DATABASE_URL']],
    ['an unknown TLS parameter', { DATABASE_URL: `mysql://u:${canary}@h/a?tls=${canary}` }, ['DATABASE_URL']],
    ['a CA file that does not exist', { DATABASE_URL: `mysql://u:${canary}@h/a?ssl-ca=/${canary}` }, ['DATABASE_URL']],
    ['a port', { PORT: canary }, ['PORT']],
    ['a secret in a file that does not exist', { SMTP_URL_FILE: `/${canary}` }, ['SMTP_URL_FILE']],
    [
      'the literal reset on every interface',
      { HOST: '0.0.0.0', CAPTCHA_TEST_TOKEN: '', RESET_RESPONSE_UID: 'token' },
      ['RESET_RESPONSE_UID'],
    ],
    ['the test token on every interface', { HOST: '0.0.0.0', CAPTCHA_TEST_TOKEN: canary }, ['CAPTCHA_TEST_TOKEN']],
    [
      'several',
      { PORT: canary, DATA_ENCRYPTION_KEY: canary, LDAP_URL: canary },
      ['PORT', 'DATA_ENCRYPTION_KEY', 'LDAP_URL', 'LDAP_BIND_DN'],
    ],
    [
      'production with nothing',
      {
        NODE_ENV: 'production',
        JWT_SECRET: '',
        DATA_ENCRYPTION_KEY: '',
        SYSTEM_URL: '',
        CAPTCHA_TEST_TOKEN: '',
        BCRYPT_COST: '',
      },
      ['DATABASE_URL', 'SYSTEM_URL', 'JWT_SECRET', 'DATA_ENCRYPTION_KEY'],
    ],
  ])('%s is reported with one line that names the setting and not its value, and exit 1', async (_what, env, keys) => {
    const { code, stdout, stderr } = await runProgram('dist/src/main.js', [], {
      env: { ...testSettings, ...env },
      cwd: directory,
    });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    for (const key of keys) expect(stderr).toContain(key);
    expect(stderr).not.toContain(canary);
    expect(await readdir(directory)).toEqual([]);
  });

  it('a DATA_DIR that cannot be written is reported with one line', async () => {
    await writeFile(join(directory, 'file'), '');
    const env = { ...testSettings, JWT_SECRET: undefined, DATA_DIR: 'file' };
    const { code, stderr } = await runProgram('dist/src/main.js', [], { env, cwd: directory });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining('DATA_DIR')]);
  });

  it('an LDAP client that cannot be loaded is reported with one line, and only where a directory is configured', async () => {
    const preload = pathToFileURL(resolve(__dirname, '../support/no-ldap-client.mjs')).href;
    const env = { ...testSettings, NODE_OPTIONS: `--import ${preload}` };
    await (await ServiceProcess.start({ env })).kill();
    const ldap = {
      PORT: `${await freePort()}`,
      LDAP_URL: 'ldap://127.0.0.1:9',
      LDAP_BIND_DN: 'cn=service,dc=example,dc=com',
      LDAP_BIND_PASSWORD: 'service-password',
      LDAP_SEARCH_BASE: 'dc=example,dc=com',
    };
    const { code, stderr } = await runProgram('dist/src/main.js', [], { env: { ...env, ...ldap }, cwd: directory });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual(['cannot start: LDAP client not loaded (MODULE_NOT_FOUND)']);
  });

  it('an address that is in use is reported with one line, and exit 1', async () => {
    const service = await ServiceProcess.start({ env: testSettings, ready: '/health/live' });
    const env = { ...testSettings, PORT: `${service.port}` };
    const { code, stderr } = await runProgram('dist/src/main.js', [], { env, cwd: directory });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(/^cannot start: .*EADDRINUSE/)]);
    await service.kill();
  });
});

describe.each(['refuses', 'swallows everything'] as const)('a database that %s at the start (T260)', (how) => {
  it('does not end the process: liveness is 200, readiness and requests are 503, and it works when the database is back', async () => {
    const databases = MariaDbDatabases.shared();
    const databaseUrl = new URL(await databases.freshDatabase());
    const proxy = await TcpProxy.start(Number(databaseUrl.port));
    const direct = databaseUrl.toString();
    databaseUrl.port = `${proxy.port}`;
    if (how === 'refuses') await proxy.refuse();
    else proxy.blackhole();

    const env = { ...testSettings, DATABASE_URL: databaseUrl.toString(), MIGRATE_ON_START: 'true' };
    const service = await ServiceProcess.start({ env, ready: '/health/live' });
    try {
      expect(await statusOf(service, '/health/ready')).toBe(503);
      const needy = routes.filter(({ path, storeless }) => !storeless && path !== '/health/ready');
      for (const { method, path, body, guarded } of needy) {
        const started = performance.now();
        const response = await fetch(`${service.url}${path}`, {
          method,
          headers: {
            'content-type': 'application/json',
            ...(guarded ? { authorization: `Bearer ${await foreignToken()}` } : {}),
          },
          ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
        });
        expect(performance.now() - started).toBeLessThan(boundedAnswerMs);
        const answer = (await response.json()) as any;
        expect({ path, status: response.status, code: answer.error_code }).toEqual({
          path,
          status: 503,
          code: 'COMMON_503001',
        });
        expect(Number(response.headers.get('retry-after'))).toBe(answer.data.retry_after);
        expect(answer.data.retry_after).toBeGreaterThanOrEqual(1);
      }
      expect(await statusOf(service, '/health/live')).toBe(200);
      expect(await statusOf(service, '/nowhere')).toBe(404);

      await proxy.forward();
      await eventually(async () => (await statusOf(service, '/health/ready')) === 200, { what: 'a green readiness' });
      await givenUser('patient', { DATABASE_URL: direct });
      expect((await post(service, '/login', login('patient'))).status).toBe(200);
      // No log line contains the database password, however many attempts to connect have failed.
      expect(service.lines.join('\n')).not.toContain(databaseUrl.password);
    } finally {
      await service.kill();
      await proxy.stop();
      await databases.drop(direct);
    }
  });
});

describe('MIGRATE_ON_START=false', () => {
  it('an empty database is not migrated: readiness and requests are 503 until the operator runs migrate', async () => {
    const env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
      MIGRATE_ON_START: 'false',
    };
    const service = await ServiceProcess.start({ env, ready: '/health/live' });
    expect(await statusOf(service, '/health/ready')).toBe(503);
    expect(await post(service, '/login', login('nobody'))).toMatchObject({
      status: 503,
      body: { error_code: 'COMMON_503001' },
    });
    const { ran } = await cli(['migrate'], env);
    expect(ran).not.toEqual([]);
    expect(await statusOf(service, '/health/ready')).toBe(200);
    expect(await statusOf(service, '/health/ready')).toBe(200);
    await service.line(/the migrations have run/);
    // Each change of the readiness is logged once, however often the probe asks.
    expect(service.lines.filter((line) => line.includes('migrations are pending'))).toHaveLength(1);
    expect(service.lines.filter((line) => line.includes('the migrations have run'))).toHaveLength(1);
    expect((await post(service, '/login', login('nobody'))).status).toBe(404);
    await service.kill();
  });
});

describe('SIGTERM (T249)', () => {
  it('readiness is red at once, running requests and requests on open connections are served, and the process exits with 0', async () => {
    const env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
      // The program exits 9.5 s after SIGTERM, and its hash threads have a low priority: seven hashes must be cheap.
      BCRYPT_COST: '8',
      HASH_QUEUE_MAX_WAIT_MS: '60000',
    };
    const service = await ServiceProcess.start({ env });
    await givenUser('leaving', env);
    const busy = await Promise.all(Array.from({ length: 4 }, () => RawConnection.open(service.port)));
    const [idle, reused, halfway, running] = await Promise.all(
      [1, 2, 3, 4].map(() => RawConnection.open(service.port)),
    );
    // A request that is under way until its last byte arrives, so that no machine answers it before the signal.
    const whole = jsonRequest('/login', login('leaving'));
    running?.send(whole.slice(0, -1));
    for (const connection of busy) connection.send(jsonRequest('/login', login('leaving')));
    reused?.send(request('GET', '/health/live'));
    halfway?.send('POST /login HTTP/1.1\r\nHost: localhost\r\n');
    await reused?.answers(1);

    const signalled = performance.now();
    service.signal('SIGTERM');
    await eventually(async () => (await statusOf(service, '/health/ready')) === 503, { what: 'a red readiness' });
    running?.send(whole.slice(-1));
    // A second signal, for example from an impatient operator, changes nothing.
    service.signal('SIGTERM');

    // Both requests are sent while the service drains, however long the earlier logins take on a busy machine.
    reused?.send(jsonRequest('/login', login('nobody')));
    const fresh = rawRequest(service.port, jsonRequest('/login', login('leaving')));
    const [, late] = (await reused?.answers(2)) ?? [];
    expect(late).toMatchObject({ status: 404, headers: { connection: 'close' } });
    expect((await fresh)?.status).toBe(200);
    const [last] = (await running?.answers(1)) ?? [];
    expect(last).toMatchObject({ status: 200, headers: { connection: 'close' } });
    for (const connection of busy) {
      const [answer] = await connection.answers(1);
      expect(answer?.status).toBe(200);
      expect(JSON.parse(answer?.body ?? '').data.access_token).toEqual(expect.any(String));
    }
    expect(await service.exited).toEqual({ code: 0, signal: null });
    // The program exits after 9.5 s at the latest, even with unfinished requests.
    expect(performance.now() - signalled).toBeLessThan(20_000);
    await Promise.all([idle?.closed, halfway?.closed]);
    expect(service.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
    const told = service.lines.filter((line) => line.includes('"signal":'));
    expect(told.map((line) => JSON.parse(line) as object)).toMatchObject([{ signal: 'SIGTERM', msg: 'stopping' }]);
    expect(service.lines.filter((line) => line.includes('"msg":"stopped"'))).toHaveLength(1);

    const { stdout } = await runProgram('dist/src/cli.js', ['user', 'show', 'leaving', '--json'], {
      env,
      cwd: directory,
    });
    expect(JSON.parse(stdout)).toMatchObject({ login_failed_count: 0, last_login_success_time: expect.any(String) });
    await service.stop();
  });

  it('while the database is unavailable: the process exits with 0', async () => {
    const env = { ...testSettings, DATABASE_URL: `mysql://u:p@127.0.0.1:${await freePort()}/auth` };
    const service = await ServiceProcess.start({ env, ready: '/health/live' });
    expect(await service.stop(20_000)).toEqual({ code: 0, signal: null });
  });
});

describe('processes that start at the same time', () => {
  it('three on an empty MariaDB database become ready, and it is migrated once', async () => {
    const databases = MariaDbDatabases.shared();
    const url = await databases.freshDatabase();
    const env = { ...testSettings, DATABASE_URL: url };
    const services = await Promise.all([1, 2, 3].map(() => ServiceProcess.start({ env })));
    const connection = await createConnection(url);
    const [rows] = await connection.query('SELECT name FROM migrations');
    const names = (rows as { name: string }[]).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(
      services.flatMap(({ lines }) => lines.filter((line) => line.includes('migrated the database'))),
    ).toHaveLength(1);
    await connection.end();
    await Promise.all(services.map((service) => service.kill()));
    await databases.drop(url);
  });

  it('two on one empty directory share one SQLite file and one set of secrets: each accepts the tokens of the other', async () => {
    for (let round = 0; round < 2; round++) {
      const cwd = await mkdtemp(join(directory, 'round-'));
      const env = { ...testSettings, JWT_SECRET: '', DATA_ENCRYPTION_KEY: '', DATABASE_URL: '' };
      const [one, two] = await Promise.all([1, 2].map(() => ServiceProcess.start({ env, cwd })));
      if (one === undefined || two === undefined) throw new Error('not started');
      await runProgram('dist/src/cli.js', ['user', 'create', '--login-name', 'shared', '--password', password], {
        env,
        cwd,
      });
      const { body } = await post(one, '/login', login('shared'));
      const me = await fetch(`${two.url}/user/me`, { headers: { authorization: `Bearer ${body.data.access_token}` } });
      expect(me.status).toBe(200);
      expect(await readdir(join(cwd, 'data', 'secrets'))).toEqual(['data-encryption', 'jwt']);
      await Promise.all([one.kill(), two.kill()]);
    }
  });
});

describe('T254 W48 the time zone of a process or of the database', () => {
  it.each(['MariaDB', 'SQLite'])('changes no stored time (%s)', async (kind) => {
    const databases = MariaDbDatabases.shared();
    const url = kind === 'MariaDB' ? await databases.freshDatabase() : `sqlite:${join(directory, 'auth.sqlite')}`;
    const env = { ...testSettings, DATABASE_URL: url };
    const zones = ['Asia/Shanghai', 'America/New_York', 'UTC'];
    const services = await Promise.all(zones.map((TZ) => ServiceProcess.start({ env: { ...env, TZ } })));
    await givenUser('traveller', { DATABASE_URL: url, TZ: 'Pacific/Kiritimati' });

    for (const [n, service] of services.entries()) {
      const before = Date.now();
      const { body } = await post(service, '/login', login('traveller'));
      const after = Date.now();
      const [other, TZ = ''] = [services[(n + 1) % services.length], zones[(n + 1) % zones.length]];
      const shown = await cli(['user', 'show', 'traveller'], { DATABASE_URL: url, TZ });
      expect(new Date(shown.last_login_success_time as string).getTime()).toBeGreaterThanOrEqual(before);
      expect(new Date(shown.last_login_success_time as string).getTime()).toBeLessThanOrEqual(after);
      const me = await fetch(`${other?.url}/user/me`, {
        headers: { authorization: `Bearer ${body.data.access_token}` },
      });
      expect(me.status).toBe(200);
    }
    // The lock window is the same for all processes.
    for (const [n, service] of [...services, ...services].entries()) {
      const { body } = await post(service, '/login', login('traveller', 'wrong'));
      expect(body.error_code).toBe(n < 3 ? 'LOGIN_401001' : 'LOGIN_401004');
    }
    await Promise.all(services.map((service) => service.kill()));
    if (kind === 'MariaDB') {
      const connection = await createConnection({ uri: url, dateStrings: true });
      const [rows] = await connection.query(
        'SELECT TIMESTAMPDIFF(SECOND, created_at, expires) AS ttl, ABS(TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP())) AS age, token_type FROM login_tokens',
      );
      expect(rows).toHaveLength(6);
      for (const { ttl, age, token_type } of rows as { ttl: number; age: number; token_type: string }[]) {
        expect(ttl).toBe(token_type === 'access' ? 900 : 604_800);
        expect(age).toBeLessThan(1800);
      }
      await connection.end();
      await databases.drop(url);
    }
  });
});

/** A complete token, signed with the key of the tests. Only the database can show that it was never issued. */
async function foreignToken(): Promise<string> {
  const { SignJWT } = await import('jose');
  const id = '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab';
  return new SignJWT({ jti: id, sid: id, token_use: 'refresh', tenant_id: 'root', org_unit_id: null, amr: ['pwd'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(id)
    .setIssuer(testSettings.SYSTEM_URL)
    .setAudience('portal')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(testSettings.JWT_SECRET));
}
