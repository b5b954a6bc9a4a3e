import { type Connection, createConnection } from 'mysql2/promise';
import { givenCaller } from '../support/admin';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { MariaDb } from '../support/servers/mariadb';

/** `PLANS_USERS=1000000` makes a million users. */
const users = Number(process.env.PLANS_USERS ?? 40_000);
const seedingMs = 600_000 + users;

/**
 * Each user has a common first name (a third of all), a family name of 500, a word of their own, and a last sign-in; one of
 * four has the status -1, one of a hundred -2. One user of a hundred has the tenant `small`.
 */
const [first, family] = ["ELT(1 + seq MOD 3, 'anna', 'bob', 'carol')", 'CONCAT("family", seq MOD 500)'];
const seed = `
  INSERT INTO users (uid, login_name, login_name_key, email, email_key, nickname, nickname_key, status, tenant_id,
    created_at, last_login_success_time)
  SELECT CONCAT('u', LPAD(seq * 7919 MOD ${users}, 9, '0')), CONCAT('l', seq), CONCAT('l', seq), CONCAT('m', seq, '@x.test'),
    CONCAT('m', seq, '@x.test'), CONCAT(${family}, ' ', ${first}, ' own', seq), CONCAT(${family}, ' ', ${first}, ' own', seq),
    IF(seq MOD 100 = 1, -2, IF(seq MOD 4 = 1, -1, 1)), IF(seq MOD 100 = 2, 'small', 'root'), ?,
    IF(seq MOD 5 = 0, NULL, UTC_TIMESTAMP(3) - INTERVAL seq MOD 1000 HOUR)
  FROM seq_1_to_${users}`;
const seedWords = `
  INSERT INTO user_words (user_id, word, tenant_id)
  SELECT uid, login_name, tenant_id FROM users WHERE uid LIKE 'u0%' UNION ALL
  SELECT uid, email, tenant_id FROM users WHERE uid LIKE 'u0%' UNION ALL
  SELECT uid, SUBSTRING_INDEX(nickname, ' ', 1), tenant_id FROM users WHERE uid LIKE 'u0%' UNION ALL
  SELECT uid, SUBSTRING_INDEX(SUBSTRING_INDEX(nickname, ' ', 2), ' ', -1), tenant_id FROM users WHERE uid LIKE 'u0%' UNION ALL
  SELECT uid, SUBSTRING_INDEX(nickname, ' ', -1), tenant_id FROM users WHERE uid LIKE 'u0%'`;

/**
 * What the slowest of these lists may read, whatever the number of users: the entries of the ways are counted, and 10,000 rows
 * at most are looked up (ADR 0050). MariaDB also counts the reads of its temporary tables. It reads 1,400 to 2,000 rows in a millisecond.
 */
const most = 60_000;

describe(`the search of administrators on ${users} users`, () => {
  let mariadb: MariaDb;
  let service: TestService;
  let sql: Connection;
  let root: string;
  let small: string;
  let before: number;

  beforeAll(async () => {
    mariadb = await MariaDb.start();
    const store = { url: await mariadb.freshDatabase('search'), drop: () => Promise.resolve() };
    service = await TestService.start(
      { ADMIN_API: 'on', MAX_LOCK_COUNT: '3' },
      { store, clock: new FakeClock(new Date()) },
    );
    sql = await createConnection({ uri: store.url, timezone: 'Z' });
    await sql.query("INSERT INTO tenants (id, name, created_at) VALUES ('small', 'Small', UTC_TIMESTAMP(3))");
    // All were created at one time, as by an import.
    await sql.query(seed, [service.clock.now()]);
    await sql.query(seedWords);
    await sql.query('ANALYZE TABLE users, user_words');
    root = (await givenCaller(service, { isAdmin: true })).bearer;
    small = (await givenCaller(service, { isAdmin: true, tenantId: 'small' })).bearer;
    await service.get('/admin/users', { bearer: root });
    before = (await readBy('/user/me', root)).rows;
  }, seedingMs);
  afterAll(async () => {
    await sql.end();
    await service.stop();
    await mariadb.stop();
  });

  async function rowsRead(): Promise<number> {
    const [rows] = await sql.query(`SHOW GLOBAL STATUS LIKE 'Handler_read%'`);
    return (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
  }

  async function readBy(path: string, bearer: string) {
    const from = await rowsRead();
    const started = performance.now();
    const { status, body } = await service.get(path, { bearer });
    const ms = performance.now() - started;
    expect(status).toBe(200);
    return {
      rows: (await rowsRead()) - from,
      ms,
      data: body.data as { items: unknown[]; next: string; total: number },
    };
  }

  const list = async (query: string, bearer: string) => {
    const { rows, ms, data } = await readBy(`/admin/users?limit=50&${query}`, bearer);
    return { rows: rows - before, ms, ...data };
  };

  it.each([
    '',
    'query=family7',
    'query=anna',
    'query=own4711',
    'query=anna%20family7',
    'query=own4711%20anna',
    'query=a%20f%20o',
    'query=l',
    'query=nobody',
    'query=anna&status=-2',
    'query=bob&status=-1',
    'query=fam&locked=true',
    'query=fam&locked=false',
    'status=-2',
    'status=-1',
    'tenant_id=small&query=anna',
  ])('%s, in each order, reads a bounded number of rows (T611)', async (query) => {
    for (const order of ['', '&sort=login_name', '&sort=-created_at', '&sort=last_login_at', '&sort=-last_login_at']) {
      const first = await list(`${query}${order}`, root);
      const others = await list(`${query}${order}`, small);
      const later = first.next === null ? undefined : await list(`${query}${order}&after=${first.next}`, root);
      if (process.env.PLANS_USERS) {
        const figures = [first, others, ...(later ? [later] : [])].map(
          ({ rows, ms }) => `${rows} rows ${ms.toFixed(0)} ms`,
        );
        process.stdout.write(`${query}${order}: total ${first.total}, ${figures.join(', ')}\n`);
      }
      const rows = [first, others, later].map((one) => one?.rows ?? 0);
      expect([query, order, rows, rows.every((read) => read < most)]).toEqual([query, order, rows, true]);
      // The small tenant has one user of a hundred: its administrator causes no read of the others.
      expect([query, order, others.rows < (users / 100) * 25 + 500]).toEqual([query, order, true]);
    }
  });
});
