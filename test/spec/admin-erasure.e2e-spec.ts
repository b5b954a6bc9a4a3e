import { EventOutbox } from '../../src/events/event-outbox';
import { mailLimits } from '../../src/mail/mail-limits';
import { MailOutbox } from '../../src/mail/mail-outbox';
import { mailStatus } from '../../src/mail/mail-status';
import { Mailer } from '../../src/mail/mailer';
import { OutboxRows } from '../../src/mail/outbox/outbox-mail.repository';
import { QueuedMails } from '../../src/mail/queued-mails';
import { Retention } from '../../src/retention/retention';
import { operatorAuthority } from '../../src/admin/authority';
import { UserErasure } from '../../src/admin/user-erasure';
import type { User } from '../../src/users/user.entity';
import { givenCaller, startAdministration } from '../support/admin';
import { TestService } from '../support/app';
import { WebhookReceiver } from '../support/events/webhook-receiver';
import { RetentionModule } from '../../src/retention/retention.module';
import { AppModule } from '../../src/app.module';

// No automatic polls: the test decides when mails are sent.
Object.assign(mailLimits, { pollMs: 3_600_000, nudgeMs: 3_600_000 });

const name = 'erika.mustermann';
const traces = [
  name,
  'Mustermann',
  '203.0.113.99',
  'ErikasBrowser',
  'entry-of-erika',
  'sealed-of-erika',
  'hash-of-erika',
  'language-of-erika',
];

describe('deleting a user', () => {
  let service: TestService;
  let receiver: WebhookReceiver;
  let bearer: string;
  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    service = await startAdministration(receiver.settings, (config) => ({
      module: class {},
      imports: [AppModule.with(config), RetentionModule],
    }));
    bearer = (await givenCaller(service, { isAdmin: true })).bearer;
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  const remove = (uid: string) => service.send('DELETE', `/admin/users/${uid}`, undefined, { bearer });

  /** All rows of all tables, as text. The mails are sealed. */
  async function everything(except: readonly string[] = []): Promise<Record<string, string>> {
    const tables = await service.database.rows<{ name: string }>(
      __DATABASE__ === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table'"
        : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
    );
    const kept = tables.filter((table) => !except.includes(table.name));
    const texts = kept.map(async (table) => [
      table.name,
      JSON.stringify(await service.database.rows(`SELECT * FROM ${table.name}`)),
    ]);
    return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
  }

  /** A user with a row in each table that can have one. */
  async function givenTraces(): Promise<User> {
    const user = await service.givenUser(name, { nickname: 'Erika Mustermann', provider: 'password' });
    const insert = (table: string, row: Record<string, string | number | Date>) =>
      service.database.affected(
        `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
          .map(() => '?')
          .join(', ')})`,
        Object.values(row),
      );
    const headers = { 'user-agent': 'ErikasBrowser' };
    await service.login(name, 'wrong', {}, { headers, ip: '203.0.113.99' });
    await service.login(name, undefined, {}, { headers, ip: '203.0.113.99' });
    await service.post('/forget-password', { email: user.email });
    const now = service.clock.now();
    const user_id = user.uid;
    const later = service.clock.secondsFromNow(3600);
    await insert('totp_secrets', { user_id, secret: 'sealed-of-erika', uri: 'sealed-of-erika', ip: '203.0.113.99' });
    await insert('recovery_codes', { id: 'r1', user_id, code_hash: 'hash-of-erika', key_id: 'k', created_at: now });
    await insert('passkeys', {
      ...{ id: 'k1', user_id, credential_hash: 'hash-of-erika', credential_id: 'hash-of-erika', created_at: now },
      ...{ public_key: 'hash-of-erika', transports: '', name: 'ErikasBrowser' },
    });
    await insert('trusted_devices', {
      ...{ id: 'd1', user_id, series_hash: 'hash-of-erika', token_hash: 'hash-of-erika', ip: '203.0.113.99' },
      ...{ user_agent: 'ErikasBrowser', last_used_at: now, expires: later, created_at: now },
    });
    await insert('pending_logins', {
      ...{ user_id, id: 'p1', channel: 'email', token_hash: 'hash-of-erika', ip: '203.0.113.99' },
      ...{ code_hash: 'hash-of-erika', expires: later, created_at: now },
    });
    await insert('password_expiry_warnings', { user_id, warned_at: now });
    await insert('known_browsers', { user_id, browser: 'ErikasBrowser', seen_at: now });
    await insert('user_tenants', { user_id, tenant_id: 'acme' });
    await insert('user_org_units', { user_id, org_unit_id: 'sales' });
    await service.database.affected(
      `UPDATE users SET topt_secret = 'sealed-of-erika', directory_id = 'entry-of-erika', language = 'language-of-erika'
       WHERE uid = ?`,
      [user_id],
    );
    return user;
  }

  it('erases every trace but the uid, in every table, and keeps the rows of the logs (T321)', async () => {
    const user = await givenTraces();
    const row = await service.userRow(user.uid);
    const logs = await service.count('login_logs', 'user_id = ?', [user.uid]);
    expect(logs).toBe(2);
    const before = Object.values(await everything()).join();
    for (const trace of traces) expect(before).toContain(trace);

    expect((await remove(user.uid)).body.data).toEqual({ result: true });
    // An event that still waits keeps its payload until it is sent.
    await service.app.get(EventOutbox).sendDue();

    const after = await everything(['login_logs', 'audit_logs']);
    for (const trace of [...traces, String(row.password)]) {
      expect(
        Object.entries(after)
          .filter(([, text]) => text.includes(trace))
          .map(([table]) => [table, trace]),
      ).toEqual([]);
    }
    const entries = await service.database.rows<{ login_name: string }>(
      'SELECT login_name FROM login_logs WHERE user_id = ?',
      [user.uid],
    );
    expect(entries.map(({ login_name }) => login_name)).toEqual(Array<string>(logs).fill(`deleted-${user.uid}`));
    expect((await everything()).audit_logs).not.toMatch(new RegExp(`${name}|Mustermann`));
    expect(await service.userRow(user.uid)).toMatchObject({
      status: -2,
      login_name: `deleted-${user.uid}`,
      tenant_id: 'root',
    });
  });

  it('leaves a tombstone that exists for no request, and frees the name and the address', async () => {
    const { body } = await service.post('/admin/users', { login_name: name, email: `${name}@example.com` }, { bearer });
    const again = body.data.uid as string;
    await remove(again);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/unlock'],
      ['GET', '/logins'],
    ] as const) {
      const answer = await service.send(method, `/admin/users/${again}${path}`, undefined, { bearer });
      expect([method, path, answer.body.error_code]).toEqual([method, path, 'USER_404001']);
    }
    const revived = await service.send('PATCH', `/admin/users/${again}`, { status: 1 }, { bearer });
    expect(revived.body.error_code).toBe('USER_404001');
    for (const query of ['', '?status=-2', '?query=deleted', `?query=${name}`]) {
      const list = await service.get(`/admin/users${query}`, { bearer });
      expect(list.raw.toString()).not.toContain(again);
    }
    expect((await service.login(`deleted-${again}`)).body.error_code).toBe('LOGIN_404001');
    expect((await service.givenUser(name, { nickname: null })).uid).not.toBe(again);
  });

  it('ends what was issued: tokens and links', async () => {
    const { user, bearer: token } = await givenCaller(service);
    await service.post('/forget-password', { email: user.email });
    await remove(user.uid);
    expect((await service.get('/user/me', { bearer: token })).body.error_code).toBe('AUTH_401004');
    expect(await service.count('user_change_password_request', 'user_id = ?', [user.uid])).toBe(0);
  });

  it('purge repeats the erasure for a login that was under way, and only once (T321)', async () => {
    const { user } = await givenCaller(service, {});
    const browser = () =>
      service.database.affected("INSERT INTO known_browsers (user_id, browser, seen_at) VALUES (?, 'late', ?)", [
        user.uid,
        service.clock.now(),
      ]);
    const late = () =>
      service.database.affected(
        `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
         VALUES (?, 'late-name', 'password', '192.0.2.9', 'x', 'success', 'r', ?)`,
        [user.uid, service.clock.now()],
      );
    const names = () => service.count('login_logs', "user_id = ? AND login_name = 'late-name'", [user.uid]);
    await remove(user.uid);
    await late();
    await browser();
    await service.app.get(Retention).purge();
    expect(await names()).toBe(1);
    service.clock.advanceSeconds(3601);
    await service.app.get(Retention).purge();
    expect(await names()).toBe(0);
    expect(await service.count('known_browsers', 'user_id = ?', [user.uid])).toBe(0);
    expect(await service.userRow(user.uid)).toMatchObject({ erasing_since: null });
  });

  describe('and the mails that are not sent', () => {
    const queue = (userId: string, seconds = 72 * 3600) =>
      service.database.transaction((tx) =>
        service.app.get(Mailer).queueOtp(tx, {
          ...{ userId, to: 'erika@example.com', loginName: 'erika', code: '048213', language: 'en' },
          expires: service.clock.secondsFromNow(seconds),
        }),
      );
    const mailsOf = (userId: string) =>
      service.database.rows<{ id: string; status: number; payload: string | null; claimed_by: string | null }>(
        'SELECT id, status, payload, claimed_by FROM mail_outbox WHERE user_id = ? ORDER BY id',
        [userId],
      );
    const gone = { status: mailStatus.expired, payload: null, claimed_by: null };
    beforeEach(async () => {
      await service.database.affected('DELETE FROM mail_outbox');
      service.clock.advanceSeconds(1);
      bearer = (await givenCaller(service, { isAdmin: true })).bearer;
    });

    it('ends those that wait and those that were given up, and no mail of another user (T321)', async () => {
      const { user } = await givenCaller(service);
      const { user: other } = await givenCaller(service);
      await service.post('/forget-password', { email: user.email });
      await queue(user.uid);
      expect(await mailsOf(user.uid)).toHaveLength(2);
      await queue(user.uid);
      const [dead] = await mailsOf(user.uid);
      await service.database.affected('UPDATE mail_outbox SET status = 2 WHERE id = ?', [dead!.id]);
      await queue(other.uid);
      expect((await remove(user.uid)).status).toBe(200);
      expect(await mailsOf(user.uid)).toMatchObject([gone, gone, gone]);
      expect(await mailsOf(other.uid)).toMatchObject([{ status: mailStatus.waiting, payload: expect.any(String) }]);
      const retried = await service.post(`/admin/mails/${dead!.id}/retry`, {}, { bearer });
      expect(retried.body.error_code).toBe('COMMON_400001');
    });

    it('a worker that has read one before the deletion can neither claim it, nor settle it, nor give it back', async () => {
      const { user } = await givenCaller(service);
      const rows = service.app.get(OutboxRows);
      for (let n = 0; n < 2; n++) await queue(user.uid);
      const [claimed] = await rows.claim(1);
      const read = service.database.rows.bind(service.database);
      const spy = jest.spyOn(service.database, 'rows').mockImplementation(async (statement, values) => {
        const found = await read(statement, values);
        if (/FROM mail_outbox\s+WHERE (urgency = \? AND )?status/.test(statement)) {
          spy.mockRestore();
          expect(found).toHaveLength(1);
          expect((await remove(user.uid)).status).toBe(200);
        }
        return found;
      });
      expect(await rows.claim(1)).toEqual([]);
      expect(await rows.settle(claimed!, mailStatus.dead)).toBe(false);
      expect(await rows.giveBack(claimed!, service.clock.now(), true)).toBe(false);
      expect(await mailsOf(user.uid)).toMatchObject([gone, gone]);
    });

    it('whichever of a deletion and a retry commits first, the mail is not sent', async () => {
      // On SQLite, two services of one process cannot have transactions in parallel.
      const other =
        __DATABASE__ === 'sqlite'
          ? service
          : await TestService.start({ ADMIN_API: 'on' }, { clock: service.clock, store: service.store });
      try {
        for (let round = 0; round < 4; round++) {
          const { user } = await givenCaller(service);
          await queue(user.uid);
          const { id } = (await mailsOf(user.uid))[0]!;
          await service.database.affected('UPDATE mail_outbox SET status = 2 WHERE id = ?', [id]);
          const retry = () => other.database.transaction((tx) => other.app.get(QueuedMails).retry(tx, id));
          const erase = () => service.app.get(UserErasure).erase(operatorAuthority, user.uid);
          const [outcome] = await Promise.all(
            round % 2 === 0 ? [retry(), erase()] : [erase().then(retry), Promise.resolve()],
          );
          expect(round % 2 === 0 ? ['queued', 'gone'] : ['gone']).toContain(outcome);
          expect(await mailsOf(user.uid)).toMatchObject([gone]);
        }
      } finally {
        if (other !== service) await other.stop({ keepStore: true });
      }
    });

    it('purge ends the one that a login queued which was under way', async () => {
      const { user } = await givenCaller(service);
      await remove(user.uid);
      await queue(user.uid);
      service.clock.advanceSeconds(3601);
      await service.app.get(Retention).purge();
      expect(await mailsOf(user.uid)).toMatchObject([gone]);
      expect((await service.app.get(MailOutbox).outboxStats()).pending).toBe(0);
    });
  });

  it('replaces the name in more rows than one transaction changes', async () => {
    const { user } = await givenCaller(service, {}, null);
    bearer = (await givenCaller(service, { isAdmin: true })).bearer;
    const n = __DATABASE__ === 'sqlite' ? "'r' || i" : "CONCAT('r', i)";
    await service.database.affected(
      `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
       SELECT ?, 'many-names', 'password', '192.0.2.9', 'x', 'success', ${n}, ? FROM
       (WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 900) SELECT i FROM s) a
       CROSS JOIN (SELECT 1 AS j UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6
       UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10 UNION SELECT 11 UNION SELECT 12) b`,
      [user.uid, service.clock.now()],
    );
    expect((await remove(user.uid)).status).toBe(200);
    expect(await service.count('login_logs', "login_name = 'many-names'")).toBe(0);
    expect(await service.count('login_logs', 'user_id = ?', [user.uid])).toBe(12 * 900 + 1);
  });
});
