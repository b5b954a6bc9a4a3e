import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { eventually } from '../support/servers/eventually';
import { FirstProcess } from '../support/servers/first-process';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { runProgram } from '../support/run-program';
import { patientDatabase, testSettings } from '../support/settings';

const codes = { SIGTERM: 143, SIGINT: 130 } as const;
const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * In a container the program is process 1, and the kernel ignores a signal that process 1 does not listen for. Each test
 * waits for the exit with no time limit except that of jest.
 */
describe(`the first process of a container${FirstProcess.isFirst ? '' : ' (no PID namespace here: shown by the exit code)'}`, () => {
  let directory: string;
  const started: FirstProcess[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signals-'));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.kill()));
    await rm(directory, { recursive: true, force: true });
  });

  async function start(script: 'dist/src/main.js' | 'dist/src/cli.js', args: string[], env: Record<string, string>) {
    const process = await FirstProcess.start(script, args, {
      env: { ...testSettings, ...patientDatabase, ...env },
      cwd: directory,
    });
    started.push(process);
    return process;
  }
  const ended = (signal: keyof typeof codes) => ({ code: codes[signal], signal: null });

  it.each(['dist/src/main.js', 'dist/src/cli.js'])(
    '%s listens for signals before it loads other modules',
    async (script) => {
      const text = await readFile(script, 'utf8');
      expect(text.indexOf('process.on(')).toBeGreaterThan(-1);
      expect(text.indexOf('process.on(')).toBeLessThan(text.search(/require\("\.\/bundle/));
    },
  );

  describe('while another session locks a table, so that no statement is answered', () => {
    let databaseUrl: string;
    let holder: Connection;
    beforeAll(async () => {
      databaseUrl = await MariaDbDatabases.shared().freshDatabase();
      holder = await createConnection({ uri: databaseUrl });
      await holder.query('CREATE TABLE migrations (id INT AUTO_INCREMENT PRIMARY KEY, timestamp BIGINT, name TEXT)');
      await holder.query('LOCK TABLES migrations WRITE');
    });
    afterAll(async () => {
      await holder.end();
      await MariaDbDatabases.shared().drop(databaseUrl);
    });

    const blocked = () =>
      eventually(
        async () => {
          const [rows] = await holder.query(
            "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE 'Waiting for table%'",
          );
          return (rows as unknown[]).length > 0;
        },
        { what: 'a statement waits for the table' },
      );
    const released = () =>
      eventually(
        async () => {
          const [rows] = await holder.query(
            'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
          );
          for (const { id } of rows as { id: number }[]) await holder.query(`KILL ${id}`).catch(() => undefined);
          return (rows as unknown[]).length === 0;
        },
        { what: 'nobody else is connected' },
      );
    afterEach(released);

    it.each(signals)('the service ends on %s before it listens, and logs the signal once', async (signal) => {
      const env = { DATABASE_URL: databaseUrl, MIGRATE_ON_START: 'true', PORT: `${await freePort()}` };
      const service = await start('dist/src/main.js', [], env);
      await blocked();
      service.signal(signal);
      expect(await service.exited).toEqual(ended(signal));
      expect(service.lines.filter((line) => line.includes('"msg":"listening"'))).toEqual([]);
      expect(service.lines.filter((line) => line.includes(`"signal":"${signal}"`))).toHaveLength(1);
    });

    it.each(signals)('a command ends on %s', async (signal) => {
      const command = await start('dist/src/cli.js', ['migrate'], { DATABASE_URL: databaseUrl });
      await blocked();
      command.signal(signal);
      expect(await command.exited).toEqual(ended(signal));
    });
  });

  it.each(signals)('a command that connects to a database which does not answer ends on %s', async (signal) => {
    let silent: Server | undefined;
    try {
      const connected = new Promise<number>((port, failed) => {
        silent = createServer(() => void command.then((process) => process.signal(signal), failed));
        silent.on('error', failed).listen(0, '127.0.0.1', () => port((silent?.address() as { port: number }).port));
      });
      const command = connected.then((port) =>
        start('dist/src/cli.js', ['user', 'list'], { DATABASE_URL: `mysql://u:p@127.0.0.1:${port}/auth` }),
      );
      expect(await (await command).exited).toEqual(ended(signal));
    } finally {
      silent?.close();
    }
  });

  it.each(signals)('an import stops between two rows on %s, and prints the number of rows', async (signal) => {
    const env = { DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}` };
    const file = join(directory, 'people.csv');
    const total = 200_000;
    await writeFile(file, `login_name\n${Array.from({ length: total }, (_, n) => `person${n}`).join('\n')}\n`);
    const command = await start('dist/src/cli.js', ['user', 'import', file], env);
    await command.line(/^1000 rows$/);
    command.signal(signal);
    expect(await command.exited).toEqual(ended(signal));
    const [, told] = /^stopped by \w+ after (\d+) rows/m.exec(command.lines.join('\n')) ?? [];
    expect(Number(told)).toBeGreaterThanOrEqual(1000);
    expect(Number(told)).toBeLessThan(total);
    const listed = await runProgram('dist/src/cli.js', ['user', 'list', '--json'], {
      env: { ...testSettings, ...env },
      cwd: directory,
    });
    // The row in progress may have been created as well.
    const made = (JSON.parse(listed.stdout) as unknown[]).length;
    expect([Number(told), Number(told) + 1]).toContain(made);
  });
});
