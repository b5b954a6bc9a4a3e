import { type Connection, createConnection } from 'mysql2/promise';
import { countedUsers } from '../../src/users/listing/ways';
import { givenCaller } from '../support/admin';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { MariaDb } from '../support/servers/mariadb';
import { ServiceProcess } from '../support/servers/service-process';
import { testSettings } from '../support/settings';

/** `PLANS_USERS=1000000` makes a million users. */
const users = Number(process.env.PLANS_USERS ?? 60_000);
/** The total counts up to 10,000 entries of an index on each of two ways. MariaDB counts each of them twice: as read, and as a row of the subquery. */
const counted = 2 * 2 * (countedUsers + 1);
const seedingMs = 600_000 + users;

/** One user of a thousand has the small tenant, one of a thousand is expired, and one of a thousand is locked. */
const seed = `
  INSERT INTO users (uid, login_name, login_name_key, email, email_key, nickname, nickname_key, status, tenant_id,
    login_failed_count, last_login_failed_time, created_at)
  SELECT UUID(), CONCAT('u', seq), CONCAT('u', seq), CONCAT('m', seq, '@x.test'), CONCAT('m', seq, '@x.test'),
    CONCAT('Nick ', seq, REPEAT('名', 200)), CONCAT('nick ', seq, REPEAT('名', 200)), IF(seq MOD 1000 = 1, -2, 1), IF(seq MOD 1000 = 2, 'small', 'root'),
    IF(seq MOD 1000 = 3, 3, 0), IF(seq MOD 1000 = 3, ?, NULL), UTC_TIMESTAMP(3)
  FROM seq_1_to_${users}`;

describe(`the lists of administrators on ${users} users`, () => {
  let mariadb: MariaDb;
  let service: TestService;
  let sql: Connection;
  let url: string;
  let root: string;
  let small: string;
  let before: number;

  beforeAll(async () => {
    mariadb = await MariaDb.start();
    url = await mariadb.freshDatabase('admin');
    const store = { url, drop: () => Promise.resolve() };
    service = await TestService.start(
      { ADMIN_API: 'on', MAX_LOCK_COUNT: '3' },
      { store, clock: new FakeClock(new Date()) },
    );
    sql = await createConnection({ uri: url, timezone: 'Z' });
    await sql.query("INSERT INTO tenants (id, name, created_at) VALUES ('small', 'Small', UTC_TIMESTAMP(3))");
    await sql.query(seed, [service.clock.now()]);
    await sql.query('ANALYZE TABLE users');
    root = (await givenCaller(service, { isAdmin: true })).bearer;
    small = (await givenCaller(service, { isAdmin: true, tenantId: 'small' })).bearer;
    await service.get('/admin/users', { bearer: root });
    before = await readBy('/user/me', root);
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

  async function readBy(path: string, bearer: string): Promise<number> {
    const from = await rowsRead();
    expect((await service.get(path, { bearer })).status).toBe(200);
    return (await rowsRead()) - from;
  }

  /** Prints the rows that were read, and the time of a whole request: the median and the slowest one of twenty. */
  async function printFigures(query: string, rows: readonly number[]): Promise<void> {
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const from = performance.now();
      await service.get(`/admin/users?limit=50&${query}`, { bearer: n % 2 ? root : small });
      times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    const [median, slowest] = [times[10]!, times.at(-1)!].map((time) => time.toFixed(1));
    process.stdout.write(`${query}: ${rows.join(' and ')} rows, ${median} ms, at most ${slowest} ms\n`);
  }

  it.each([
    ['the first page', ''],
    ['a prefix of many login names', 'query=u'],
    ['a prefix of one login name', 'query=u4711'],
    ['a prefix of many addresses', 'query=m'],
    ['a prefix of an address', 'query=m4711@'],
    ['a prefix of many nicknames', 'query=nick'],
    ['a prefix of a nickname', 'query=Nick%204711'],
    ['a prefix of nothing', 'query=zzz'],
    ['a rare status', 'status=-2'],
    ['a usual status', 'status=1'],
    ['a small tenant', 'tenant_id=small'],
    ['the locked users', 'locked=true'],
    ['the users who are not locked', 'locked=false'],
    ['a rare status and a prefix', 'status=-2&query=u4'],
  ])('%s reads about as many rows as it shows, for the root tenant and for a small one', async (_what, query) => {
    const rows: number[] = [];
    for (const bearer of [root, small]) rows.push((await readBy(`/admin/users?limit=50&${query}`, bearer)) - before);
    if (process.env.PLANS_USERS) await printFigures(query, rows);
    // 51 rows of the list. A part of the search reads no more than its matches.
    const filtered = /&|locked|status/.test(query) ? users / 100 : 0;
    expect(Math.max(...rows)).toBeLessThan(300 + filtered + counted);
  });

  it('a later page reads no more rows than the first one', async () => {
    for (const query of ['', '&query=u', '&query=nick', '&locked=true']) {
      const first = await service.get(`/admin/users?limit=50${query}`, { bearer: root });
      const cursor = Buffer.from(String(first.body.data.next), 'base64url').toString();
      const rows = await readBy(`/admin/users?limit=50${query}&after=${first.body.data.next}`, root);
      expect([query, cursor.length > 0, rows - before < 300 + counted]).toEqual([query, true, true]);
    }
  });

  it(
    'all users are streamed by a service whose heap has no room for them (T322)',
    async () => {
      const bytes = users * 800;
      const replica = await ServiceProcess.start({
        env: {
          ...testSettings,
          ADMIN_API: 'on',
          DATABASE_URL: url,
          LOG_LEVEL: 'error',
          // The session is as old as the rows of this test, which a busy machine writes slowly.
          STEP_UP_MAX_AGE_SECONDS: '3600',
          // Node and the modules need about 45 MB. All rows would need more than 100 MB.
          NODE_OPTIONS: '--max-old-space-size=80',
        },
      });
      try {
        const headers = { authorization: `Bearer ${root}`, accept: 'application/x-ndjson' };
        const answer = await fetch(`${replica.url}/admin/users`, { headers });
        expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
        let received = 0;
        let lines = 0;
        for await (const chunk of answer.body!) {
          received += chunk.length;
          for (const byte of chunk) if (byte === 10) lines++;
        }
        expect(lines).toBe(users + 2);
        expect(received).toBeGreaterThan(bytes);
        expect((await fetch(`${replica.url}/health/live`)).status).toBe(200);
      } finally {
        await replica.kill();
      }
    },
    seedingMs,
  );
});
