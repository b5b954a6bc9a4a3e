import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { lostTime, type LostTime, outageLikeMs } from '../support/lost-time';
import { routes } from '../support/routes';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDb } from '../support/servers/mariadb';
import { ServiceProcess } from '../support/servers/service-process';
import { boundedAnswerMs, captchaToken, password, testSettings } from '../support/settings';

const login = (username: string, typed = password) => ({ username, password: typed, captcha_token: captchaToken });

interface Timed {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
  readonly ms: number;
}

/** The test has a database server of its own, because it stops and suspends it. */
describe('a database that becomes unavailable while the program runs (docs/spec/attacks.md#3.10)', () => {
  let mariadb: MariaDb;
  let service: ServiceProcess;
  let databaseUrl: string;
  let access: string;
  let refresh: string;
  let revoked: string;
  let lostInAll: () => LostTime;

  beforeAll(async () => {
    // Neither UTC nor the time zone of the program: no time may depend on it (docs/spec/attacks.md#w48).
    mariadb = await MariaDb.start(['--default-time-zone=+05:30']);
    databaseUrl = await mariadb.freshDatabase();
    const env = { ...testSettings, DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: '5' };
    service = await ServiceProcess.start({ env });
    lostInAll = lostTime();
    const create = ['user', 'create', '--login-name', 'outage', '--password', password];
    const { code, stderr } = await runProgram('dist/src/cli.js', create, { env, cwd: process.cwd() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    ({ access_token: revoked } = (await send('POST', '/login', login('outage'))).body.data);
    await send('POST', '/logout', undefined, revoked);
    ({ access_token: access, refresh_token: refresh } = (await send('POST', '/login', login('outage'))).body.data);
  });
  afterAll(async () => {
    lostInAll?.();
    await service?.kill();
    await mariadb?.stop();
  });

  async function send(method: string, path: string, body?: unknown, bearer?: string): Promise<Timed> {
    const started = performance.now();
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const ms = performance.now() - started;
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text), ms };
  }

  /** All requests that need the database, with valid bodies and tokens. */
  const asked = () =>
    [
      ['/login', () => send('POST', '/login', login('outage'))],
      ['/login, wrong', () => send('POST', '/login', login('outage', 'wrong'))],
      ['/login, unknown', () => send('POST', '/login', login('nobody'))],
      ...routes
        .filter(({ path, storeless }) => !storeless && path !== '/health/ready')
        .map(({ method, path, body, guarded }) => {
          const bearer = guarded ? (path === '/refresh' ? refresh : access) : undefined;
          return [path, () => send(method, path, method === 'POST' ? body : undefined, bearer)] as const;
        }),
      ['/logout, with a refresh token', () => send('POST', '/logout', undefined, refresh)],
      ['/user/me, with a revoked token', () => send('GET', '/user/me', undefined, revoked)],
    ] as [string, () => Promise<Timed>][];

  async function expectOutage(): Promise<void> {
    // Sends more parallel requests than the pool has connections.
    const lost = lostTime();
    const answers = await Promise.all(
      [...asked(), ...asked(), ...asked()].map(async ([what, ask]) => ({ what, ...(await ask()) })),
    );
    const { totalMs } = lost();
    for (const { what, status, body, headers, ms } of answers) {
      expect({ what, status, code: body.error_code }).toEqual({ what, status: 503, code: 'COMMON_503001' });
      expect(headers.get('retry-after')).toBe(String(body.data.retry_after));
      expect(ms).toBeLessThan(boundedAnswerMs + totalMs);
    }
    const lostMeanwhile = lostTime();
    // A good reading of the second before is used again.
    const ready = await eventually(
      async () => {
        const answer = await send('GET', '/health/ready');
        return answer.status === 503 && answer;
      },
      { what: 'readiness to notice the outage' },
    );
    expect(ready.body.database).toBe('unreachable');
    expect(ready.ms).toBeLessThan(boundedAnswerMs + lostMeanwhile().totalMs);
    expect((await send('GET', '/health/live')).status).toBe(200);
  }

  async function expectRecovery(): Promise<void> {
    // A pause of the machine may meet a time limit once more, and the answer is 503 again.
    const answered = (what: string, ask: () => Promise<Timed>) =>
      eventually(
        async () => {
          const answer = await ask();
          return answer.status !== 503 && answer;
        },
        { what },
      );
    const at = (path: string, bearer?: string) => answered(path, () => send('GET', path, undefined, bearer));
    expect((await answered('a login', () => send('POST', '/login', login('outage')))).status).toBe(200);
    expect((await at('/health/ready')).status).toBe(200);
    expect((await at('/user/me', access)).status).toBe(200);
    expect(await at('/user/me', revoked)).toMatchObject({
      status: 401,
      body: { error_code: 'AUTH_401004' },
    });
  }

  it('T233 T241 T234 killed: all requests get 503 in time, no token is accepted by its signature alone, and the service recovers', async () => {
    await mariadb.kill();
    await expectOutage();
    await mariadb.restart();
    await expectRecovery();
  });

  it('T233 T241 T234 suspended with open connections: all requests get 503 in time, and the service recovers', async () => {
    await mariadb.suspend();
    await expectOutage();
    await mariadb.resume();
    await expectRecovery();
  });

  it('T235 restarted during 200 logins: each login is answered, and each success has its rows', async () => {
    const { result, before } = { result: [] as Timed[], before: await tokenCount() };
    const succeeded = () => result.filter(({ status }) => status === 200);
    let next = 0;
    let restarted: Promise<void> = Promise.resolve();
    const worker = async () => {
      while (next < 200) {
        next += 1;
        const answer = await send('POST', '/login', login('outage'));
        result.push(answer);
        if (answer.status === 200 && succeeded().length === 60) {
          restarted = mariadb.kill().then(() => mariadb.restart());
        }
      }
    };
    await Promise.all(Array.from({ length: 10 }, worker));
    await restarted;
    expect(result.every(({ status }) => status === 200 || status === 503)).toBe(true);
    const successes = succeeded();
    expect(successes.length).toBeGreaterThan(59);
    expect(successes.length).toBeLessThan(200);
    await expectRecovery();
    const rows = await query<{ jti: string }>('SELECT jti FROM login_tokens');
    const known = new Set(rows.map(({ jti }) => jti));
    for (const { body } of successes) {
      const { jti } = JSON.parse(
        Buffer.from(String(body.data.access_token).split('.')[1] ?? '', 'base64url').toString(),
      );
      expect(known).toContain(jti);
    }
    // A login whose answer was lost may have written both token rows or none, but never only one.
    expect(rows.length % 2).toBe(0);
    expect(rows.length).toBeGreaterThanOrEqual(before + 2 * successes.length);
  });

  it('W48 times are stored in UTC, whatever the time zone of the server', async () => {
    const [row] = await query<{ age: number }>(
      'SELECT MAX(ABS(TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP()))) AS age FROM login_logs',
    );
    // The time zones of the test differ by more than five hours. The first row is as old as this test file.
    expect(Number(row?.age)).toBeLessThan(3600);
  });

  it('the process survived, and its log contains neither statements nor the password of the database', () => {
    const lines = service.lines.join('\n');
    expect(lines).toContain('COMMON_503001');
    expect(lines).not.toMatch(/uncaught|unhandled|COMMON_500001/i);
    expect(lines).not.toContain(new URL(databaseUrl).password);
    expect(lines).not.toMatch(/insert into|select u\./i);
  });

  it('each of the three outages is logged once when it begins and once when it ends', () => {
    const told = service.lines.flatMap((line) => /the database is (away|back)/.exec(line)?.[1] ?? []);
    const outages = told.length / 2;
    expect(told).toEqual(Array.from({ length: outages }, () => ['away', 'back']).flat());
    // A pause of the machine looks like a further outage.
    if (lostInAll().longestMs < outageLikeMs) expect(outages).toBe(3);
    else expect(outages).toBeGreaterThanOrEqual(3);
  });

  async function query<Row>(statement: string): Promise<Row[]> {
    const connection = await createConnection(databaseUrl);
    try {
      return (await connection.query<RowDataPacket[]>(statement))[0] as Row[];
    } finally {
      await connection.end();
    }
  }

  const tokenCount = async () => Number((await query<{ n: number }>('SELECT COUNT(*) AS n FROM login_tokens'))[0]?.n);
});
