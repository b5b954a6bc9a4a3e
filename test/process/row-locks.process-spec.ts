import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { lostTime, outageLikeMs } from '../support/lost-time';
import { post } from '../support/post';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { boundedAnswerMs, captchaToken, password, testSettings } from '../support/settings';

const poolSize = 10;
const heldUsers = Array.from({ length: 20 }, (_, n) => `held-${n}`);
const freeUsers = Array.from({ length: 10 }, (_, n) => `free-${n}`);
const holdMs = 18_000;
/** The number of parallel requests. It is larger than the number of connections in the pool. */
const atOnce = 24;

const login = (username: string, typed = password) => ({ username, password: typed, captcha_token: captchaToken });

/**
 * While logins and refreshes run, another session locks rows of `users`, as an UPDATE by an operator or a backup does.
 */
describe('rows of the table users that another session locks for 18 s', () => {
  const databases = MariaDbDatabases.shared();
  const account = `pool_${process.pid}`;
  let directory: string;
  let adminUrl: string;
  let service: ServiceProcess;
  let holder: Connection;
  let watcher: Connection;

  beforeAll(async () => {
    adminUrl = await databases.migratedDatabase();
    await databases.run(`CREATE USER ${account}@'%' IDENTIFIED BY 'pool-password'`);
    await databases.run(`GRANT ALL ON \`${new URL(adminUrl).pathname.slice(1)}\`.* TO ${account}@'%'`);
    const url = Object.assign(new URL(adminUrl), { username: account, password: 'pool-password' }).toString();
    const env = { ...testSettings, DATABASE_URL: url, DATABASE_POOL_SIZE: `${poolSize}`, MAX_LOCK_COUNT: '1000' };
    const rows = [...heldUsers, ...freeUsers].map((name) => JSON.stringify({ login_name: name, password }));
    directory = await mkdtemp(join(tmpdir(), 'row-locks-'));
    await writeFile(join(directory, 'users.jsonl'), rows.join('\n'));
    const { code, stderr } = await runProgram('dist/src/cli.js', ['user', 'import', 'users.jsonl'], {
      env,
      cwd: directory,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    service = await ServiceProcess.start({ env });
    holder = await createConnection(adminUrl);
    watcher = await createConnection(adminUrl);
  });
  afterAll(async () => {
    await Promise.all([holder?.end(), watcher?.end()]);
    await service?.kill();
    await databases.run(`DROP USER ${account}@'%'`);
    await databases.drop(adminUrl);
    await rm(directory, { recursive: true, force: true });
  });

  it('the service never has more connections than its pool, answers in time, and recovers afterwards (T239)', async () => {
    // One after the other: a burst could exceed the time limits of the service, and 503 would be the right answer.
    const loggedIn = (name: string) =>
      eventually(
        async () => {
          const { status, body } = await post(service, '/login', login(name));
          return status === 200 && String(body.data.refresh_token);
        },
        { what: `a login of ${name}` },
      );
    const tokens: string[] = [];
    for (const name of [...heldUsers, ...freeUsers]) tokens.push(await loggedIn(name));
    await holder.query('START TRANSACTION');
    await holder.query("UPDATE users SET nickname = 'held' WHERE login_name LIKE 'held-%'");
    const seen = new Set<number>();
    const answers: string[] = [];
    const until = performance.now() + holdMs;
    const lost = lostTime();
    // Each client waits for an answer before its next request, so a busy machine gets fewer requests and no queue
    // grows.
    const client = async (n: number) => {
      for (let turn = n; performance.now() < until; turn += atOnce + 1) {
        const send = [
          () => post(service, '/login', login(heldUsers[turn % heldUsers.length]!)),
          () => post(service, '/login', login(heldUsers[turn % heldUsers.length]!, 'wrong')),
          () => post(service, '/login', login(freeUsers[turn % freeUsers.length]!)),
          () => post(service, '/refresh', { refresh_token: tokens[turn % tokens.length] }),
        ][turn % 4]!;
        answers.push(String((await send()).status));
        const [[row]] = await watcher.query<RowDataPacket[]>(
          'SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE USER = ?',
          [account],
        );
        seen.add(Number(row?.n));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, (_, n) => client(n)));
    const { totalMs, longestMs } = lost();
    const statuses = new Set(answers);
    await holder.query('ROLLBACK');

    // Logins of locked users got 503. Refreshes lock no row of users and succeeded.
    expect([...statuses].sort()).toEqual(['200', '503']);
    expect(Math.max(...seen)).toBeLessThanOrEqual(poolSize);
    const requests = service.lines
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as { ms: number; status: number; route: string });
    expect(requests.length).toBeGreaterThan(answers.length);
    expect(requests.filter(({ ms }) => ms >= boundedAnswerMs + totalMs)).toEqual([]);
    // A row lock is logged neither as an outage nor as an unknown error. A pause of the machine looks like an outage.
    const faults = longestMs < outageLikeMs ? /COMMON_500001|is away/ : /COMMON_500001/;
    expect(service.lines.filter((line) => faults.test(line))).toEqual([]);

    for (const name of heldUsers) await loggedIn(name);
    // The workers of the service send a statement now and then.
    const noneRuns = async () => {
      const [[row]] = await watcher.query<RowDataPacket[]>(
        "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE USER = ? AND COMMAND <> 'Sleep'",
        [account],
      );
      return Number(row?.n) === 0;
    };
    await eventually(noneRuns, { what: 'no statement is left' });
  });
});
