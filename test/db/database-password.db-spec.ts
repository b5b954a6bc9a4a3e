import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../support/app';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { RunningClock } from '../support/fakes';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

/** The password of the account of the service is changed while it runs (docs/operations/keys.md). SQLite has none. */
(__DATABASE__ === 'mariadb' ? describe : describe.skip)('a database password that is changed during traffic', () => {
  let databases: MariaDbDatabases;
  let store: TestDatabase;
  let directory: string;
  let service: TestService | undefined;
  let accounts: string[];
  let file: string;

  beforeAll(() => {
    databases = MariaDbDatabases.shared();
  });
  beforeEach(async () => {
    store = await migratedDatabase();
    directory = await mkdtemp(join(tmpdir(), 'database-password-'));
    file = join(directory, 'url');
    accounts = [];
  });
  afterEach(async () => {
    await service?.stop({ keepStore: true });
    service = undefined;
    for (const account of accounts) await databases.run(`DROP USER IF EXISTS ${account}@'%'`);
    await store.drop();
    await rm(directory, { recursive: true });
  });

  const account = async (name: string): Promise<string> => {
    const full = `${name}_${process.pid}`;
    accounts.push(full);
    await databases.run(`CREATE OR REPLACE USER ${full}@'%' IDENTIFIED BY 'first-canary'`);
    await databases.run(`GRANT ALL ON \`${new URL(store.url).pathname.slice(1)}\`.* TO ${full}@'%'`);
    return full;
  };
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(store.url), { username, password }).toString();
  /** As a tool that mounts secrets does: the new file replaces the old one at once. */
  const rotate = async (url: string) => {
    await writeFile(`${file}.new`, `${url}\n`);
    await rename(`${file}.new`, file);
  };
  const start = async (settings: Record<string, string>) => {
    const clock = new RunningClock();
    service = await TestService.start({ DATABASE_POOL_SIZE: '4', ...settings }, { store, clock });
    return service;
  };
  const ready = async () => {
    const { status, body } = await service!.get('/health/ready');
    return `${status} ${body.database}`;
  };
  /** More statements at once than the pool has idle connections, so that it opens new ones. */
  const burst = async () => {
    const work = () => service!.database.rows('SELECT SLEEP(0.2) AS s');
    const results = await Promise.allSettled(Array.from({ length: 4 }, work));
    return results.filter(({ status }) => status === 'rejected').length;
  };
  /** Ends all connections of the account but one, so that the pool has to open new ones. */
  const endIdle = async (name: string) => {
    const rows = (await databases.run(
      `SELECT id FROM information_schema.PROCESSLIST WHERE USER = '${name}' AND COMMAND = 'Sleep'`,
    )) as { id: number }[];
    for (const { id } of rows.slice(1)) await databases.run(`KILL ${id}`).catch(() => undefined);
  };
  const said = (text: string) => service!.logLines.filter(({ msg }) => String(msg).startsWith(text)).length;

  it('readiness turns red without any request, because the next connection would be refused, and green again', async () => {
    const name = await account('unmounted');
    await start({ DATABASE_URL: urlOf(name, 'first-canary') });
    expect(await ready()).toBe('200 ok');
    await databases.run(`ALTER USER ${name}@'%' IDENTIFIED BY 'second-canary'`);
    // The connections of the pool live on, so nothing else shows it. The service looks every ten seconds.
    await eventually(async () => (await ready()) === '503 refuses connections', { what: 'readiness is red' });
    expect(await service!.database.rows('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    for (let n = 0; n < 3; n++) await ready();
    expect(said('the database refuses new connections')).toBe(1);
    await databases.run(`ALTER USER ${name}@'%' IDENTIFIED BY 'first-canary'`);
    await eventually(async () => (await ready()) === '200 ok', { what: 'readiness is green again' });
    expect(said('the database accepts new connections again')).toBe(1);
    expect(said('the database is away')).toBe(0);
  });

  it('with DATABASE_URL_FILE, a file that was changed before the database heals the service without one refusal', async () => {
    const name = await account('rotated');
    await rotate(urlOf(name, 'first-canary'));
    await start({ DATABASE_URL: '', DATABASE_URL_FILE: file });
    expect(await burst()).toBe(0);
    await rotate(urlOf(name, 'second-canary'));
    await databases.run(`ALTER USER ${name}@'%' IDENTIFIED BY 'second-canary'`);
    for (let n = 0; n < 3; n++) {
      await endIdle(name);
      // A connection that was killed may be found broken. Refused passwords are not among the errors.
      await burst();
    }
    expect(await burst()).toBe(0);
    expect(await ready()).toBe('200 ok');
    expect(said('the file of DATABASE_URL has changed')).toBe(1);
    expect(said('the database refuses new connections')).toBe(0);
  });

  it('a file that comes after the database changed heals readiness and requests, also with a second account', async () => {
    const [one, two] = [await account('one'), await account('two')];
    await rotate(urlOf(one, 'first-canary'));
    await start({ DATABASE_URL: '', DATABASE_URL_FILE: file });
    expect(await ready()).toBe('200 ok');
    await databases.run(`ALTER USER ${one}@'%' ACCOUNT LOCK`);
    await eventually(async () => (await ready()) === '503 refuses connections', { what: 'readiness is red' });
    // Half a file is no URL, and another server would have other rows.
    await rotate('mysql://');
    expect(await ready()).toBe('503 refuses connections');
    await rotate(Object.assign(new URL(urlOf(two, 'first-canary')), { port: '1' }).toString());
    const read = async () => {
      expect(await ready()).toBe('503 refuses connections');
      return said('the file of DATABASE_URL names another server') > 0;
    };
    await eventually(read, { what: 'the file was read' });
    await rotate(urlOf(two, 'first-canary'));
    await eventually(async () => (await ready()) === '200 ok', { what: 'readiness is green again' });
    expect(await burst()).toBe(0);
    const rows = await databases.run(`SELECT id FROM information_schema.PROCESSLIST WHERE USER = '${two}'`);
    expect((rows as unknown[]).length).toBeGreaterThan(0);
  });

  it('a service that starts with a refused password becomes ready when the file has the right one', async () => {
    const name = await account('late');
    await rotate(urlOf(name, 'wrong-canary'));
    await start({ DATABASE_URL: '', DATABASE_URL_FILE: file });
    expect(await ready()).toBe('503 refuses connections');
    await rotate(urlOf(name, 'first-canary'));
    await eventually(async () => (await ready()) === '200 ok', { what: 'readiness is green' });
    expect(JSON.stringify(service!.logLines)).not.toMatch(/canary/);
  });
});
