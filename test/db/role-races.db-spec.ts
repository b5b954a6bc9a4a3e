import { scopeOf } from '../../src/admin/admin-scope';
import type { Administrator } from '../../src/admin/authority';
import { UserSupport } from '../../src/admin/user-support';
import type { User } from '../../src/users/user.entity';
import { givenCaller, startAdministration } from '../support/admin';
import { TestService } from '../support/app';
import { codeOf } from '../support/reset';

const rounds = 6;

/** docs/spec/extensions.md#roles. SQLite deployments have one replica. */
describe('the help of a help desk beside the end of its role (T608)', () => {
  let service: TestService;
  let other: TestService;
  let admin: string;
  let users = 0;

  beforeAll(async () => {
    service = await startAdministration();
    const { store, clock } = service;
    other = __DATABASE__ === 'sqlite' ? service : await TestService.start({ ADMIN_API: 'on' }, { store, clock });
    admin = (await givenCaller(service, { isAdmin: true })).bearer;
  });
  afterAll(async () => {
    if (other !== service) await other.stop({ keepStore: true });
    await service.stop();
  });

  const given = () => service.givenUser(`helped${++users}`, { password: null, tenantId: 'acme' });
  const desk = () => givenCaller(service, { role: 'help_desk', tenantId: 'acme' });
  const take = ({ uid }: User, change: object = { role: null }) =>
    other.send('PATCH', `/admin/users/${uid}`, change, { bearer: admin });
  /** The caller as the guard has read it. */
  const authorityOf = ({ uid, credentialVersion }: User): Administrator => ({
    ...{ scope: scopeOf({ tenantId: 'acme' }), credentialVersion, role: 'help_desk' },
    actor: {
      id: uid,
      client: {
        ...{ ip: '192.0.2.1', userAgent: 'jest', language: 'en', requestId: 'test' },
        signal: new AbortController().signal,
      },
    },
  });
  const unlock = (by: User, { uid }: User) =>
    service.app
      .get(UserSupport)
      .unlock(authorityOf(by), uid)
      .then(
        () => 'success',
        (error: { entry?: { code: string } }) => error.entry?.code,
      );

  it.each([
    ['taken', { role: null }],
    ['replaced by another one', { role: 'auditor' }],
    ['of a user who was disabled', { status: -1 }],
    ['of a user who was moved', { tenant_id: 'other' }],
  ])('a role that was %s between the guard and the transaction helps nobody', async (_what, change) => {
    const [{ user }, target] = [await desk(), await given()];
    expect(codeOf(await take(user, change))).toBe('success');
    expect(await unlock(user, target)).toBe('AUTH_401004');
    expect(await service.count('audit_logs', "event = 'USER_UNLOCKED' AND user_id = ?", [target.uid])).toBe(0);
  });

  it('a row that was changed without a new credential version is compared as well', async () => {
    const [{ user }, target] = [await desk(), await given()];
    for (const change of ["role = 'auditor'", "role = 'help_desk', is_admin = 1"]) {
      await service.database.affected(`UPDATE users SET ${change} WHERE uid = ?`, [user.uid]);
      expect(await unlock(user, target)).toBe('AUTH_401004');
    }
  });

  it(`at the same moment on two replicas: the help commits before the end of the role, or is refused, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round++) {
      const [{ user, bearer }, target] = [await desk(), await given()];
      const [helped, taken] = await Promise.all([
        service.post(`/admin/users/${target.uid}/unlock`, {}, { bearer }),
        take(user),
      ]);
      expect(codeOf(taken)).toBe('success');
      expect(['success', 'AUTH_401004', 'AUTH_403001']).toContain(codeOf(helped));
      const rows = await service.database.rows<{ event: string }>(
        "SELECT event FROM audit_logs WHERE event IN ('USER_UNLOCKED', 'USER_ROLE_CHANGED') AND user_id IN (?, ?) ORDER BY id",
        [user.uid, target.uid],
      );
      const expected = ['USER_UNLOCKED', 'USER_ROLE_CHANGED'].slice(codeOf(helped) === 'success' ? 0 : 1);
      expect(rows.map(({ event }) => event)).toEqual(expected);
    }
  });

  it(`of two administrators who give a role and the rights at once, one is refused, ${rounds} times`, async () => {
    const second = (await givenCaller(service, { isAdmin: true })).bearer;
    for (let round = 0; round < rounds; round++) {
      const user = await given();
      const answers = await Promise.all([
        service.send('PATCH', `/admin/users/${user.uid}`, { role: 'auditor' }, { bearer: second }),
        take(user, { is_admin: true }),
      ]);
      expect(answers.map(codeOf).sort()).toEqual(['COMMON_400001', 'success']);
      const { is_admin, role } = await service.userRow(user.uid);
      expect([Number(is_admin), role]).toEqual(codeOf(answers[0]) === 'success' ? [0, 'auditor'] : [1, null]);
    }
  });
});
