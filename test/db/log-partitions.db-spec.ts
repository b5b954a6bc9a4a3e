import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { LoginLogs } from '../../src/audit/login-log.repository';
import { removeOldRows } from '../../src/retention/sweep';
import { type Answer, TestService } from '../support/app';

/** The SQL of docs/operations/scale.md, in the order of the page. */
const page = readFileSync(resolve(__dirname, '../../docs/operations/scale.md'), 'utf8');
const blocks = [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, sql]) => sql as string);
const [prepare, copy, swap, tail, missing, dropOld, extend, newest, archive, drop] = blocks as [string, ...string[]];

/** Rows that the table has before, with ids as far apart as those of the page: 250 of them are in its partition p1. */
const seeded = 460;
const inFirstPartition = 250;
const step = 4000;
const day = 24 * 3600;

/** SQLite has no partitions. */
const onMariaDb = __DATABASE__ === 'mariadb' ? describe : describe.skip;

onMariaDb('the SQL of docs/operations/scale.md', () => {
  let service: TestService;
  let operator: Connection;
  beforeAll(async () => {
    service = await TestService.start({ RATE_LIMIT: 'off' });
    operator = await createConnection({ uri: service.store.url, multipleStatements: true });
  });
  afterAll(async () => {
    operator.destroy();
    await service.stop();
  });

  const run = async (sql: string | undefined) => (await operator.query<RowDataPacket[]>(String(sql)))[0];
  const count = async (sql: string) => Number(Object.values((await run(sql))[0] ?? {})[0]);

  /** The steps up to the new table, with the numbers of the page except for the size of a range. */
  async function divide(table: string): Promise<void> {
    const of = (sql: string | undefined) => String(sql).replaceAll('login_logs', table);
    await run(of(prepare));
    for (let from = 1; from < seeded * step; from += 100_000) {
      await run(of(copy).replace('1 AND 10000', `${from} AND ${from + 99_999}`));
    }
    await run(of(swap));
    await run(of(tail));
    expect(await count(of(missing))).toBe(0);
    await run(of(dropOld));
    await run(of(extend));
  }

  it('divides login_logs while users log in: no row is lost, and each login is in the table once', async () => {
    const { uid } = await service.givenUser('busy');
    const longAgo = service.clock.secondsFromNow(-500 * day);
    await service.database.affected(
      `INSERT INTO login_logs (id, user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
       SELECT seq * ${step}, ?, 'busy', 'password', '192.0.2.1', 'agent', 'success', 'seeded', ? FROM seq_1_to_${seeded}`,
      [uid, longAgo],
    );

    const answers: Answer[] = [];
    let divided = false;
    const logIn = async () => {
      while (!divided) answers.push(await service.login('busy'));
    };
    const users = [logIn(), logIn(), logIn()];
    try {
      await divide('login_logs');
    } finally {
      divided = true;
    }
    await Promise.all(users);
    answers.push(await service.login('busy'));

    // A statement that waits for more than 2 s on a slow machine is answered 503 and leaves no row.
    const succeeded = answers.filter(({ status }) => status === 200).length;
    expect(answers.filter(({ status }) => ![200, 503].includes(status))).toEqual([]);
    expect(succeeded).toBeGreaterThan(0);
    expect(await service.count('login_logs')).toBe(seeded + succeeded);
    expect(await service.count('login_logs', `request_id = 'seeded'`)).toBe(seeded);
    expect(await count('SELECT MAX(id) FROM login_logs')).toBeGreaterThan(2_000_000);
    const history = await service.app.get(LoginLogs).page(uid, seeded + succeeded + 1);
    expect(history).toHaveLength(seeded + succeeded);
    expect(new Set(history.map(({ id }) => id)).size).toBe(history.length);
  });

  it('archives and drops the oldest partition, and purge still deletes the rest of the old rows', async () => {
    const before = await service.count('login_logs');
    const [last] = await run(newest);
    expect(new Date(String(last?.newest)).getTime()).toBeLessThan(service.clock.now().getTime());

    await run(archive);
    expect(await service.count('login_logs_p1')).toBe(inFirstPartition);
    expect(await service.count('login_logs')).toBe(before - inFirstPartition);
    await run(drop);
    expect(await service.count('login_logs')).toBe(before - inFirstPartition);
    const left = await run(
      `SELECT PARTITION_NAME AS name FROM information_schema.PARTITIONS
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'login_logs' ORDER BY PARTITION_ORDINAL_POSITION`,
    );
    expect(left.map(({ name }) => String(name))).toEqual(['p2', 'p3', 'p4', 'pmax']);

    const rule = { table: 'login_logs', key: 'id', time: 'created_at' };
    const removed = await removeOldRows(service.database, rule, service.clock.secondsFromNow(-400 * day));
    expect(removed).toBe(seeded - inFirstPartition);
    expect((await service.login('busy')).status).toBe(200);
  });

  it('works for audit_logs in the same way', async () => {
    const before = await service.count('audit_logs');
    await service.database.affected(
      `INSERT INTO audit_logs (id, event, detail, created_at)
       SELECT seq * ${step}, 'SEEDED', '{}', ? FROM seq_1_to_${seeded}`,
      [service.clock.now()],
    );
    await divide('audit_logs');
    expect(await service.count('audit_logs')).toBe(before + seeded);
    await run(archive?.replaceAll('login_logs', 'audit_logs'));
    expect(await service.count('audit_logs_p1', `event = 'SEEDED'`)).toBe(inFirstPartition);
  });

  it('login_tokens cannot be divided by their expiry: the primary key would have to contain it', async () => {
    const byExpiry = 'PARTITION BY RANGE COLUMNS (expires) (PARTITION p1 VALUES LESS THAN (MAXVALUE))';
    await expect(run(`ALTER TABLE login_tokens ${byExpiry}`)).rejects.toMatchObject({
      code: 'ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF',
    });
  });
});
