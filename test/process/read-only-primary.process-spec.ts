import { post } from '../support/post';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDb } from '../support/servers/mariadb';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, patientDatabase, testSettings } from '../support/settings';

/** Starts a private MariaDB server, because `read_only` is a setting of the whole server. */
describe('a read-only database', () => {
  let mariadb: MariaDb;
  let server: MariaDbDatabases;
  let adminUrl: string;
  const urlOf = (account: string) => {
    const url = Object.assign(new URL(adminUrl), { username: account, password: 'account-password' });
    return url.toString();
  };
  const cli = (args: string[], DATABASE_URL: string, more: Record<string, string> = {}) =>
    runProgram('dist/src/cli.js', args, { env: { ...testSettings, DATABASE_URL, ...more }, cwd: process.cwd() });
  const doctor = async (url: string, more: Record<string, string> = {}) => {
    const { code, stdout } = await cli(['doctor', '--json'], url, more);
    const findings = JSON.parse(stdout) as { check: string; status: string; text: string }[];
    return { code, of: Object.fromEntries(findings.map(({ check, status, text }) => [check, `${status}: ${text}`])) };
  };

  beforeAll(async () => {
    mariadb = await MariaDb.start();
    server = new MariaDbDatabases(mariadb.url);
    adminUrl = await mariadb.freshDatabase();
    const name = new URL(adminUrl).pathname.slice(1);
    for (const [account, rights] of [
      ['service', 'SELECT, INSERT, UPDATE, DELETE'],
      ['reader', 'SELECT'],
    ]) {
      await server.run(`CREATE USER ${account}@'%' IDENTIFIED BY 'account-password'`);
      await server.run(`GRANT ${rights} ON \`${name}\`.* TO ${account}@'%'`);
    }
    expect((await cli(['migrate'], adminUrl)).code).toBe(0);
    const create = ['user', 'create', '--login-name', 'writer', '--password', password];
    expect((await cli(create, adminUrl)).code).toBe(0);
  });
  afterAll(() => mariadb.stop());
  afterEach(() => server.run('SET GLOBAL read_only = 0'));

  it('doctor: the documented rights are enough, and the write check leaves no row', async () => {
    const { code, of } = await doctor(urlOf('service'));
    expect(of.writes).toBe('ok: insert, update and delete, rolled back');
    expect(code).toBe(0);
    // A migration has written the row of the kind `tokens`.
    const written = `SELECT kind FROM \`${new URL(adminUrl).pathname.slice(1)}\`.cooldowns WHERE kind <> 'tokens'`;
    expect(await server.run(written)).toEqual([]);
  });

  it('doctor: an account that may only read is a problem', async () => {
    const { code, of } = await doctor(urlOf('reader'));
    expect(of.database).toMatch(/^ok/);
    expect(of.writes).toBe(
      'problem: the database does not grant UPDATE on cooldowns to the account of DATABASE_URL (ER_TABLEACCESS_DENIED_ERROR)',
    );
    expect(code).toBe(1);
  });

  it('an account that lacks a privilege: commands name it, readiness is 503, and the log says so once', async () => {
    const privilege = /the database does not grant INSERT on \w+ to the account of DATABASE_URL/;
    const { code, stderr } = await cli(
      ['user', 'create', '--login-name', 'refused', '--password', password],
      urlOf('reader'),
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(privilege) });
    const service = await ServiceProcess.start({
      env: { ...testSettings, ...patientDatabase, DATABASE_URL: urlOf('reader'), MIGRATE_ON_START: 'false' },
      ready: '/health/live',
    });
    for (let n = 0; n < 3; n++) {
      const response = await fetch(`${service.url}/health/ready`);
      expect([response.status, await response.json()]).toEqual([
        503,
        { status: 'unavailable', database: 'missing privilege' },
      ]);
    }
    await service.stop();
    const said = service.lines.filter((line) => line.includes('lacks a privilege'));
    expect(said).toEqual([expect.stringContaining('UPDATE on cooldowns')]);
    expect(service.lines.filter((line) => line.includes('the database is away'))).toEqual([]);
  });

  it.each(['service', 'administrator'])(
    'doctor: a read-only primary is a problem, for the %s account',
    async (account) => {
      await server.run('SET GLOBAL read_only = 1');
      const { code, of } = await doctor(account === 'service' ? urlOf(account) : adminUrl);
      expect(of.writes).toBe('problem: the database is read-only');
      expect(code).toBe(1);
    },
  );

  it.each(['service', 'administrator'])(
    'readiness is 503 while the primary is read-only, each change is logged once, and no restart is needed (%s account) (T240)',
    async (account) => {
      const DATABASE_URL = account === 'service' ? urlOf(account) : adminUrl;
      const service = await ServiceProcess.start({
        env: { ...testSettings, ...patientDatabase, DATABASE_URL, MIGRATE_ON_START: 'false' },
      });
      const ready = async () => {
        const response = await fetch(`${service.url}/health/ready`);
        return `${response.status} ${((await response.json()) as { database: string }).database}`;
      };
      const login = () => post(service, '/login', { username: 'writer', password, captcha_token: captchaToken });
      expect(await ready()).toBe('200 ok');
      await server.run('SET GLOBAL read_only = 1');
      await eventually(async () => (await ready()) === '503 read only', { what: 'readiness 503' });
      for (let n = 0; n < 3; n++) await ready();
      if (account === 'service') {
        expect(await login()).toMatchObject({ status: 503, body: { error_code: 'COMMON_503001' } });
      }
      await server.run('SET GLOBAL read_only = 0');
      await eventually(async () => (await ready()) === '200 ok', { what: 'readiness 200' });
      expect((await login()).status).toBe(200);
      // A process that is asked to end writes its last lines. A killed one may lose them.
      await service.stop();
      expect(service.lines.filter((line) => line.includes('the database is read-only'))).toHaveLength(1);
      expect(service.lines.filter((line) => line.includes('the database takes writes again'))).toHaveLength(1);
      expect(service.lines.filter((line) => line.includes('the database is away'))).toEqual([]);
    },
  );

  // docs/operations/scale.md: read replicas answer checks.
  it('checks of tokens go on while the server is read-only, and end with the session', async () => {
    const DATABASE_URL = urlOf('service');
    const { stdout } = await cli(['client', 'create', 'invoices', '--json'], adminUrl);
    const client = JSON.parse(stdout) as { id: string; secret: string };
    const service = await ServiceProcess.start({
      env: { ...testSettings, ...patientDatabase, DATABASE_URL, MIGRATE_ON_START: 'false' },
    });
    const { body } = await post(service, '/login', { username: 'writer', password, captcha_token: captchaToken });
    const token = body.data.access_token as string;
    const active = async () => {
      const response = await fetch(`${service.url}/introspect`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` },
        body: new URLSearchParams({ token }),
      });
      return `${response.status} ${((await response.json()) as { active: boolean }).active}`;
    };
    const headers = { authorization: `Bearer ${token}` };

    await server.run('SET GLOBAL read_only = 1');
    expect(await active()).toBe('200 true');
    expect((await fetch(`${service.url}/user/me`, { headers })).status).toBe(200);
    expect((await post(service, '/refresh', {}, { authorization: `Bearer ${body.data.refresh_token}` })).status).toBe(
      503,
    );
    // On a replica this change would arrive by replication.
    const name = new URL(adminUrl).pathname.slice(1);
    await server.run(`UPDATE \`${name}\`.login_tokens SET is_revoked = 1`);
    expect(await active()).toBe('200 false');
    await service.kill();
  });
});
