import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { formerRelease } from '../../migrations/releases';
import { newMigrations, releasedMigrations, runWatched } from '../support/migration-law/law';
import { fillTables } from '../support/migration-law/filled';
import { runProgram } from '../support/run-program';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { dataKey, testSettings } from '../support/settings';

/** At the recorded speed, a copy of so many rows takes longer than a login may wait. */
const users = 25_000;

/** On the schema of version 1.0.0. `process/ops-versions` asks on that of the version before, and its replicas too. */
describe('upgrade --check', () => {
  const databases = MariaDbDatabases.shared();
  let directory: string;
  let url: string;
  let sql: Connection;
  let metrics: Server;
  let runs = '1.0.0';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'upgrade-check-'));
    url = await databases.freshDatabase();
    await runWatched(url, releasedMigrations, () => undefined);
    sql = await createConnection({ uri: url, timezone: 'Z' });
    await fillTables(sql, { users, logs: 300 });
    await sql.query('ANALYZE TABLE users');
    metrics = createServer((_, response) => response.end(`auth_build_info{version="${runs}",node="v24"} 1\n`));
    await new Promise<void>((done) => metrics.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    metrics.close();
    await sql.end();
    await databases.drop(url);
    await rm(directory, { recursive: true, force: true });
  });

  async function check(env: Record<string, string> = {}, ...args: string[]) {
    const settings = { ...testSettings, DATABASE_URL: url, TOKEN_BINDING: 'off', ...env };
    const ended = await runProgram('dist/src/cli.js', ['upgrade', '--check', ...args], {
      env: settings,
      cwd: directory,
    });
    const report = args.includes('--json') && ended.stdout !== '' ? JSON.parse(ended.stdout) : undefined;
    return { ...ended, report };
  }
  const replica = () => `http://127.0.0.1:${(metrics.address() as AddressInfo).port}`;

  /** All definitions and rows, and the schemas of the server. */
  async function everything(): Promise<unknown> {
    const [tables] = await sql.query<RowDataPacket[]>('SHOW TABLES');
    const names = tables.flatMap((row) => Object.values(row) as string[]);
    const definitions = [];
    for (const name of names) definitions.push((await sql.query<RowDataPacket[]>(`SHOW CREATE TABLE \`${name}\``))[0]);
    const [sums] = await sql.query(`CHECKSUM TABLE ${names.map((name) => `\`${name}\``).join(', ')}`);
    return { definitions, sums, scratch: (await sql.query("SHOW DATABASES LIKE 'upgrade\\_check\\_%'"))[0] };
  }

  it('says go, names the kind of each migration as this server has tried it, and changes nothing', async () => {
    const before = await everything();
    const { code, report, stderr } = await check({}, '--json', '--replica', replica());
    expect({ code, stderr, verdict: report.verdict, schema: report.schema }).toEqual({
      ...{ code: 0, stderr: '', verdict: 'go', schema: '1.0.0' },
    });
    expect(report.replicas).toEqual([{ url: replica(), version: '1.0.0' }]);
    const kinds = Object.fromEntries(report.migrations.map((one: any) => [one.name, `${one.kind}, ${one.judged}`]));
    expect(Object.keys(kinds)).toEqual(newMigrations.map((one) => new one().name));
    expect(kinds).toMatchObject({
      NicknameKey1766900000000: 'rows, tried',
      LogRequestIds1767400000000: 'online, tried',
      UserRoles1769700000000: 'instant, tried',
    });
    const words = report.migrations.find((one: any) => one.name.startsWith('UserWords'));
    expect(words.seconds).toBeGreaterThan(0);
    expect(words.changes).toContainEqual(expect.objectContaining({ table: 'users', kind: 'online', blocks: false }));
    expect(await everything()).toEqual(before);
  });

  it('an account that may only read gets the same answer from the record', async () => {
    const name = new URL(url).pathname.slice(1);
    await databases.run(`CREATE OR REPLACE USER reader@'%' IDENTIFIED BY 'reads'`);
    await databases.run(`GRANT SELECT ON ${name}.* TO reader@'%'`);
    const reader = Object.assign(new URL(url), { username: 'reader', password: 'reads' }).toString();
    const { code, report } = await check({ DATABASE_URL: reader }, '--json');
    await databases.run(`DROP USER reader@'%'`);
    expect(code).toBe(0);
    const kinds = Object.fromEntries(report.migrations.map((one: any) => [one.name, `${one.kind}, ${one.judged}`]));
    expect(kinds).toMatchObject({
      NicknameKey1766900000000: 'rows, recorded',
      UserRoles1769700000000: 'instant, recorded',
    });
  });

  it('a copy of a large table that holds up logins is a no', async () => {
    // As in a build of this service before its release: each column that is added copies the table.
    await sql.query('ALTER TABLE users ADD COLUMN folded varchar(255) GENERATED ALWAYS AS (LOWER(email)) VIRTUAL');
    await sql.query('CREATE INDEX ix_folded ON users (folded)');
    // The record does not know of it.
    expect((await check({}, '--no-scratch')).code).toBe(0);
    const { code, stdout, stderr } = await check();
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'no: migrations\n' });
    expect(stdout).toMatch(
      /^migrations +no +UserLanguage1768000000000: rebuild users \([\d,]+ rows, some [23] s\): logins wait meanwhile$/m,
    );
    await sql.query('ALTER TABLE users DROP COLUMN folded');
  });

  it('refused settings are named without their values, and the rest is asked all the same', async () => {
    const { code, report } = await check(
      { JWT_SECRET: 'short-secret', ACCESS_TOKEN_TTL_SECONDS: 'long' },
      '--json',
      '--no-scratch',
    );
    expect(code).toBe(1);
    const refused = report.findings.filter((one: any) => one.check === 'settings' && one.status === 'no');
    expect(refused.map(({ text }: any) => text.split(' ')[0]).sort()).toEqual([
      'ACCESS_TOKEN_TTL_SECONDS',
      'JWT_SECRET',
    ]);
    expect(report.migrations).toHaveLength(newMigrations.length);
    expect(JSON.stringify(report)).not.toContain('short-secret');
  });

  it('says which settings end sessions: bound tokens beside 1.0.0, and another secret', async () => {
    const former = join(directory, 'former.env');
    const secret = createHash('sha512').update('former').digest('base64');
    const lines = {
      JWT_SECRET: secret,
      DATA_ENCRYPTION_KEY: dataKey(7),
      JWT_AUDIENCE: 'elsewhere',
      SYSTEM_URL: 'https://former.example.com',
    };
    await writeFile(
      former,
      Object.entries(lines)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    );
    const { code, report, stderr } = await check(
      { TOKEN_BINDING: 'optional' },
      '--json',
      '--no-scratch',
      '--former-settings',
      former,
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'no: sessions\n' });
    const told = report.findings
      .filter((one: any) => one.status === 'no')
      .map(({ text }: any) => text.split(' ', 4).join(' '));
    expect(told.sort()).toEqual(
      [
        'the key that signs',
        'JWT_ISSUER (or SYSTEM_URL) has',
        'JWT_AUDIENCE has changed: every',
        'TOKEN_BINDING is not off:',
      ].sort(),
    );
    expect(JSON.stringify(report)).not.toContain(secret);
    expect(report.sessions).toBe(users);
  });

  it('beside the version before, whose settings this one shares, and on its schema: go, and only the migrations since', async () => {
    const file = join(directory, 'former.sqlite');
    const last = newMigrations.findIndex((one) => one.name === formerRelease.lastMigration) + 1;
    await runWatched(`sqlite:${file}`, [...releasedMigrations, ...newMigrations.slice(0, last)], () => undefined);
    runs = formerRelease.version;
    const settings = { DATABASE_URL: `sqlite:${file}`, TOKEN_BINDING: 'optional' };
    const { code, report } = await check(settings, '--json', '--replica', replica());
    expect({ code, schema: report.schema, former: report.former_version, replicas: report.replicas }).toEqual({
      ...{ code: 0, schema: formerRelease.version, former: formerRelease.version },
      replicas: [{ url: replica(), version: formerRelease.version }],
    });
    const names = report.migrations.map((one: any) => one.name as string);
    expect(names).toEqual(newMigrations.slice(last).map((one) => new one().name));
  });

  it.each([
    ['an older replica', () => ((runs = '0.9.0'), [{}, replica()] as const), 1, 'no: replicas'],
    ['a replica that does not answer', () => [{}, 'http://127.0.0.1:1'] as const, 2, 'could not be asked: replicas'],
    [
      'a database that is away',
      () => [{ DATABASE_URL: 'mysql://a:b@127.0.0.1:1/c' }, replica()] as const,
      2,
      'could not be asked: database',
    ],
  ])('%s', async (_, given, expected, line) => {
    runs = '1.0.0';
    const [env, address] = given();
    const { code, stderr } = await check(env, '--no-scratch', '--replica', address);
    expect({ code, stderr }).toEqual({ code: expected, stderr: `${line}\n` });
  });

  it('SQLite: tries the migrations in memory, and leaves each byte of the file', async () => {
    const file = join(directory, 'auth.sqlite');
    expect((await check({ DATABASE_URL: `sqlite:${file}` })).code).toBe(0);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
    await runWatched(`sqlite:${file}`, releasedMigrations, () => undefined);
    const before = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    const { code, report } = await check({ DATABASE_URL: `sqlite:${file}` }, '--json');
    expect(code).toBe(0);
    const kinds = Object.fromEntries(report.migrations.map((one: any) => [one.name, `${one.kind}, ${one.judged}`]));
    expect(kinds).toMatchObject({
      UserRoles1769700000000: 'instant, tried',
      LogRequestIds1767400000000: 'exclusive, tried',
    });
    expect(
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ).toBe(before);
  });
});
