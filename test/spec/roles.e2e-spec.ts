import { operatorAuthority } from '../../src/admin/authority';
import { UserChanges } from '../../src/admin/user-changes';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { mailStatus } from '../../src/mail/mail-status';
import type { NewUser } from '../../src/users/user-accounts';
import type { Role, User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { givenCaller, startAdministration, tokenOf } from '../support/admin';
import { AdminClient } from '../support/admin-client';
import type { TestService } from '../support/app';
import { queuedMails, toldChanges } from '../support/notices';
import { codeOf } from '../support/reset';

/** docs/spec/extensions.md#roles */
describe('roles beside is_admin', () => {
  let service: TestService;
  let root: string;
  let users = 0;

  beforeAll(async () => {
    service = await startAdministration();
    root = (await givenCaller(service, { isAdmin: true })).bearer;
  });
  afterAll(() => service.stop());

  const given = (more: Partial<NewUser> = {}) =>
    service.givenUser(`person${++users}`, { password: null, tenantId: 'acme', ...more });
  const holder = (role: Role, tenantId = 'acme') => givenCaller(service, { role, tenantId });
  const patch = ({ uid }: User, body: object, bearer = root) =>
    service.send('PATCH', `/admin/users/${uid}`, body, { bearer });
  const roleOf = async ({ uid }: User) => (await service.userRow(uid)).role;
  const found = async (uid: string) => (await service.app.get(UsersRepository).findByUid(uid))!;
  const introspected = async (token: string): Promise<unknown> => {
    const { id, secret } = await service.app.get(ServiceClients).create(`client${++users}`);
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    };
    return (await service.post('/introspect', new URLSearchParams({ token }).toString(), { headers })).body;
  };
  const audited = (event: string, { uid }: User) =>
    service.database.rows<{ detail: string }>(
      'SELECT detail FROM audit_logs WHERE event = ? AND user_id = ? ORDER BY id',
      [event, uid],
    );

  const helps = ['unlock', 'revoke-sessions', 'reset-second-factor', 'invite', 'send-reset-link'];

  describe('are given and taken', () => {
    it('by an administrator of the root tenant: sessions end, the owner and the audit log learn it once', async () => {
      const { user, bearer } = await givenCaller(service, { tenantId: 'acme' });
      expect((await patch(user, { role: 'help_desk' })).body.data).toMatchObject({
        role: 'help_desk',
        is_admin: false,
      });
      expect(codeOf(await service.get('/user/me', { bearer }))).toBe('AUTH_401004');
      const again = await tokenOf(service, await found(user.uid));
      await patch(user, { role: 'help_desk' });
      expect(codeOf(await service.get('/user/me', { bearer: again }))).toBe('success');
      await patch(user, { role: 'auditor' });
      await patch(user, { role: null });
      expect(await toldChanges(service, user)).toEqual(['auditorGiven', 'helpDeskGiven', 'roleTaken']);
      const details = (await audited('USER_ROLE_CHANGED', user)).map(({ detail }) => JSON.parse(detail) as unknown);
      expect(details).toEqual(['help_desk', 'help_desk', 'auditor', 'none'].map((role) => ({ role })));
    });

    it('with the account, and shown in the list, in user_info, in /user/me and in the introspection', async () => {
      const body = { login_name: 'desk', email: 'desk@example.com', tenant_id: 'acme', role: 'auditor' };
      const { data } = (await service.post('/admin/users', body, { bearer: root })).body;
      expect(data.role).toBe('auditor');
      const [item] = (await service.get('/admin/users?query=desk', { bearer: root })).body.data.items;
      expect(item.role).toBe('auditor');
      const bearer = await tokenOf(service, await found(String(data.uid)));
      expect((await service.get('/user/me', { bearer })).body.data).toMatchObject({ is_admin: false, role: 'auditor' });
      expect(await introspected(bearer)).toMatchObject({ is_admin: false, role: 'auditor' });
      expect((await service.get('/user/me', { bearer: root })).body.data).toMatchObject({ is_admin: true, role: null });
    });

    it.each([
      ['a role for an administrator', { isAdmin: true }, { role: 'auditor' }],
      ['the rights of an administrator beside a role', { role: 'auditor' }, { is_admin: true }],
      ['both at once', {}, { is_admin: true, role: 'help_desk' }],
      ['an unknown role', {}, { role: 'owner' }],
      ['an empty role', {}, { role: '' }],
    ] as const)('%s is COMMON_400001, and nothing changes', async (_what, more, body) => {
      const user = await given(more);
      const answer = await patch(user, body);
      expect(codeOf(answer)).toBe('COMMON_400001');
      expect(Object.keys(answer.body.data.fields as object)).toEqual(['role']);
      expect(await roleOf(user)).toBe(user.role);
    });

    it('one replaces the other in one change', async () => {
      const user = await given({ isAdmin: true });
      expect((await patch(user, { is_admin: false, role: 'auditor' })).body.data).toMatchObject({ role: 'auditor' });
      expect((await patch(user, { is_admin: true, role: null })).body.data).toMatchObject({
        is_admin: true,
        role: null,
      });
    });

    it('by nobody else: not by an administrator of the tenant, and not with a new account (T600)', async () => {
      const { bearer } = await givenCaller(service, { isAdmin: true, tenantId: 'acme' });
      const user = await given();
      for (const role of ['help_desk', null]) {
        expect(codeOf(await patch(user, { role }, bearer))).toBe('AUTH_403001');
      }
      const body = { login_name: 'made', email: 'made@example.com', role: 'help_desk' };
      expect(codeOf(await service.post('/admin/users', body, { bearer }))).toBe('AUTH_403001');
    });
  });

  describe('a help desk', () => {
    it.each<[string, Partial<NewUser>]>([
      ['an administrator of the tenant', { isAdmin: true }],
      ['another help desk', { role: 'help_desk' }],
      ['an auditor', { role: 'auditor' }],
    ])('does nothing to %s, in the own tenant and from the root tenant (T601)', async (_whom, more) => {
      const user = await given(more);
      for (const tenant of ['acme', 'root']) {
        const { bearer } = await holder('help_desk', tenant);
        for (const action of helps) {
          expect([action, codeOf(await service.post(`/admin/users/${user.uid}/${action}`, {}, { bearer }))]).toEqual([
            action,
            'AUTH_403001',
          ]);
        }
      }
      expect(await queuedMails(service, user, 'reset-link')).toEqual([]);
    });

    it('does nothing to itself (T601)', async () => {
      const { user, bearer } = await holder('help_desk');
      for (const action of helps) {
        expect(codeOf(await service.post(`/admin/users/${user.uid}/${action}`, {}, { bearer }))).toBe('AUTH_403001');
      }
    });

    it('changes no address, name, status, tenant or right, not even by the field that changes nothing (T602)', async () => {
      const user = await given();
      const { bearer } = await holder('help_desk', 'root');
      for (const body of [{ email: 'mine@example.com' }, { nickname: 'x' }, { status: -1 }, { role: null }, {}]) {
        expect(codeOf(await patch(user, body, bearer))).toBe('AUTH_403001');
      }
      expect((await service.userRow(user.uid)).email).toBe(user.email);
    });

    it('takes no list away: an export is AUTH_403001, also with a young session (T603)', async () => {
      const { user, bearer } = await holder('help_desk', 'root');
      const client = AdminClient.with(service, user.uid, bearer);
      expect((await client.get('users')).status).toBe(200);
      const target = await given();
      for (const list of ['users', `users/${target.uid}/sessions`, 'mails']) {
        expect([list, (await client.export(list)).status]).toEqual([list, 403]);
      }
    });

    it('sends a mail once more, but no mail of an administrator (T601)', async () => {
      const { bearer } = await holder('help_desk', 'root');
      const retry = async (owner: User, id: string) => {
        const [now, later] = [service.clock.now(), service.clock.secondsFromNow(3600)];
        await service.database.affected(
          `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at, user_id)
           VALUES (?, 'otp', 'x', ?, 1, ?, ?, ?, ?)`,
          [id, mailStatus.dead, now, later, now, owner.uid],
        );
        return codeOf(await service.post(`/admin/mails/${id}/retry`, {}, { bearer }));
      };
      expect(await retry(await given(), crypto.randomUUID())).toBe('success');
      expect(await retry(await given({ isAdmin: true }), crypto.randomUUID())).toBe('AUTH_403001');
    });
  });

  it('an auditor exports what the tenant has, and the row of the audit log names the auditor (T604)', async () => {
    const { user, bearer } = await holder('auditor');
    await given({ tenantId: 'other' });
    const { status, items } = await AdminClient.with(service, user.uid, bearer).export('users');
    expect(status).toBe(200);
    expect(new Set(items.map((item: { tenant_id: string }) => item.tenant_id))).toEqual(new Set(['acme']));
    expect(await service.count('audit_logs', "event = 'LIST_EXPORTED' AND actor_id = ?", [user.uid])).toBe(1);
  });

  it('an auditor of the root tenant sees no secret that administrators do not see (T604)', async () => {
    const { bearer } = await holder('auditor', 'root');
    await service.send('PUT', '/admin/config/SMTP/SECRET', { value: 'not to be seen' }, { bearer: root });
    const { body } = await service.get('/admin/config', { bearer });
    expect(JSON.stringify(body)).not.toContain('not to be seen');
    expect(body.data.items).toEqual((await service.get('/admin/config', { bearer: root })).body.data.items);
  });

  it.each<Role>(['help_desk', 'auditor'])('%s: a session without a second factor is refused (T605)', async (role) => {
    for (const factor of [null, 'device'] as const) {
      const { bearer } = await givenCaller(service, { role, tenantId: 'acme' }, factor);
      expect(codeOf(await service.get('/admin/users', { bearer }))).toBe('AUTH_403001');
    }
  });

  it('a help desk whose login is old confirms it before it helps (T605)', async () => {
    const { bearer } = await holder('help_desk');
    const { uid } = await given();
    service.clock.advanceSeconds(301);
    expect(codeOf(await service.post(`/admin/users/${uid}/unlock`, {}, { bearer }))).toBe('AUTH_403002');
    root = (await givenCaller(service, { isAdmin: true })).bearer;
  });

  it('whoever protects the rights of administrators protects a role: an administrator of the tenant changes no holder (T606)', async () => {
    const { bearer } = await givenCaller(service, { isAdmin: true, tenantId: 'acme' });
    for (const role of ['help_desk', 'auditor'] as const) {
      expect(codeOf(await patch(await given({ role }), { email: 'mine@example.com' }, bearer))).toBe('AUTH_403001');
    }
  });

  it('the erasure takes the role', async () => {
    const user = await given({ role: 'auditor' });
    await service.send('DELETE', `/admin/users/${user.uid}`, {}, { bearer: root });
    expect(await roleOf(user)).toBeNull();
  });

  it('a role is no right of an administrator for other services: /verify?admin=true refuses it (T607)', async () => {
    for (const role of ['help_desk', 'auditor'] as const) {
      const { bearer } = await holder(role);
      expect((await service.get('/verify?admin=true', { bearer })).status).toBe(403);
    }
  });

  it('the command line gives and takes a role like every other change', async () => {
    const user = await given();
    await service.app.get(UserChanges).change(operatorAuthority, user.uid, { role: 'auditor' });
    expect(await roleOf(user)).toBe('auditor');
  });
});
