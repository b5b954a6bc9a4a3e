import { freshForMs } from '../../src/admin/overview/overview';
import { Database } from '../../src/platform/database/database';
import { UserTombstones } from '../../src/users/user-tombstones';
import { AdminClient, adminSettings } from '../support/admin-client';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';

const hourMs = 3_600_000;

describe('the overview of administrators', () => {
  let service: TestService;
  let clock: FakeClock;
  let root: AdminClient;
  let acme: AdminClient;
  let ann: string;
  let bob: string;

  beforeAll(async () => {
    clock = new FakeClock(new Date('2026-03-02T10:30:00.000Z'));
    service = await TestService.start(adminSettings, { clock });
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'x', ?)", [
      clock.now(),
    ]);
    root = await AdminClient.of(service, 'root-admin');
    acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    ann = (await service.givenUser('ann', { tenantId: 'acme', password: null })).uid;
    bob = (await service.givenUser('bob', { password: null })).uid;
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    // The middle of an hour. The next reading is a new one, and no hour of an earlier test is among its hours.
    clock.set(new Date((Math.floor(clock.now().getTime() / hourMs) + 30.5) * hourMs));
    await logInAgain();
    await service.database.affected('DELETE FROM login_logs');
  });

  const logInAgain = async () => {
    root = await root.again('root-admin');
    acme = await acme.again('acme-admin');
  };
  const overview = async (client: AdminClient) => (await client.get('overview')).body.data;
  const givenLogin = (time: number, outcome = 'success', user: string | null = null, name = 'x', ip = '') =>
    service.database.affected(
      `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
       VALUES (?, ?, 'password', ?, '', ?, '', ?)`,
      [user, name, ip, outcome, new Date(time)],
    );
  /** The hours that are not empty, as [hours before the current one, logins, failures]. */
  const busyHours = (hours: { from: string; logins: number; failures: number }[]) =>
    hours.flatMap(({ logins, failures }, n) => (logins + failures > 0 ? [[23 - n, logins, failures]] : []));

  it('has the 24 hours up to now, exact at their edges', async () => {
    const hour = Math.floor(clock.now().getTime() / hourMs) * hourMs;
    await givenLogin(hour);
    await givenLogin(hour - 1);
    await givenLogin(hour - hourMs, 'LOGIN_401001');
    await givenLogin(hour - 23 * hourMs, 'LOGIN_401004');
    await givenLogin(hour - 23 * hourMs - 1);
    await givenLogin(hour - 24 * hourMs);
    const { hours } = await overview(root);
    expect(hours).toHaveLength(24);
    expect([hours[0].from, hours[23].from]).toEqual([
      new Date(hour - 23 * hourMs).toISOString(),
      new Date(hour).toISOString(),
    ]);
    expect(busyHours(hours)).toEqual([
      [23, 0, 1],
      [1, 1, 1],
      [0, 1, 0],
    ]);
    // An hour later, each hour has moved by one place, and the oldest one has left.
    clock.set(new Date(clock.now().getTime() + hourMs));
    await logInAgain();
    expect(busyHours((await overview(root)).hours)).toEqual([
      [2, 1, 1],
      [1, 1, 0],
      [0, 2, 0],
    ]);
  });

  it('shows the logins of the own tenant, without those of unknown names', async () => {
    const now = clock.now().getTime();
    await givenLogin(now, 'success', ann);
    await givenLogin(now, 'success', bob);
    await givenLogin(now, 'LOGIN_401001', ann);
    await givenLogin(now, 'LOGIN_401001');
    expect(busyHours((await overview(acme)).hours)).toEqual([[0, 1, 1]]);
    expect(busyHours((await overview(root)).hours)).toEqual([[0, 2, 2]]);
  });

  it('counts users by status, and the locked ones, in the own tenant or in all', async () => {
    for (const [name, status, tenantId] of [
      ['c', 0, 'acme'],
      ['d', -1, 'root'],
      ['e', -2, 'root'],
    ] as const) {
      await service.givenUser(name, { status, tenantId, password: null });
    }
    const gone = await service.givenUser('gone', { tenantId: 'acme', password: null });
    await service.database.transaction((tx) => service.app.get(UserTombstones).bury(tx, gone.uid));
    const lock = (user: string, count: number, seconds: number) =>
      service.database.affected('UPDATE users SET login_failed_count = ?, last_login_failed_time = ? WHERE uid = ?', [
        count,
        clock.secondsFromNow(-seconds),
        user,
      ]);
    await lock(ann, 3, 1);
    await lock(bob, 2, 1);
    const own = await overview(acme);
    expect(own.users).toEqual({ enabled: 2, not_enabled: 1, disabled: 0, expired: 0, deleted: 1 });
    expect(own).toMatchObject({ locked: 1, mails: null, events: null });
    const all = await overview(root);
    expect(all.users).toEqual({ enabled: 4, not_enabled: 1, disabled: 1, expired: 1, deleted: 1 });
    expect(all.locked).toBe(1);
    // The lock ends with its window.
    clock.advanceSeconds(1800);
    await logInAgain();
    expect((await overview(root)).locked).toBe(0);
  });

  it('counts the mails that wait and that were given up', async () => {
    for (const [n, status] of [0, 0, 1, 2, 3, 4].entries()) {
      await service.database.affected(
        `INSERT INTO mail_outbox (id, kind, status, attempts, next_attempt_at, expires, created_at) VALUES (?, 'otp', ?, 0, ?, ?, ?)`,
        [`m${n}`, status, clock.secondsFromNow(86_400), clock.secondsFromNow(86_400), clock.now()],
      );
    }
    const waiting = await service.count('event_outbox', 'status = 0');
    expect(await overview(root)).toMatchObject({ mails: { waiting: 2, dead: 1 }, events: { waiting, dead: 0 } });
  });

  it('shows the names and addresses of the most failures of the day, in the own tenant or in all (T634)', async () => {
    const now = clock.now().getTime();
    const fail = async (times: number, ...[user, name, ip, outcome = 'LOGIN_401001']: (string | null)[]) => {
      for (let n = 0; n < times; n++) await givenLogin(now - n, outcome!, user, name!, ip!);
    };
    await fail(4, ann, 'ann', '192.0.2.1');
    await fail(1, ann, 'ann@mail.test', '192.0.2.2', 'LOGIN_401004');
    await fail(3, bob, 'bob', '192.0.2.1');
    await fail(2, bob, 'bob', '192.0.2.3', 'LOGIN_503001');
    await fail(6, null, 'admin', '198.51.100.1', 'LOGIN_404001');
    await fail(2, null, 'rare', '198.51.100.2', 'LOGIN_404001');
    await givenLogin(now - 25 * hourMs, 'LOGIN_401001', ann, 'ann', '192.0.2.1');
    expect((await overview(root)).failing).toEqual({
      of: 16,
      names: [
        { login_name: 'admin', user_id: null, failures: 6 },
        { login_name: 'ann', user_id: ann, failures: 5 },
        { login_name: 'bob', user_id: bob, failures: 3 },
      ],
      addresses: [
        { ip: '192.0.2.1', failures: 7, names: 2 },
        { ip: '198.51.100.1', failures: 6, names: 1 },
      ],
    });
    expect((await overview(acme)).failing).toEqual({
      of: 5,
      names: [{ login_name: 'ann', user_id: ann, failures: 5 }],
      addresses: [{ ip: '192.0.2.1', failures: 4, names: 1 }],
    });
  });

  it('shows the last changes that somebody made, and the names of the own tenant only (T634)', async () => {
    await service.database.affected('DELETE FROM audit_logs');
    const now = clock.now().getTime();
    const given = (event: string, user: string | null, actor: string | null, ago: number, ip = '192.0.2.9') =>
      service.database.affected(
        `INSERT INTO audit_logs (event, user_id, actor_id, ip, user_agent, request_id, detail, created_at)
         VALUES (?, ?, ?, ?, '', '', '{}', ?)`,
        [event, user, actor, ip, new Date(now - ago * 1000)],
      );
    await given('SESSION_CLOSED', ann, null, 1);
    await given('USER_UNLOCKED', ann, root.uid, 2);
    await given('USER_INVITED', bob, acme.uid, 3);
    await given('CONFIG_CHANGED', null, root.uid, 4);
    const told = ({ changes }: { changes: { event: string; user_name: string; actor_name: string }[] }) =>
      changes.map(({ event, user_name, actor_name }) => [event, user_name, actor_name]);
    expect(told(await overview(root))).toEqual([
      ['USER_UNLOCKED', 'ann', 'root-admin'],
      ['USER_INVITED', 'bob', 'acme-admin'],
      ['CONFIG_CHANGED', null, 'root-admin'],
    ]);
    expect(told(await overview(acme))).toEqual([['USER_UNLOCKED', 'ann', null]]);
  });

  it('tells how many users have an authenticator or a passkey, in the own tenant or in all (T634)', async () => {
    const { adoption: before } = await overview(acme);
    const { adoption: all } = await overview(root);
    await service.givenUser('with-app', { tenantId: 'acme', password: null });
    await service.givenUser('with-key', { tenantId: 'acme', password: null });
    await service.givenUser('left', { tenantId: 'acme', password: null, status: -1 });
    const uidOf = async (name: string) =>
      (await service.database.row<{ uid: string }>('SELECT uid FROM users WHERE login_name_key = ?', [name]))!.uid;
    await service.database.affected("UPDATE users SET topt_secret = 'x' WHERE login_name_key IN ('with-app', 'left')");
    await service.database.affected("UPDATE users SET own_factors = 1 WHERE login_name_key = 'with-key'");
    const key = await uidOf('with-key');
    await service.database.affected(
      `INSERT INTO passkeys (id, user_id, credential_hash, credential_id, public_key, transports, name, created_at)
       VALUES ('k1', ?, 'h', '', '', '', '', ?)`,
      [key, clock.now()],
    );
    clock.advanceSeconds(freshForMs / 1000);
    expect((await overview(acme)).adoption).toEqual({
      ...{ users: before.users + 2, authenticator: before.authenticator + 1, passkey: before.passkey + 1 },
      ...{ neither: before.neither, sampled: false },
    });
    expect((await overview(root)).adoption).toMatchObject({ users: all.users + 2, passkey: all.passkey + 1 });
  });

  it('a process reads the numbers once for all who look, and counts past hours only once', async () => {
    const statements: string[] = [];
    const database = service.app.get(Database);
    const rows = database.rows.bind(database);
    const spy = jest.spyOn(database, 'rows').mockImplementation((statement, values) => {
      if (/COUNT/.test(statement)) statements.push(statement);
      return rows(statement, values);
    });
    try {
      const answers = await Promise.all(Array.from({ length: 5 }, () => overview(root)));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      const first = statements.splice(0);
      expect(first.filter((one) => one.includes('login_logs'))).toHaveLength(24);
      clock.advanceSeconds(freshForMs / 1000 - 1);
      await overview(root);
      expect(statements.splice(0)).toEqual([]);
      clock.advanceSeconds(1);
      await overview(root);
      expect(statements.filter((one) => one.includes('login_logs'))).toHaveLength(1);
    } finally {
      spy.mockRestore();
    }
  });

  it('an hour that has just ended is counted again, because a login may still be committing', async () => {
    const hour = Math.floor(clock.now().getTime() / hourMs) * hourMs + hourMs;
    clock.set(new Date(hour + 1000));
    await logInAgain();
    await service.database.affected('DELETE FROM login_logs');
    expect(busyHours((await overview(root)).hours)).toEqual([]);
    await givenLogin(hour - 1);
    clock.advanceSeconds(freshForMs / 1000);
    expect(busyHours((await overview(root)).hours)).toEqual([[1, 1, 0]]);
  });
});
