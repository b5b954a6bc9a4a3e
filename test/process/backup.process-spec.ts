import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createConnection, type Connection } from 'mysql2/promise';
import { migrations } from '../../migrations/all';
import { read, renderedExample } from '../support/manifests';
import { runProgram } from '../support/run-program';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { inPrivateDirectory, removeDirectory } from '../support/servers/private-directory';
import { runCommand } from '../support/servers/run-command';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, testSettings } from '../support/settings';

const platform = renderedExample('platform');
const named = (kind: string, name: string): any =>
  platform.find((one) => one.kind === kind && one.metadata.name === name);
const podOf = (job: string): any =>
  named('CronJob', `portal-authentication-${job}`).spec.jobTemplate.spec.template.spec;

/** The CronJobs of components/backup, as kustomize renders them: their commands, scripts, settings and user, with other folders. */
describe('the backup in the cluster', () => {
  let directory: string;
  let databaseUrl: string;
  let account: string;
  let sql: Connection;
  const at = (...path: string[]) => join(directory, ...path);
  const name = () => new URL(databaseUrl).pathname.slice(1);

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    directory = await inPrivateDirectory('backup', (path) => Promise.resolve(path));
    await chmod(directory, 0o755);
    for (const folder of ['scripts', 'account', 'backups', 'scratch', 'bin']) await mkdir(at(folder));
    const { configMap } = podOf('backup').volumes.find((one: any) => one.name === 'scripts');
    for (const [file, text] of Object.entries<string>(named('ConfigMap', configMap.name as string).data))
      await writeFile(at('scripts', file), text, { mode: 0o644 });
    // The privileges that the page gives to the account.
    const [, privileges] = /GRANT ([A-Z, ]+) ON portal\.\* TO/.exec(read('docs/operations/backup.md'))!;
    account = `dump_${name().slice(-8)}`;
    await MariaDbDatabases.shared().run(`CREATE USER '${account}'@'%' IDENTIFIED BY 'dump'`);
    await MariaDbDatabases.shared().run(`GRANT ${privileges} ON \`${name()}\`.* TO '${account}'@'%'`);
    const { hostname, port, username, password: secret } = new URL(databaseUrl);
    const client = (user: string, typed: string) =>
      `[client]\nprotocol=tcp\nhost=${hostname}\nport=${port}\nuser=${user}\npassword=${typed}\n`;
    await writeFile(at('account/client.cnf'), client(account, 'dump'));
    await writeFile(at('restore.cnf'), client(username, decodeURIComponent(secret)));
    if (process.getuid?.() === 0)
      for (const folder of ['account', 'account/client.cnf', 'backups', 'scratch'])
        await chown(at(folder), 10001, 10001);
    const user = ['--login-name', 'alice', '--email', 'alice@example.com', '--password', password];
    expect((await command('user', 'create', ...user)).code).toBe(0);
    sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
  });
  afterAll(async () => {
    await sql?.end();
    await MariaDbDatabases.shared().run(`DROP USER IF EXISTS '${account}'@'%'`);
    await MariaDbDatabases.shared().drop(databaseUrl);
    await removeDirectory(directory);
  });
  beforeEach(async () => {
    for (const folder of ['backups', 'scratch'])
      for (const one of await readdir(at(folder))) await rm(at(folder, one), { recursive: true });
  });

  const command = (...args: string[]) =>
    runProgram('dist/src/cli.js', args, { env: { ...testSettings, DATABASE_URL: databaseUrl }, cwd: directory });

  /** Runs the container of a CronJob: as its user, with nothing but its environment. */
  async function run(job: 'backup' | 'restore-test', settings: Record<string, string> = {}): Promise<string> {
    const { containers, securityContext } = podOf(job);
    const [{ command, env }] = containers;
    const places: Record<string, string> = {
      BACKUP_ACCOUNT: at('account/client.cnf'),
      BACKUP_DATABASE: name(),
      BACKUP_DIRECTORY: at('backups'),
      SCRATCH_DIRECTORY: at('scratch'),
    };
    const variables = Object.fromEntries(env.map((one: any) => [one.name, places[one.name] ?? one.value]));
    const path = `${at('bin')}:${process.env.PATH}:/usr/sbin`;
    const assigned = Object.entries({ PATH: path, ...variables, ...settings }).map((pair) => pair.join('='));
    const { runAsUser, runAsGroup } = securityContext;
    const user = ['setpriv', `--reuid=${runAsUser}`, `--regid=${runAsGroup}`, '--clear-groups'];
    const [shell, script] = command as [string, string];
    const program = [shell, script.replace('/scripts', at('scripts'))];
    return runCommand('env', ['-i', ...assigned, ...(process.getuid?.() === 0 ? user : []), ...program]);
  }

  const dumps = async () => (await readdir(at('backups'))).filter((file) => file.endsWith('.sql.gz')).sort();
  /** A backup of a moment with any content, as the script names it. */
  async function givenBackup(made: Date, content = gzipSync('old')): Promise<string> {
    const file = `portal-${made.toISOString().replace(/[-:]|\.\d+/g, '')}.sql.gz`;
    await writeFile(at('backups', file), content);
    const checksum = createHash('sha256').update(content).digest('hex');
    await writeFile(at('backups', `${file}.sha256`), `${checksum}  ${file}\n`);
    return file;
  }
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const givenDump = (script: string) => writeFile(at('bin/mariadb-dump'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  const tables = async () => {
    const [rows] = await sql.query('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?', [
      name(),
    ]);
    return (rows as { name: string }[]).map((row) => row.name).sort();
  };
  const checksums = async () => (await sql.query(`CHECKSUM TABLE ${(await tables()).join(', ')}`))[0];

  it('a lost database is back from the dump, with every row of every table, and its user signs in', async () => {
    const before = await checksums();
    await run('backup');
    const [dump] = await dumps();
    await sql.query(`DROP DATABASE \`${name()}\``);
    await sql.query(`CREATE DATABASE \`${name()}\` CHARACTER SET utf8mb4`);
    await sql.query(`USE \`${name()}\``);
    const load = `set -eo pipefail; gzip -dc "$1" | mariadb --defaults-extra-file="$2" "$3"`;
    await runCommand('bash', ['-c', load, 'bash', at('backups', dump!), at('restore.cnf'), name()]);
    expect(await checksums()).toEqual(before);

    expect((await command('migrate')).code).toBe(0);
    const service = await ServiceProcess.start({ env: { ...testSettings, DATABASE_URL: databaseUrl } });
    const response = await fetch(`${service.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'alice', password, captcha_token: captchaToken }),
    });
    expect(response.status).toBe(200);
    await service.stop();
  });

  it('the restore test loads the newest backup into a server of its own, and says what is in it', async () => {
    await givenBackup(hoursAgo(20));
    await run('backup');
    const [, newest] = await dumps();
    const output = await run('restore-test');
    const content = `${(await tables()).length} tables, ${migrations.length} migrations, 1 users`;
    expect(output).toMatch(new RegExp(`^${newest}: restored in \\d+ s; ${content}$`, 'm'));
    // Nothing was written beside the backups.
    expect(await readdir(at('backups'))).toHaveLength(4);
  });

  it('the restore test fails when there is no backup, and when the newest is too old, damaged, or of another program', async () => {
    await expect(run('restore-test')).rejects.toThrow('there is no backup');
    await givenBackup(hoursAgo(30));
    await expect(run('restore-test')).rejects.toThrow('is 30 hours old');
    const damaged = await givenBackup(hoursAgo(2));
    await writeFile(at('backups', damaged), gzipSync('changed'));
    await expect(run('restore-test')).rejects.toThrow(`${damaged} is not what was written`);
    await givenBackup(hoursAgo(1), gzipSync('CREATE TABLE others (id INT);'));
    await expect(run('restore-test')).rejects.toThrow(/migrations' doesn't exist/);
  });

  it.each([
    ['that fails in the middle', 'echo "-- the beginning"; exit 2'],
    ['that ends early and does not say so', 'echo "-- the beginning"'],
  ])('a dump %s is no backup, and the ones before stay', async (_, script) => {
    await givenBackup(hoursAgo(24));
    const before = (await readdir(at('backups'))).sort();
    await givenDump(script);
    try {
      await expect(run('backup', { BACKUP_KEEP: '1' })).rejects.toThrow('env ended with');
    } finally {
      await rm(at('bin/mariadb-dump'));
    }
    expect((await readdir(at('backups'))).sort()).toEqual(before);
  });

  it('keeps as many as the setting says, each with its checksum, and removes what a killed pod has left', async () => {
    const older: string[] = [];
    for (const hours of [96, 72, 48, 24]) older.push(await givenBackup(hoursAgo(hours)));
    await writeFile(at('backups/.portal-20260101T000000Z.sql.gz.part'), 'half');
    await run('backup', { BACKUP_KEEP: '3' });
    const kept = await dumps();
    expect(kept).toEqual([...older.slice(-2), kept.at(-1)]);
    const files = kept.flatMap((file) => [file, `${file}.sha256`]);
    expect((await readdir(at('backups'))).sort()).toEqual(files.sort());
    await expect(run('backup', { BACKUP_KEEP: '0' })).rejects.toThrow('BACKUP_KEEP must be a number from 1 on');
  });

  it('a dump never becomes readable for other users of the volume', async () => {
    await run('backup');
    const [dump] = await dumps();
    const modes = await runCommand('stat', ['--format=%a', at('backups', dump!), at('backups', `${dump}.sha256`)]);
    expect(modes).toBe('600\n600\n');
    expect((await readFile(at('backups', dump!))).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });
});
