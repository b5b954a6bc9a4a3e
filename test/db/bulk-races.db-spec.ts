import { UserBulk } from '../../src/admin/user-bulk';
import { UserFile } from '../../src/admin/user-file';
import { UserSupport } from '../../src/admin/user-support';
import { everyTenant } from '../../src/admin/admin-scope';
import type { Administrator } from '../../src/admin/authority';
import { UserSessions } from '../../src/sessions/user-sessions';
import { tokenOf } from '../support/admin';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('races of many users at once', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start({ ADMIN_API: 'on' }, { clock });
    const second =
      __DATABASE__ === 'sqlite' ? first : await TestService.start({ ADMIN_API: 'on' }, { clock, store: first.store });
    services = [first, second];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  let made = 0;
  const given = (more = {}) => services[0].givenUser(`user-${++made}`, { password: null, ...more });
  const administrator = async (): Promise<Administrator> => {
    const { uid: id } = await given({ isAdmin: true });
    const { credential_version: credentialVersion } = await services[0].userRow(id);
    const { signal } = new AbortController();
    const client = { ip: '192.0.2.1', userAgent: 'jest', language: 'en', requestId: 'request', signal } as const;
    return { scope: { tenantId: everyTenant }, actor: { id, client }, credentialVersion: Number(credentialVersion) };
  };
  const on = (n: number) => services[n % 2]!.app;

  it('two imports of the same file at once make each user once (T628)', async () => {
    const callers = [await administrator(), await administrator()];
    const names = Array.from({ length: 20 }, (_, n) => `import-${n}`);
    const file = Buffer.from(`login_name,email\n${names.map((name) => `${name},${name}@example.com`).join('\n')}\n`);
    const reports = await Promise.all(
      callers.map(async (by, n) => {
        const files = on(n).get(UserFile);
        return files.run(by, file, await files.check(file), false, () => Promise.resolve(true));
      }),
    );
    expect(reports[0]!.created + reports[1]!.created).toBe(names.length);
    for (const { rows, created, refused } of reports) {
      expect([rows, created + refused.length]).toEqual([names.length, names.length]);
      expect(new Set(refused.map(({ entry }) => entry.code))).toEqual(
        refused.length === 0 ? new Set() : new Set(['USER_409001']),
      );
    }
    expect(await services[0].count('users', "login_name LIKE 'import-%'")).toBe(names.length);
    expect(await services[0].count('audit_logs', "event = 'USER_IMPORTED'")).toBe(names.length);
  });

  it('administrators who disable each other in bulk at once leave one of the root tenant (T621)', async () => {
    const callers = [await administrator(), await administrator(), await administrator()];
    const uids = callers.map(({ actor }) => actor.id);
    await services[0].database.affected(
      'UPDATE users SET status = -1 WHERE is_admin = 1 AND uid NOT IN (?, ?, ?)',
      uids,
    );
    const outcomes = await Promise.all(
      callers.map((by, n) => on(n).get(UserBulk).run(by, { uids, action: 'disable' })),
    );
    const known = new Set([undefined, 'USER_409002', 'AUTH_401004']);
    for (const { refusal } of outcomes.flat()) expect(known).toContain(refusal?.code);
    const left = "is_admin = 1 AND status = 1 AND tenant_id = 'root'";
    expect(await services[0].count('users', left)).toBeGreaterThanOrEqual(1);
    await services[0].database.affected('UPDATE users SET status = 1 WHERE is_admin = 1');
  });

  it('of administrators who end one session at once, one has ended it', async () => {
    const callers = [await administrator(), await administrator(), await administrator(), await administrator()];
    const user = await given();
    await tokenOf(services[0], user);
    const [session] = await services[0].app.get(UserSessions).list(user.uid);
    const ends = await Promise.allSettled(
      callers.map((by, n) => on(n).get(UserSupport).endSession(by, user.uid, session!.sid)),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await services[0].count('audit_logs', "event = 'SESSION_CLOSED' AND user_id = ?", [user.uid])).toBe(1);
  });
});
