import { createConnection, type Connection } from 'mysql2/promise';
import { EventOutbox } from '../../src/events/event-outbox';
import { EventReplay } from '../../src/events/event-replay';
import { KeptEventRows } from '../../src/events/kept-events';
import { eventStatus, fresh } from '../../src/events/outbox/outbox-event.entity';
import { EventRows } from '../../src/events/outbox/outbox-event.repository';
import { streamStatus } from '../../src/events/outbox/event-stream.entity';
import { EventStreams } from '../../src/events/outbox/event-stream.repository';
import { freshForMs } from '../../src/admin/overview/overview';
import { windowRows } from '../../src/audit/log-search';
import { OutboxRows } from '../../src/mail/outbox/outbox-mail.repository';
import { ExpiringPasswords } from '../../src/users/expiring-passwords';
import { DataKeyCheck } from '../../src/health/data-key-check';
import { AdminClient, adminSettings } from '../support/admin-client';
import { password, TestService } from '../support/app';
import { retentionOf } from '../support/retention';
import { SoftAuthenticator } from '../support/authenticator';
import { EventReplica } from '../support/events/event-replica';
import { WebhookReceiver } from '../support/events/webhook-receiver';
import { FakeClock } from '../support/fakes';
import { MfaClient, mfaSettings, pairOf } from '../support/mfa';
import { dataOf, origin, PasskeyClient, passkeySettings } from '../support/passkeys';
import { MariaDb } from '../support/servers/mariadb';

/** Tables that grow with use. A full scan or a sort of one of them would become an outage later. */
const growing = [
  'users',
  'login_tokens',
  'login_logs',
  'audit_logs',
  'captcha_receipts',
  'pending_logins',
  'cooldowns',
  'mail_outbox',
  'event_outbox',
  'event_streams',
  'user_change_pwd_logs',
  'user_change_password_request',
  'totp_secrets',
  'recovery_codes',
  'trusted_devices',
  'passkeys',
  'passkey_challenges',
  'used_proofs',
  'user_tenants',
  'user_org_units',
  'known_browsers',
  'password_expiry_warnings',
];

interface Plan {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
  readonly rows: string | null;
  readonly Extra: string | null;
}

/** `PLANS_USERS=1000000` makes a million users and ten million tokens; seeding them takes a quarter of an hour. */
const users = Number(process.env.PLANS_USERS ?? 20_000);
/** At least 200,000 rows in each log. */
const logsPerUser = users < 200_000 ? 10 : 1;
const seedingMs = 600_000 + users * 2;

/**
 * The statements come from the log of the server, so none is forgotten or outdated. With 20,000 users and 200,000 tokens
 * the optimizer has a choice. The test has a MariaDB of its own, because the log is that of the whole server.
 */
describe('the plans of login and refresh on tables that have grown', () => {
  let mariadb: MariaDb;
  let service: TestService;
  let sql: Connection;

  beforeAll(async () => {
    mariadb = await MariaDb.start(['--log-output=TABLE']);
    const url = await mariadb.freshDatabase('portal');
    service = await TestService.start(
      { ...adminSettings, REFRESH_TOKEN_ROTATION: 'true', NEW_SIGN_IN_NOTICE: 'true' },
      { store: { url, drop: () => Promise.resolve() } },
    );
    sql = await createConnection({ uri: url });
    await seed(sql, users, 10);
    await service.givenUser('alice', { mfaType: 'email' });
  }, seedingMs);
  afterAll(async () => {
    await sql.end();
    await service.stop();
    await mariadb.stop();
  });

  /** The distinct statements, with their values, that the service sent while `work` ran. */
  async function statementsOf(work: () => Promise<void>): Promise<string[]> {
    await sql.query('TRUNCATE mysql.general_log');
    await sql.query('SET GLOBAL general_log = ON');
    await work();
    await sql.query('SET GLOBAL general_log = OFF');
    const [rows] = await sql.query(
      `SELECT CONVERT(argument USING utf8mb4) AS statement FROM mysql.general_log
       WHERE command_type IN ('Execute', 'Query') ORDER BY event_time`,
    );
    const all = (rows as { statement: string }[]).map(({ statement }) => statement.trim());
    // The server sometimes logs a statement without its values. Any value is good enough for a plan.
    const whole = all.map((one) => one.replace(/(?<=[=<>(,]\s*)\?/g, `'2026-01-01'`));
    // The check of the data keys runs beside the first requests of a service. A test of its own bounds what it reads.
    const ofRequests = whole.filter((one) => !/^SELECT \w+ AS sealed FROM /.test(one));
    return [...new Set(ofRequests.filter((one) => /^(SELECT|INSERT|UPDATE|DELETE)\b/i.test(one)))];
  }

  async function planOf(statement: string): Promise<Plan[]> {
    return (await sql.query(`EXPLAIN ${statement}`))[0] as Plan[];
  }

  /** Describes each fault of a plan. Returns an empty list when the plan finds its rows by an index. */
  function faults(statement: string, plan: readonly Plan[]): string[] {
    return plan.flatMap(({ table, type, rows, Extra }) => {
      const name = aliases(statement).get(table ?? '') ?? table ?? '';
      if (!growing.includes(name) || /^INSERT/i.test(statement)) return [];
      const found: string[] = [];
      if (type === 'ALL' || type === 'index') found.push(`reads all of ${name}`);
      if (/filesort|temporary/i.test(Extra ?? '') && Number(rows) > 100) found.push(`sorts ${rows} rows of ${name}`);
      if (Number(rows) > 1000) found.push(`looks at ${rows} rows of ${name}`);
      return found.map((fault) => `${fault}: ${statement}`);
    });
  }

  /** The rows that the server has read since its start. */
  async function rowsRead(): Promise<number> {
    const [rows] = await sql.query(`SHOW GLOBAL STATUS LIKE 'Handler_read%'`);
    return (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
  }

  const journey = async (by = service) => {
    const session = (await by.login('alice')).body.data;
    await by.login('alice', 'wrong');
    await by.login('nobody');
    await by.login('alice@example.com', 'wrong', { provider: 'auto' });
    await by.login('nobody@example.com');
    await by.get('/user/me', { bearer: session.access_token });
    const next = (await by.post('/refresh', { refresh_token: session.refresh_token })).body.data;
    await by.post('/refresh', { refresh_token: session.refresh_token });
    expect((await by.post('/logout', {}, { bearer: next.access_token })).status).toBe(200);
  };

  it('every statement of login, token check, refresh and logout finds its rows by an index', async () => {
    const statements = await statementsOf(journey);
    // The log contains each kind of write of the journey, and the check of a token.
    for (const seen of [
      /^INSERT INTO login_tokens/,
      /^UPDATE users/,
      /named\.login_name_key = 'alice@example\.com'/,
      /^UPDATE login_tokens/,
      /JOIN login_tokens root/,
    ]) {
      expect(statements.some((one) => seen.test(one))).toBe(true);
    }
    expect(statements.length).toBeGreaterThan(10);
    const found: string[] = [];
    for (const statement of statements) found.push(...faults(statement, await planOf(statement)));
    expect(found).toEqual([]);
  });

  it('every statement of a second factor and of a forgotten password finds its rows by an index', async () => {
    const statements = await statementsOf(async () => {
      await service.post('/forget-password', { email: 'alice@example.com' });
      await service.get('/user/change-pwd-req/6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c');
      await service.post('/otp-verify', { uid: '6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c', code: '123456', type: 'email' });
      await service.post('/otp-resend', { uid: '6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c', type: 'email' });
    });
    expect(statements.length).toBeGreaterThan(5);
    const found: string[] = [];
    for (const statement of statements) found.push(...faults(statement, await planOf(statement)));
    expect(found).toEqual([]);
  });

  it('every statement of the own account finds its rows by an index', async () => {
    await service.givenUser('owner');
    const { access } = await service.session('owner');
    const other = await service.session('owner');
    const { sid } = (await service.get('/user/me', { bearer: other.access })).body.data.session;
    const asked = { current_password: password, password: 'Another-Horse-8', confirm_password: 'Another-Horse-8' };
    const codes: unknown[] = [];
    const statements = await statementsOf(async () => {
      for (const path of ['/user/sessions', '/user/login-history']) {
        codes.push((await service.get(path, { bearer: access })).status);
      }
      for (const path of [`/user/sessions/${sid}`, '/user/sessions']) {
        codes.push((await service.send('DELETE', path, undefined, { bearer: access })).status);
      }
      codes.push((await service.post('/user/change-password', asked, { bearer: access })).status);
    });
    expect(codes).toEqual(Array(5).fill(200));
    for (const seen of [
      /ORDER BY t\.created_at DESC LIMIT 1\) AS newest/,
      /FROM login_logs/,
      /jti = sid AND sid > /,
      /^INSERT INTO user_change_pwd_logs/,
    ]) {
      expect(statements.some((one) => seen.test(one))).toBe(true);
    }
    const found: string[] = [];
    for (const statement of statements) found.push(...faults(statement, await planOf(statement)));
    expect(found).toEqual([]);
  });

  it('this check detects a full scan and a sort', async () => {
    const scan = `SELECT uid FROM users WHERE nickname = 'x'`;
    expect(faults(scan, await planOf(scan))).toContainEqual(expect.stringContaining('reads all of users'));
    const sort = 'SELECT t.jti FROM login_tokens t ORDER BY t.created_at LIMIT 1';
    expect(faults(sort, await planOf(sort)).join()).toMatch(/sorts \d+ rows of login_tokens/);
  });

  it('a batch of expiring passwords reads a bounded number of rows, from either source and from any place', async () => {
    const passwords = service.app.get(ExpiringPasswords);
    const [[middle]] = (await sql.query(
      'SELECT created_at AS at, uid FROM users ORDER BY created_at LIMIT 1 OFFSET ?',
      [users / 2],
    )) as unknown as [[{ at: Date; uid: string }]];
    const until = new Date(Date.now() + 86_400_000);
    for (const [source, id] of [
      ['history', 0],
      ['accounts', middle.uid],
    ] as const) {
      const before = await rowsRead();
      expect(await passwords.after(source, { at: middle.at, id }, until, 1000)).toHaveLength(1000);
      // The row itself, its owner, the newest row of the owner, and the rows of the inner result.
      expect((await rowsRead()) - before).toBeLessThan(10 * 1000);
    }
  });

  it('the sender of events, a retry, a replay and an erasure find their rows by an index, with a row for each user and many rows of one user', async () => {
    const flood = 'one-user-with-many-events';
    const row = `INSERT INTO event_outbox (event_id, type, stream, payload, status, fresh, created_at)
       SELECT UUID(), 'user.unlocked',`;
    for (const statement of [
      `${row} '${flood}', NULL, 1, 0, created_at FROM users`,
      `${row} uid, '{}', 0, 0, created_at FROM users`,
      `${row} '${flood}', '{}', 0, 1, created_at FROM users`,
      `INSERT INTO event_streams (stream, next_attempt_at) SELECT uid, created_at FROM users`,
      ...[1, 2, 3].map(
        (status) =>
          `INSERT INTO event_streams (stream, status, next_attempt_at) SELECT UUID(), ${status}, created_at FROM users`,
      ),
      'ANALYZE TABLE event_outbox, event_streams',
    ]) {
      await sql.query(statement);
    }
    const receiver = await WebhookReceiver.start();
    const sender = await EventReplica.start(service.store.url, {
      settings: receiver.settings,
      clock: new FakeClock(new Date()),
    });
    const [streams, events] = [sender.get(EventStreams), sender.get(EventRows)];
    const readBy: Record<string, number> = {};
    const measure = async (what: string, work: () => Promise<unknown>) => {
      const before = await rowsRead();
      await work();
      readBy[what] = (await rowsRead()) - before;
    };
    const [dead] = (
      await sql.query(`SELECT event_id, stream FROM event_outbox WHERE stream <> '${flood}' LIMIT 1`)
    )[0] as [Record<'event_id' | 'stream', string>];
    await sql.query(`UPDATE event_outbox SET status = ${eventStatus.dead} WHERE event_id = '${dead.event_id}'`);
    const statements = await statementsOf(async () => {
      await measure('new events', () => events.fresh(fresh.known, 128));
      await measure('the first event of one user', () => events.first(flood));
      for (const status of Object.values(streamStatus)) {
        await measure(`claims of status ${status}`, async () => {
          for (const claimed of await streams.claim(status, 4)) {
            const event = await events.first(claimed.stream);
            if (event !== undefined) await events.settle(event, eventStatus.sent);
            await streams.release(claimed);
          }
        });
      }
      await measure('one event', () => sender.get(KeptEventRows).find(dead.event_id));
      await measure('a retry', () =>
        sender.database.transaction((tx) => sender.get(KeptEventRows).retry(tx, dead.event_id)),
      );
      await measure('what a replay finds', () => sender.get(EventReplay).candidates(new Date(0), new Date(), 100));
      await measure('the erasure of a user', () => sender.get(EventOutbox).forgetUser(dead.stream));
      await measure('a purge', () => sender.get(EventOutbox).purgeOld(new Date(0), 1000));
    });
    await sender.stop();
    await receiver.stop();
    for (const read of Object.values(readBy)) expect(read).toBeLessThan(1000);
    expect(statements.length).toBeGreaterThan(12);
    const found: string[] = [];
    for (const statement of statements) found.push(...faults(statement, await planOf(statement)));
    // The optimizer estimates the rows without the LIMIT. The rows that were read are counted above.
    expect(found.filter((fault) => !fault.startsWith('looks at'))).toEqual([]);
  });

  it('the sender of mails finds a code by an index, and reads few rows, with a waiting mail for each user', async () => {
    const soon = 'NOW() + INTERVAL 1 DAY';
    const waiting = `INSERT INTO mail_outbox (id, kind, payload, status, attempts, urgency, next_attempt_at, expires, created_at)`;
    await sql.query(
      `${waiting} SELECT UUID(), 'account-changed', 'x', 0, 0, 0, '2026-01-01', ${soon}, '2026-01-01' FROM users`,
    );
    await sql.query(`${waiting} VALUES ('code', 'x', 'x', 0, 0, 1, '2026-01-01', ${soon}, '2026-01-01')`);
    await sql.query('ANALYZE TABLE mail_outbox');
    const mails = service.app.get(OutboxRows);
    const claimed: string[] = [];
    let most = 0;
    const statements = await statementsOf(async () => {
      for (let claim = 0; claim < 2; claim++) {
        const before = await rowsRead();
        claimed.push(...(await mails.claim(1)).map(({ id }) => id));
        most = Math.max(most, (await rowsRead()) - before);
      }
    });
    await sql.query('DELETE FROM mail_outbox WHERE status = 0');
    expect(claimed[0]).toBe('code');
    expect(claimed).toHaveLength(2);
    expect(most).toBeLessThan(1000);
    const reads = statements.filter((one) => /FROM mail_outbox\s+WHERE urgency = /.test(one));
    expect(reads).not.toEqual([]);
    for (const read of reads) {
      expect(await planOf(read)).toMatchObject([{ key: 'ix_mail_outbox_urgency_status_next_attempt_at' }]);
    }
    const found: string[] = [];
    for (const statement of statements) found.push(...faults(statement, await planOf(statement)));
    // The optimizer estimates the rows without the LIMIT. The rows that were read are counted above.
    expect(found.filter((fault) => !fault.startsWith('looks at'))).toEqual([]);
  });

  describe('administrators', () => {
    let root: AdminClient;
    let acme: AdminClient;
    beforeAll(async () => {
      await sql.query("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', NOW())");
      root = await AdminClient.of(service, 'root-admin');
      acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    });

    /** A page of an index, and a page that compares rows within its window. */
    const [ofAnIndex, ofAWindow] = [600, 3 * windowRows + 600];
    const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 60_000)].map((time) =>
      time.toISOString(),
    );
    const someone = '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab';

    it.each<[path: string, by: 'root' | 'acme', bound: number]>([
      ['login-logs', 'root', ofAnIndex],
      ['login-logs?from=FROM&to=TO', 'root', ofAnIndex],
      ['login-logs?outcome=success', 'root', ofAnIndex],
      ['login-logs?outcome=LOGIN_401004', 'root', ofAnIndex],
      ['login-logs?ip=192.0.2.1', 'root', ofAnIndex],
      ['login-logs?ip=192.0.2.2', 'root', ofAnIndex],
      [`login-logs?user_id=${someone}&ip=192.0.2.1&outcome=success`, 'root', ofAnIndex],
      ['login-logs?ip=192.0.2.1&outcome=LOGIN_401004', 'root', ofAWindow],
      ['login-logs?ip=192.0.2.1&outcome=LOGIN_401004&from=FROM&to=TO', 'root', ofAWindow],
      ['login-logs?user=u4711', 'root', ofAnIndex],
      ['login-logs?user=a-name-of-nobody', 'root', ofAnIndex],
      ['login-logs?user=u4711', 'acme', ofAnIndex],
      ['login-logs?outcome=failed', 'root', ofAWindow],
      ['login-logs?user=u4711&outcome=failed', 'root', ofAWindow],
      ['login-logs', 'acme', ofAWindow],
      ['login-logs?outcome=success', 'acme', ofAWindow],
      [`login-logs?user_id=${someone}`, 'acme', ofAnIndex],
      ['audit-logs', 'root', ofAnIndex],
      ['audit-logs?event=X', 'root', ofAnIndex],
      ['audit-logs?event=USER_CHANGED', 'root', ofAnIndex],
      ['audit-logs?actor_id=nobody', 'root', ofAnIndex],
      ['audit-logs?ip=192.0.2.2', 'root', ofAnIndex],
      ['audit-logs?event=X&ip=192.0.2.1', 'root', ofAWindow],
      ['audit-logs?event=X', 'acme', ofAWindow],
      ['mails', 'root', ofAnIndex],
      ['mails?status=sent', 'root', ofAnIndex],
      ['mails?status=dead', 'root', ofAnIndex],
      ['events', 'root', ofAnIndex],
      ['events?status=sent', 'root', ofAnIndex],
      ['events?status=dead', 'root', ofAnIndex],
    ])('%s by %s reads at most so many rows in full tables: %d', async (template, by, bound) => {
      const path = template.replace('FROM', from!).replace('TO', to!);
      const client = by === 'root' ? root : acme;
      const before = await rowsRead();
      expect((await client.get(path)).status).toBe(200);
      expect((await rowsRead()) - before).toBeLessThan(bound);
      const found: string[] = [];
      for (const statement of await statementsOf(async () => void (await client.get(path)))) {
        for (const { table, type, Extra } of await planOf(statement)) {
          if (type === 'ALL' || /filesort|temporary/i.test(Extra ?? ''))
            found.push(`${table} ${type} ${Extra}: ${statement}`);
        }
      }
      expect(found).toEqual([]);
    });

    it('the off-boarding and the deletion of a user find all rows of the user by an index, and read few', async () => {
      for (const [method, path, seen] of [
        ['POST', 'users/UID/offboard', /^INSERT INTO `?offboardings/],
        ['DELETE', 'users/UID', /^UPDATE mail_outbox/],
      ] as const) {
        const [first, second] = [await service.givenUser(`${method}-1`), await service.givenUser(`${method}-2`)];
        const leave = async (uid: string) => {
          const body = method === 'POST' ? {} : undefined;
          expect((await root.send(method, path.replace('UID', uid), body)).status).toBe(200);
        };
        const before = await rowsRead();
        await leave(first.uid);
        expect((await rowsRead()) - before).toBeLessThan(1000);
        const statements = await statementsOf(() => leave(second.uid));
        expect(statements.some((one) => seen.test(one))).toBe(true);
        const found: string[] = [];
        for (const statement of statements) found.push(...faults(statement, await planOf(statement)));
        expect(found).toEqual([]);
      }
    });

    it('the counts of the overview read indexes only', async () => {
      const statements = await statementsOf(async () => void (await root.get('overview')));
      // A statement with a LIMIT is no count of all rows.
      const counts = statements.filter(
        (one) => /COUNT\(\*\)/.test(one) && /FROM (users|login_logs)/.test(one) && !/LIMIT/.test(one),
      );
      expect(counts.length).toBeGreaterThan(24);
      for (const statement of counts) {
        for (const { table, type, key, Extra } of await planOf(statement)) {
          if (table === null || table.startsWith('<')) continue;
          expect({ statement, table, type, Extra, indexed: key !== null && key !== 'PRIMARY' }).toMatchObject({
            indexed: true,
            Extra: expect.stringMatching(/Using index|Using index condition/),
          });
        }
      }
    });

    it('what else the overview shows reads a bounded number of rows, in all tenants and in a small one (T635)', async () => {
      // The answers are kept for ten seconds.
      service.clock.advanceSeconds(freshForMs / 1000);
      for (const client of [root, acme]) {
        const statements = await statementsOf(async () => void (await client.get('overview')));
        const bounded = statements.filter(
          (one) => /LIMIT \d/.test(one) && /FROM (\(SELECT uid|login_logs|audit_logs)/.test(one),
        );
        // The sample of the users, three outcomes and the changes. The outcomes and the changes can have a window each.
        expect(bounded.length).toBeGreaterThanOrEqual(5);
        for (const statement of bounded) {
          const before = await rowsRead();
          await sql.query(statement);
          expect([statement, (await rowsRead()) - before < ofAWindow]).toEqual([statement, true]);
        }
      }
    });
  });

  it('the check of the data keys at each start reads a bounded number of rows', async () => {
    const before = await rowsRead();
    await service.app.get(DataKeyCheck).check();
    expect((await rowsRead()) - before).toBeLessThan(1000);
  });

  it('thirty parallel token checks share statements, which use the index', async () => {
    const sessions: { access: string }[] = [];
    for (let n = 0; n < 30; n++) sessions.push(await service.session('alice'));
    const statements = await statementsOf(async () => {
      const answers = await Promise.all(sessions.map(({ access }) => service.get('/user/me', { bearer: access })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    });
    const checks = statements.filter((one) => /t\.jti IN \(/.test(one));
    expect(checks.length).toBeGreaterThan(0);
    expect(checks.length).toBeLessThan(30);
    for (const statement of checks) expect(faults(statement, await planOf(statement))).toEqual([]);
  });

  it('a login, a refresh and a logout read no more rows in full tables than in empty ones', async () => {
    const readBy = async (work: () => Promise<void>) => {
      const before = await rowsRead();
      await work();
      return (await rowsRead()) - before;
    };
    // The least of three: the workers of the service read rows, too, in some of them.
    const full = Math.min(await readBy(journey), await readBy(journey), await readBy(journey));
    const empty = await TestService.start(
      { REFRESH_TOKEN_ROTATION: 'true', NEW_SIGN_IN_NOTICE: 'true' },
      { store: { url: await mariadb.freshDatabase('empty'), drop: () => Promise.resolve() } },
    );
    try {
      await empty.givenUser('alice', { mfaType: 'email' });
      await journey(empty);
      const alone = await readBy(() => journey(empty));
      expect(alone).toBeGreaterThan(20);
      expect(full).toBeLessThan(1.2 * alone);
    } finally {
      await empty.stop();
    }
  });

  // The last test: passport keeps the strategies of the service that was started last, so the other one checks no token now.
  it('every statement about recovery codes, trusted devices and passkeys finds its rows by an index', async () => {
    const own = await TestService.start(
      { ...mfaSettings, ...passkeySettings, MFA_TRUSTED_DEVICE_DAYS: '30' },
      { store: service.store, clock: service.clock },
    );
    const mfa = new MfaClient(own);
    const statements = await statementsOf(async () => {
      const user = await mfa.givenUser('lost-phone');
      const first = await mfa.logInByMail(user);
      const trusted = await mfa.verify(first.uid, 'email', first.code, { trust_device: true });
      const bearer = pairOf(trusted).access;
      const { codes } = (await own.post('/recovery-codes', undefined, { bearer })).body.data;
      const { uid } = await mfa.logInByMail(user);
      expect((await mfa.verify(uid, 'recovery', codes[0])).status).toBe(200);
      const device_token = trusted.body.data.device_token as string;
      expect((await own.login('lost-phone', undefined, { device_token })).body.data.mfa_required).toBe(false);
      own.clock.advanceSeconds(11);
      await own.login('lost-phone', undefined, { device_token });
      await own.get('/user/devices', { bearer });
      await own.get('/recovery-codes', { bearer });
      const passkeys = new PasskeyClient(own);
      const authenticator = new SoftAuthenticator(origin);
      const { data } = dataOf(await passkeys.register(bearer, authenticator));
      expect(await passkeys.list(bearer)).toHaveLength(1);
      dataOf(await passkeys.logIn(authenticator));
      expect((await passkeys.logIn(authenticator, { counter: 1 })).status).toBe(401);
      const path = `/passkeys/${data.id as string}`;
      dataOf(await own.send('PATCH', path, { name: 'Laptop' }, { bearer }));
      dataOf(await own.send('DELETE', path, undefined, { bearer }));
      await own.get('/user/me', { bearer });
    });
    await own.stop({ keepStore: true });
    for (const table of ['recovery_codes', 'trusted_devices', 'passkeys']) {
      expect(statements.filter((one) => one.includes(table)).length).toBeGreaterThan(3);
    }
    const found: string[] = [];
    for (const statement of statements) {
      // To find the codes of all users is the work of this test, not of the service.
      if (!/FROM mail_outbox WHERE kind/.test(statement)) found.push(...faults(statement, await planOf(statement)));
    }
    expect(found).toEqual([]);
  });

  it(
    'a purge reads rows in proportion to those that it deletes, not to the tables',
    async () => {
      const retention = retentionOf(service);
      const purge = async () => {
        const before = await rowsRead();
        const removed = Object.values(await retention.purge()).reduce((sum, rows) => sum + rows, 0);
        return { removed, read: (await rowsRead()) - before };
      };
      // The ages of the rows follow the clock of the database, so the service uses the real time too.
      service.clock.set(new Date());
      const full = await purge();
      expect(full.removed).toBeGreaterThan(users);
      // Each deleted row is read twice: once to find it and once to delete it. A token reads other rows as well.
      expect(full.read / full.removed).toBeLessThan(10);
      const idle = await purge();
      expect(idle.removed).toBe(0);
      expect(idle.read).toBeLessThan(1000);
    },
    seedingMs,
  );
});

/** Maps each alias to its table: `login_tokens t` and `login_tokens AS t` give t → login_tokens. */
function aliases(statement: string): Map<string, string> {
  const named = [...statement.matchAll(/(?:FROM|JOIN|UPDATE|INTO)\s+`?(\w+)`?(?:\s+(?:AS\s+)?`?(\w+)`?)?/gi)];
  return new Map(named.flatMap(([, table, alias]) => [[table!, table!] as const, [alias ?? table!, table!] as const]));
}

async function seed(sql: Connection, users: number, tokensPerUser: number): Promise<void> {
  const digits = Array.from({ length: 10 }, (_, n) => `SELECT ${n} AS d`).join(' UNION ALL ');
  const numbers = (count: number) => {
    const places = Math.ceil(Math.log10(count));
    const from = Array.from({ length: places }, (_, n) => `(${digits}) d${n}`).join(', ');
    const value = Array.from({ length: places }, (_, n) => `d${n}.d * ${10 ** n}`).join(' + ');
    return `(SELECT ${value} AS n FROM ${from} HAVING n < ${count}) numbers`;
  };
  const times = 'UTC_TIMESTAMP(3) - INTERVAL n SECOND';
  for (const statement of [
    `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, status, tenant_id, created_at)
     SELECT UUID(), CONCAT('u', n), CONCAT('u', n), CONCAT('u', n, '@x.test'), CONCAT('u', n, '@x.test'), 'x', 1, 'root', ${times}
     FROM ${numbers(users)}`,
    `INSERT INTO login_tokens (jti, sid, token_type, user_identity, is_revoked, expires, credential_version, created_at)
     SELECT UUID(), UUID(), 'refresh', uid, 0, UTC_TIMESTAMP(3) + INTERVAL n DAY, 0, created_at
     FROM users, ${numbers(tokensPerUser)}`,
    `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
     SELECT uid, login_name, 'password', '192.0.2.1', '', 'success', '', created_at FROM users, ${numbers(logsPerUser)}`,
    `INSERT INTO audit_logs (event, user_id, ip, detail, created_at)
     SELECT 'X', uid, '192.0.2.1', '{}', created_at FROM users, ${numbers(logsPerUser)}`,
    `INSERT INTO user_change_pwd_logs (user_id, type, password, created_at) SELECT uid, 0, 'x', created_at FROM users`,
    `INSERT INTO user_tenants (user_id, tenant_id) SELECT uid, 'root' FROM users`,
    `INSERT INTO captcha_receipts (token_hash, expires) SELECT SHA2(uid, 256), created_at FROM users`,
    `INSERT INTO cooldowns (subject, kind, until) SELECT uid, 'reset', created_at FROM users`,
    `INSERT INTO mail_outbox (id, kind, status, attempts, next_attempt_at, expires, created_at)
     SELECT uid, 'otp', 1, 1, created_at, created_at, created_at FROM users`,
    `INSERT INTO recovery_codes (id, user_id, code_hash, key_id, created_at)
     SELECT UUID(), uid, SHA2(uid, 256), 'key', created_at FROM users, ${numbers(10)}`,
    `INSERT INTO trusted_devices (id, user_id, series_hash, token_hash, ip, user_agent, last_used_at, expires, created_at)
     SELECT uid, uid, SHA2(uid, 256), SHA2(uid, 256), '192.0.2.1', '', created_at, created_at, created_at FROM users`,
    `INSERT INTO passkeys (id, user_id, credential_hash, credential_id, public_key, transports, name, created_at)
     SELECT uid, uid, SHA2(uid, 256), '', '', '', '', created_at FROM users`,
    `INSERT INTO passkey_challenges (challenge_hash, expires) SELECT SHA2(uid, 256), created_at FROM users`,
    `INSERT INTO used_proofs (id, claim, expires) SELECT MD5(uid), 1, created_at FROM users`,
    `INSERT INTO user_change_password_request (uid, token_hash, user_id, type, status, expired, created_at)
     SELECT uid, SHA2(uid, 256), uid, 2, 1, created_at, created_at FROM users`,
  ]) {
    await sql.query(statement);
  }
  await sql.query(`ANALYZE TABLE ${growing.join(', ')}`);
}
