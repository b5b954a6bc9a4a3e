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
  const givenLogin = (time: number, outcome = 'success', user: string | null = null) =>
    service.database.affected(
      `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
       VALUES (?, 'x', 'password', '', '', ?, '', ?)`,
      [user, outcome, new Date(time)],
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
