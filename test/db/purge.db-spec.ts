import { Database } from '../../src/platform/database/database';
import type { SqlValue } from '../../src/platform/database/sql';
import { batchRows, removeOldRows } from '../../src/retention/sweep';
import { SessionTraces } from '../../src/sessions/session-traces';
import { UserSessions } from '../../src/sessions/user-sessions';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { TestService } from '../support/app';
import { retentionOf } from '../support/retention';

const mariadb = __DATABASE__ === 'mariadb';
const hour = 3600;
const day = 24 * hour;
const tables = [
  'users',
  'login_tokens',
  'user_change_password_request',
  'pending_logins',
  'trusted_devices',
  'passkey_challenges',
  'used_proofs',
  'captcha_receipts',
  'cooldowns',
  'mail_outbox',
  'event_outbox',
  'login_logs',
  'audit_logs',
];

describe('purge', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ REFRESH_TOKEN_ROTATION: 'true' });
  });
  afterAll(() => service.stop());
  afterEach(async () => {
    for (const table of tables) await service.database.affected(`DELETE FROM ${table}`);
  });

  const purge = (logDays?: number) => retentionOf(service).purge(logDays);
  const ago = (seconds: number) => service.clock.secondsFromNow(-seconds);
  const insert = (table: string, row: Record<string, SqlValue>) =>
    service.database.affected(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join(', ')})`,
      Object.values(row),
    );

  const token = (id: string, expires: Date) => ({
    jti: id,
    sid: id,
    token_type: 'access',
    user_identity: 'nobody',
    expires,
    created_at: expires,
  });
  const request = (id: string, expired: Date) => ({
    uid: id,
    token_hash: id,
    user_id: 'nobody',
    type: 2,
    status: 0,
    expired,
    created_at: expired,
  });
  const pending = (id: string, expires: Date) => ({
    user_id: id,
    id,
    channel: 'email',
    token_hash: '',
    ip: '192.0.2.1',
    expires,
    created_at: expires,
  });
  const device = (id: string, expires: Date) => ({
    ...{ id, user_id: 'nobody', series_hash: id, token_hash: id, ip: '192.0.2.1', user_agent: '' },
    ...{ last_used_at: expires, expires, created_at: expires },
  });
  const mail = (status: number) => (id: string, time: Date) => ({
    id,
    kind: 'otp',
    status,
    next_attempt_at: time,
    expires: time,
    created_at: time,
  });
  const loginLog = (id: string, time: Date) => ({
    login_name: id,
    provider: 'password',
    ip: '192.0.2.1',
    user_agent: '',
    outcome: 'success',
    request_id: id,
    created_at: time,
  });
  const auditLog = (id: string, time: Date) => ({ event: id, detail: '{}', created_at: time });
  const event = (status: number) => (id: string, time: Date) => ({
    event_id: id,
    type: 'login.failed',
    stream: id,
    status,
    created_at: time,
  });
  const oldGateRow = (id: string, until: Date) => ({ subject: id.padEnd(64, '0'), kind: 'reset', until });

  it.each([
    ['login_tokens', token, hour],
    ['user_change_password_request', request, 7 * day],
    ['pending_logins', pending, hour],
    ['trusted_devices', device, day],
    ['passkey_challenges', (id: string, expires: Date) => ({ challenge_hash: id, expires }), hour],
    ['used_proofs', (id: string, expires: Date) => ({ id: id.slice(0, 32), claim: 1, expires }), hour],
    ['captcha_receipts', (id: string, expires: Date) => ({ token_hash: id, expires }), 0],
    ['cooldowns', oldGateRow, day],
    ['mail_outbox', mail(1), 30 * day + 1],
    ['mail_outbox', mail(2), 30 * day + 1],
    ['event_outbox', event(0), 30 * day + 1],
    ['event_outbox', event(1), 30 * day + 1],
    ['event_outbox', event(2), 30 * day + 1],
    ['login_logs', loginLog, 400 * day],
    ['audit_logs', auditLog, 400 * day],
  ] as const)('%s: a row is removed at its age limit, and not one second earlier', async (table, rowOf, seconds) => {
    await insert(table, rowOf('old', ago(seconds)));
    await insert(table, rowOf('young', ago(seconds - 1)));
    expect((await purge())[table]).toBe(1);
    expect(await service.count(table)).toBe(1);
    service.clock.advanceSeconds(1);
    expect((await purge())[table]).toBe(1);
    expect(await service.count(table)).toBe(0);
  });

  it('a waiting mail and the gate row of a user are never removed, also of a user who was adopted with an id of another system', async () => {
    await insert('mail_outbox', mail(0)('waiting', ago(400 * day)));
    for (const subject of ['6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c', '4711', 'employee-0000000000000000000000000001']) {
      await insert('cooldowns', { subject, kind: 'otp', until: ago(400 * day) });
    }
    expect(await purge()).toMatchObject({ mail_outbox: 0, cooldowns: 0 });
  });

  it('logs are kept for the number of days that the operator gives', async () => {
    await insert('login_logs', loginLog('a', ago(11 * day)));
    await insert('audit_logs', auditLog('a', ago(9 * day)));
    expect(await purge(10)).toMatchObject({ login_logs: 1, audit_logs: 0 });
  });

  it('T173 a live session loses only its expired access tokens: it can be refreshed, and a reused token still ends it', async () => {
    await service.givenUser('alice');
    const first = await service.session('alice');
    service.clock.advanceSeconds(2 * hour);
    expect((await purge()).login_tokens).toBe(1);
    const refresh = (refresh_token: string) => service.post('/refresh', { refresh_token });
    const second = (await refresh(first.refresh)).body.data.refresh_token as string;
    service.clock.advanceSeconds(2 * hour);
    await purge();
    const third = (await refresh(second)).body.data;
    service.clock.advanceSeconds(2 * hour);
    await purge();
    expect((await refresh(first.refresh)).body.error_code).toBe('AUTH_401006');
    expect((await refresh(third.refresh_token as string)).body.error_code).toBe('AUTH_401006');
  });

  it('a token whose row was removed is answered like an expired one', async () => {
    await service.givenUser('alice');
    const { access, refresh } = await service.session('alice');
    const answers = async () => [
      (await service.get('/user/me', { bearer: access })).body.error_code,
      (await service.post('/refresh', { refresh_token: refresh })).body.error_code,
    ];
    service.clock.advanceSeconds(8 * day);
    const before = await answers();
    expect((await purge()).login_tokens).toBe(2);
    expect(await answers()).toEqual(before);
    expect(await service.count('login_tokens')).toBe(0);
  });

  it('a pending login that is renewed between the read and the delete is kept', async () => {
    await insert('pending_logins', pending('alice', ago(2 * hour)));
    const renewing = beside(service.database, async () => {
      await service.database.affected('UPDATE pending_logins SET expires = ? WHERE user_id = ?', [ago(-300), 'alice']);
    });
    const rows = { table: 'pending_logins', key: 'user_id', time: 'expires' };
    expect(await removeOldRows(renewing, rows, ago(hour))).toBe(0);
    expect(await service.count('pending_logins')).toBe(1);
  });

  it('T173 100,000 expired rows are deleted in bounded batches, and a login in parallel with each batch succeeds', async () => {
    await service.givenUser('alice');
    await seedTokens(service, 100_000, ago(2 * day));
    const sizes: number[] = [];
    const logins: Promise<{ status: number }>[] = [];
    const watched = beside(service.database, async (statement) => {
      if (!statement.startsWith('DELETE')) return;
      sizes.push(statement.split('?').length - 2);
      await logins.at(-1);
      // The login runs in parallel with the DELETE. If it had to wait for the row locks of a batch, it would get 503.
      logins.push(service.login('alice'));
    });
    const rows = { table: 'login_tokens', key: 'jti', time: 'expires' };
    expect(await removeOldRows(watched, rows, ago(day))).toBe(100_000);
    expect(await service.count('login_tokens', 'user_identity = ?', ['nobody'])).toBe(0);
    expect(Math.max(...sizes)).toBe(batchRows);
    expect(logins.length).toBeGreaterThanOrEqual(100_000 / batchRows);
    expect(new Set((await Promise.all(logins)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  // SQLite locks the whole file for a writer, so nothing can run in parallel with a batch.
  if (mariadb)
    it('T173 a batch locks no row that a login, a refresh or a logout needs', async () => {
      await service.givenUser('alice');
      // The table needs many rows. The optimizer reads a small table completely and ignores the index.
      await seedTokens(service, 20_000, ago(-day), 'live');
      await service.database.rows('ANALYZE TABLE login_tokens');
      await seedTokens(service, batchRows - 1, ago(2 * day));
      await service.database.transaction(async (tx) => {
        const open = Object.assign(Object.create(service.database) as Database, {
          affected: (statement: string, values: SqlValue[]) => tx.affected(statement, values),
        });
        await removeOldRows(open, { table: 'login_tokens', key: 'jti', time: 'expires' }, ago(day));
        const { access, refresh } = await service.session('alice');
        expect((await service.post('/refresh', { refresh_token: refresh })).status).toBe(200);
        expect((await service.post('/logout', {}, { bearer: access })).status).toBe(200);
      });
      expect(await MariaDbDatabases.shared().deadlocks(service.store.url)).toEqual([]);
    });

  it('two parallel purges remove each row once, and neither fails', async () => {
    await seedTokens(service, 5000, ago(2 * day));
    const both = await Promise.all([purge(), purge()]);
    expect(both[0].login_tokens! + both[1].login_tokens!).toBe(5000);
  });
});

describe('purge and the last use of a session', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const lastUses = async (uid: string) =>
    (await service.app.get(UserSessions).list(uid)).map(({ lastUsedAt }) => lastUsedAt.toISOString());
  const keep = jest.fn<Promise<void>, [readonly string[]]>();
  const purge = async () => {
    const sessions = service.app.get(SessionTraces);
    const watched = {
      beforePurge: keep.mockImplementation((jtis) => sessions.beforePurge(jtis)),
    } as unknown as SessionTraces;
    return retentionOf(service, watched).purge();
  };
  const refresh = (bearer: string) => service.post('/refresh', undefined, { bearer });
  const stored = (where: string) => service.count('login_tokens', `last_used_at IS NOT NULL AND ${where}`);

  it('the time of the last refresh stays when its access token is deleted, and a later refresh moves it', async () => {
    const { uid } = await service.givenUser('alice');
    const { refresh: token } = await service.session('alice');
    const login = service.clock.now().toISOString();
    service.clock.advanceSeconds(day);
    await purge();
    // The deleted token of the login tells nothing that the first row does not tell.
    expect([await lastUses(uid), await stored('1 = 1')]).toEqual([[login], 0]);
    const times: string[] = [];
    for (let n = 0; n < 2; n++) {
      await refresh(token);
      times.push(service.clock.now().toISOString());
      service.clock.advanceSeconds(600);
    }
    await refresh(token);
    const last = service.clock.now().toISOString();
    // The first two tokens expire before the third one: no write is needed while a newer row is left.
    service.clock.advanceSeconds(hour + 600);
    expect((await purge()).login_tokens).toBeGreaterThan(0);
    expect([await lastUses(uid), await stored('1 = 1')]).toEqual([[last], 0]);
    service.clock.advanceSeconds(hour);
    await purge();
    expect(await service.count('login_tokens')).toBe(1);
    expect([await lastUses(uid), await stored('jti = sid')]).toEqual([[last], 1]);
    await purge();
    expect(await lastUses(uid)).toEqual([last]);
    await refresh(token);
    expect(await lastUses(uid)).toEqual([service.clock.now().toISOString()]);
  });

  it('a session that has ended gets no write, and an earlier time never replaces a later one', async () => {
    const { uid } = await service.givenUser('bob');
    const [ended, live] = [await service.session('bob'), await service.session('bob')];
    for (const { refresh: token } of [ended, live]) await refresh(token);
    service.clock.advanceSeconds(60);
    await refresh(live.refresh);
    const last = service.clock.now();
    await service.post('/logout', undefined, { bearer: ended.refresh });
    await service.database.affected('UPDATE login_tokens SET last_used_at = ? WHERE user_identity = ? AND jti = sid', [
      last,
      uid,
    ]);
    const rows = await service.database.rows<{ jti: string }>(
      'SELECT jti FROM login_tokens WHERE user_identity = ? AND created_at < ?',
      [uid, last],
    );
    await service.app.get(SessionTraces).beforePurge(rows.map(({ jti }) => jti));
    expect(await lastUses(uid)).toEqual([last.toISOString()]);
    keep.mockClear();
    await service.database.affected('UPDATE login_tokens SET last_used_at = NULL');
    service.clock.advanceSeconds(2 * hour);
    await purge();
    expect(keep).toHaveBeenCalledTimes(1);
    expect(await stored('is_revoked = 1')).toBe(0);
    expect(await stored(`user_identity = '${uid}'`)).toBe(1);
  });
});

/** Returns the same database, except that `interfere` runs before each write. */
function beside(database: Database, interfere: (statement: string) => Promise<void>): Database {
  return Object.assign(Object.create(database) as Database, {
    affected: async (statement: string, values: SqlValue[]) => {
      await interfere(statement);
      return database.affected(statement, values);
    },
  });
}

async function seedTokens(service: TestService, count: number, expires: Date, prefix = 'old'): Promise<void> {
  const digits =
    '(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)';
  const names = ['a', 'b', 'c', 'd', 'e'];
  const from = names.map((name) => `${digits} ${name}`).join(', ');
  const number = names.map((name, place) => `${name}.d * ${10 ** place}`).join(' + ');
  const id = mariadb ? `CONCAT('${prefix}-', ${number})` : `'${prefix}-' || (${number})`;
  // Each statement inserts 10,000 rows, so that it ends within the time limit of the database also on a busy machine.
  for (let part = 0; part < 10; part++) {
    await service.database.affected(
      `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
       SELECT ${id}, 'access', 'nobody', 0, ?, ${id}, 0, ? FROM ${from} WHERE e.d = ${part} AND ${number} < ${count}`,
      [expires, expires],
    );
  }
}
