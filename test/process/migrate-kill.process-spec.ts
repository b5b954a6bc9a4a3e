import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { migrate } from '../../src/platform/database/migrator';
import { runProgram } from '../support/run-program';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { StatementProxy } from '../support/servers/statement-proxy';
import { testSettings } from '../support/settings';
import { migrations } from '../../migrations/all';

const changes = /^\s*(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|COMMIT)/i;
const migrateCommand = (env: Record<string, string>, cwd = process.cwd()) =>
  runProgram('dist/src/cli.js', ['migrate', '--json'], { env: { ...testSettings, ...env }, cwd });

describe('migrate that is killed', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'migrate-kill-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('MariaDB: after SIGKILL at a statement of any kind the next run succeeds and makes the same schema', async () => {
    const databases = MariaDbDatabases.shared();
    const whole = await databases.freshDatabase();
    await migrate(whole);
    const expected = await schemaOf(whole);
    expect(expected.length).toBeGreaterThan(16);

    const rehearsal = await databases.freshDatabase();
    const sent = await killedAt(rehearsal);
    await databases.drop(rehearsal);
    const count = (pattern: RegExp) => sent.filter((statement) => pattern.test(statement)).length;
    expect(count(/^CREATE TABLE/)).toBe(expected.length - 1);
    expect(count(/^INSERT INTO .*`migrations`/)).toBe(migrations.length);
    const inTransaction = migrations.filter((Migration) => new Migration().transaction !== false);
    expect(count(/^COMMIT after/)).toBe(inTransaction.length);

    // Each run goes on where the one before was killed, up to its own place: the next statement that reads like it. So after each
    // kill a run succeeds beyond that place, and the schema shows at the end what all of them together have made.
    const url = await databases.freshDatabase();
    const places = chosen(sent);
    for (const place of places) expect((await killedAt(url, place)).at(-1)).toBe(place);
    expect(await migrate(url)).not.toEqual([]);
    expect(await schemaOf(url)).toEqual(expected);
    await databases.drop(url);
    for (const kind of [
      /^CREATE TABLE/,
      /^INSERT INTO .*`migrations`/,
      /^COMMIT after/,
      /^ALTER TABLE/,
      /INDEX/,
      /^UPDATE/,
    ]) {
      expect(places.some((place) => kind.test(place))).toBe(true);
    }
    await databases.drop(whole);
    // This time-out is for one run of the command per place.
  }, 1_200_000);

  it('SQLite: SIGKILL at any statement leaves no table, the next run goes on beyond it, and the last one completes', async () => {
    const preload = resolve(__dirname, '../support/kill-at-statement.mjs');
    const url = `sqlite:${join(directory, 'killed.sqlite')}`;
    const left = join(directory, 'left');
    let kills = 0;
    for (let at = 1, killed = true; killed; at += 50) {
      const { code, stderr } = await migrateCommand({
        DATABASE_URL: url,
        NODE_OPTIONS: `--import ${preload}`,
        KILL_AT_STATEMENT: `${at}`,
      });
      killed = code === null;
      if (!killed) expect({ at, code, stderr }).toEqual({ at, code: 0, stderr: '' });
      else {
        kills += 1;
        // Who reads the tables rolls back. The next run gets the files as the kill has left them.
        for (const name of await readdir(directory))
          if (name !== 'left') await cp(join(directory, name), join(left, name));
        expect({ at, tables: await sqliteTables(`sqlite:${join(left, 'killed.sqlite')}`) }).toEqual({ at, tables: [] });
        await rm(left, { recursive: true });
      }
    }
    expect(kills).toBeGreaterThan(3);
    expect(await sqliteTables(url)).toContain('users');
  });

  it.each(['MariaDB', 'SQLite'])(
    '%s: tables of another program with the same names are listed, nothing changes, and the exit code is 1 (T346)',
    async (kind) => {
      const databases = MariaDbDatabases.shared();
      const url = kind === 'MariaDB' ? await databases.freshDatabase() : `sqlite:${join(directory, 'foreign.sqlite')}`;
      const other = await new DataSource(
        url.startsWith('sqlite:') ? { type: 'better-sqlite3', database: url.slice(7) } : { type: 'mysql', url },
      ).initialize();
      for (const statement of [
        'CREATE TABLE users (id INTEGER, username VARCHAR(20))',
        'CREATE TABLE migrations (id INTEGER, migration VARCHAR(20))',
        'CREATE TABLE orders (id INTEGER)',
        'CREATE VIEW tenants AS SELECT id FROM orders',
      ]) {
        await other.query(statement);
      }
      const { code, stdout, stderr } = await migrateCommand({ DATABASE_URL: url });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining('migrations, tenants, users')]);
      const tables: { name: string }[] = await other.query(
        kind === 'MariaDB'
          ? 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY name'
          : "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name",
      );
      expect(tables.map(({ name }) => name)).toEqual(['migrations', 'orders', 'tenants', 'users']);
      expect(await other.query('SELECT * FROM migrations')).toEqual([]);
      await other.destroy();
      if (kind === 'MariaDB') await databases.drop(url);
    },
  );

  it('a service that migrates at its start logs foreign tables once, and does not become ready', async () => {
    const databases = MariaDbDatabases.shared();
    const url = await databases.freshDatabase();
    await databases.run(`CREATE TABLE \`${new URL(url).pathname.slice(1)}\`.users (id INTEGER)`);
    const env = { ...testSettings, DATABASE_URL: url, MIGRATE_ON_START: 'true' };
    const service = await ServiceProcess.start({ env, ready: '/health/live' });
    await service.line(/that this service did not make: users/);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
    await service.kill();
    expect(service.lines.filter((line) => line.includes('did not make'))).toHaveLength(1);
    await databases.drop(url);
  });

  /**
   * Runs the command, and kills it when the server has received the change at `place`. Without a place it runs to its end.
   * @returns the changes that the server has received
   */
  async function killedAt(url: string, place?: string): Promise<string[]> {
    const sent: string[] = [];
    let kill = () => undefined as void;
    const proxy = await StatementProxy.start(Number(new URL(url).port), (text) => {
      if (!changes.test(text) || (place !== undefined && sent.at(-1) === place)) return;
      sent.push(placeOf(text.trim(), sent.at(-1)));
      if (sent.at(-1) === place) kill();
    });
    const through = Object.assign(new URL(url), { port: `${proxy.port}` }).toString();
    const command = await ServiceProcess.start({
      script: 'dist/src/cli.js',
      args: ['migrate'],
      env: { ...testSettings, DATABASE_URL: through },
      ready: 'started',
    });
    kill = () => command.signal('SIGKILL');
    const { signal } = await command.exited;
    expect({ place, signal }).toEqual({ place, signal: place === undefined ? null : 'SIGKILL' });
    await command.kill();
    await proxy.stop();
    return sent;
  }
});

/** The statement without the name of its database. A commit is told from others by the change before it. */
const placeOf = (statement: string, before: string | undefined) =>
  (statement === 'COMMIT' ? `COMMIT after ${before}` : statement).replace(/`test_\w+`/, '`test`');

/**
 * The places to kill at: every third change of a table that exists and of its rows. Of the statements that look the same in
 * every migration (a new table, the row in `migrations`, the commit) every 24th one. `MIGRATE_KILLS=all` takes three times as many.
 */
function chosen(sent: readonly string[]): string[] {
  const alike = [/^CREATE TABLE/, /^INSERT INTO .*`migrations`/, /^COMMIT after/];
  const passed = new Map<RegExp | undefined, number>();
  return sent.filter((statement) => {
    const kind = alike.find((pattern) => pattern.test(statement));
    const before = passed.get(kind) ?? 0;
    passed.set(kind, before + 1);
    return before % ((kind === undefined ? 1 : 8) * (process.env.MIGRATE_KILLS === 'all' ? 1 : 3)) === 0;
  });
}

/** Returns the CREATE statement of each table, and then the rows that the migrations insert. */
async function schemaOf(url: string): Promise<string[]> {
  const connection = await createConnection(url);
  try {
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    const lines: string[] = [];
    for (const name of tables.flatMap((row) => Object.values(row) as string[])) {
      const [[row]] = await connection.query<RowDataPacket[]>(`SHOW CREATE TABLE \`${name}\``);
      lines.push(String(row?.['Create Table']).replace(/ AUTO_INCREMENT=\d+/, ''));
    }
    const [rows] = await connection.query<RowDataPacket[]>(
      'SELECT name FROM migrations UNION ALL SELECT CONCAT(id, name, created_at) FROM tenants',
    );
    return [...lines, JSON.stringify(rows)];
  } finally {
    await connection.end();
  }
}

async function sqliteTables(url: string): Promise<string[]> {
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: url.slice('sqlite:'.length),
  }).initialize();
  try {
    const rows: { name: string }[] = await dataSource.query('SELECT name FROM sqlite_master');
    return rows.map(({ name }) => name);
  } finally {
    await dataSource.destroy();
  }
}
