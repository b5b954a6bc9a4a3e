import { UserChanges } from '../../src/admin/user-changes';
import { storeUnavailable } from '../../src/platform/database/store-failure';
import {
  givenCaller,
  givenDeviceRow,
  givenPasskeyRow,
  givenTenant,
  startAdministration,
  tokenOf,
} from '../support/admin';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { foreignId } from '../support/routes';

describe('one action for many users', () => {
  let service: TestService;
  let root: AdminClient;
  let acme: AdminClient;
  beforeAll(async () => {
    service = await startAdministration({ ...adminSettings, RATE_LIMIT: 'on', RATE_LIMIT_TARGET: '2' });
    root = await AdminClient.of(service, 'root-admin');
    acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  let made = 0;
  const given = async (more: Parameters<TestService['givenUser']>[1] = {}) =>
    (await service.givenUser(`one-of-many-${++made}`, { password: null, ...more })).uid;
  const bulk = (by: AdminClient, body: object) => by.send('POST', 'users/bulk', body);
  const results = async (by: AdminClient, body: object): Promise<(string | true)[]> => {
    const answer = await bulk(by, body);
    expect(outcomeOf(answer)).toBe('success');
    return answer.body.data.results.map(
      ({ result, error_code }: { result?: true; error_code?: string }) => result ?? error_code,
    );
  };
  const statusOf = async (uid: string) => (await service.userRow(uid)).status as number;
  const audited = (uid: string, event: string) =>
    service.count('audit_logs', 'user_id = ? AND event = ? AND actor_id = ?', [uid, event, root.uid]);

  it('each user is decided and audited alone, in the given order, and one that is repeated counts once', async () => {
    const [a, b] = [await given(), await given()];
    const answer = await bulk(root, { uids: [b, foreignId, a, b], action: 'disable' });
    expect(answer.body.data).toEqual({
      results: [
        { uid: b, result: true },
        { uid: foreignId, error_code: 'USER_404001' },
        { uid: a, result: true },
      ],
    });
    for (const uid of [a, b]) {
      expect(await statusOf(uid)).toBe(-1);
      expect(await audited(uid, 'USER_STATUS_CHANGED')).toBe(1);
    }
    expect(await results(root, { uids: [a, b], action: 'enable' })).toEqual([true, true]);
    expect(await statusOf(a)).toBe(1);
  });

  it('who was unused for too long is enabled, too, whatever the status was', async () => {
    const createdAt = service.clock.secondsFromNow(-181 * 86_400);
    const uids = [await given({ createdAt }), await given({ createdAt, status: -1 })];
    expect(await results(root, { uids, action: 'enable' })).toEqual([true, true]);
    for (const uid of uids) {
      expect(await statusOf(uid)).toBe(1);
      expect((await root.get(`users/${uid}`)).body.data.dormant).toBe(false);
    }
  });

  it('sessions end, invitations are mailed, a move ends at the tenant', async () => {
    const user = await service.givenUser('ann', { email: 'ann@example.com' });
    const { access } = await service.session('ann');
    expect(await results(root, { uids: [user.uid], action: 'revoke-sessions' })).toEqual([true]);
    expect((await service.get('/user/me', { bearer: access })).body.error_code).toBe('AUTH_401004');
    const unmailable = await given({ email: null });
    const invited = await results(root, { uids: [user.uid, unmailable], action: 'invite' });
    expect(invited).toEqual([true, 'COMMON_400001']);
    expect(await audited(user.uid, 'USER_INVITED')).toBe(1);
    expect(await results(root, { uids: [user.uid], action: 'move', tenant_id: 'acme' })).toEqual([true]);
    expect((await service.userRow(user.uid)).tenant_id).toBe('acme');
  });

  it('users of another tenant do not exist for the administrator of a tenant, and a move is not permitted (T620)', async () => {
    const [own, foreign] = [await given({ tenantId: 'acme' }), await given({ tenantId: 'other' })];
    const colleague = (await givenCaller(service, { isAdmin: true, tenantId: 'acme' })).user.uid;
    for (const action of ['disable', 'enable', 'revoke-sessions', 'invite']) {
      const [first, ...others] = await results(acme, { uids: [own, foreign, foreignId, colleague], action });
      expect(first).toBe(true);
      expect(others).toEqual(['USER_404001', 'USER_404001', 'AUTH_403001']);
      await results(root, { uids: [own], action: 'enable' });
    }
    for (const tenant_id of ['root', 'other', 'no-such-tenant']) {
      const moved = await results(acme, { uids: [own, foreign], action: 'move', tenant_id });
      expect(moved).toEqual(['AUTH_403001', 'USER_404001']);
    }
    expect((await service.userRow(own)).tenant_id).toBe('acme');
    expect(await service.count('audit_logs', 'user_id = ? AND actor_id = ?', [foreign, acme.uid])).toBe(0);
  });

  it('nobody ends the own access, and an administrator of the root tenant is always left (T621)', async () => {
    const rows = await service.database.rows<{ uid: string }>('SELECT uid FROM users WHERE is_admin = 1');
    const uids = rows.map(({ uid }) => uid);
    for (const body of [{ action: 'disable' }, { action: 'move', tenant_id: 'acme' }]) {
      const answer = await bulk(root, { uids, ...body });
      const own = answer.body.data.results.find(({ uid }: { uid: string }) => uid === root.uid);
      expect(own.error_code).toBe('USER_409002');
    }
    const left = "is_admin = 1 AND status = 1 AND tenant_id = 'root'";
    expect(await service.count('users', left)).toBe(1);
    await bulk(root, { uids, action: 'enable' });
    acme = await acme.again('acme-admin');
  });

  it('at most 500 users, known actions, and a tenant for a move only (T622)', async () => {
    const uids = Array.from({ length: 500 }, (_, n) => `${foreignId.slice(0, -4)}${String(n).padStart(4, '0')}`);
    expect(new Set(await results(root, { uids, action: 'enable' }))).toEqual(new Set(['USER_404001']));
    for (const [body, field] of [
      [{ uids: [...uids, foreignId], action: 'enable' }, 'uids'],
      [{ uids: [], action: 'enable' }, 'uids'],
      [{ uids: [{ $ne: '' }], action: 'enable' }, 'uids'],
      [{ uids: ['x'.repeat(37)], action: 'enable' }, 'uids'],
      [{ uids: [foreignId], action: 'delete' }, 'action'],
      [{ uids: [foreignId], action: 'move' }, 'tenant_id'],
      [{ uids: [foreignId], action: 'move', tenant_id: 'no-such-tenant' }, 'tenant_id'],
      [{ uids: [foreignId], action: 'enable', tenant_id: 'acme' }, 'tenant_id'],
      [{ uids: [foreignId], action: 'enable', is_admin: true }, 'is_admin'],
    ] as const) {
      const answer = await bulk(root, body);
      expect(answer.body).toMatchObject({
        error_code: 'COMMON_400001',
        data: { fields: { [field]: expect.anything() } },
      });
    }
    const tooLarge = await bulk(root, { uids: ['x'.repeat(40_000)], action: 'enable' });
    expect(outcomeOf(tooLarge)).toBe('COMMON_413001');
    const elsewhere = await root.send('PATCH', `users/${foreignId}`, { nickname: 'x'.repeat(20_000) });
    expect(outcomeOf(elsewhere)).toBe('COMMON_413001');
  });

  it('a person gets no more mails by many bulks than by many requests (T623)', async () => {
    const [bombed, other] = [await given({ email: 'bombed@example.com' }), await given({ email: 'else@example.com' })];
    const outcomes: unknown[] = [];
    for (let n = 0; n < 4; n++) outcomes.push(...(await results(root, { uids: [bombed], action: 'invite' })));
    expect(outcomes).toEqual([true, true, 'COMMON_429001', 'COMMON_429001']);
    expect(await results(root, { uids: [bombed, other], action: 'invite' })).toEqual(['COMMON_429001', true]);
  });

  it('when the database fails in the middle, the users before are done, and the others are not tried', async () => {
    const uids = [await given(), await given(), await given(), await given()];
    const changes = service.app.get(UserChanges);
    const change = changes.change.bind(changes);
    const spy = jest.spyOn(changes, 'change').mockImplementation((by, uid, wanted) => {
      if (uid === uids[1]) return Promise.reject(storeUnavailable(new Error('the database is gone')));
      return change(by, uid, wanted);
    });
    const outcomes = await results(root, { uids, action: 'disable' });
    expect(outcomes).toEqual([true, 'COMMON_503001', 'COMMON_503001', 'COMMON_503001']);
    expect(spy).toHaveBeenCalledTimes(2);
    expect(await Promise.all(uids.map(statusOf))).toEqual([-1, 1, 1, 1]);
  });

  it('after 20 seconds the others are refused without being tried, and an unexpected error is that of one user', async () => {
    const uids = [await given(), await given(), await given(), await given()];
    const changes = service.app.get(UserChanges);
    const change = changes.change.bind(changes);
    jest.spyOn(changes, 'change').mockImplementation(async (by, uid, wanted) => {
      if (uid === uids[0]) throw new Error('a bug');
      await change(by, uid, wanted);
      if (uid === uids[2]) service.clock.advanceSeconds(20);
    });
    const outcomes = await results(root, { uids, action: 'disable' });
    expect(outcomes).toEqual(['COMMON_500001', true, true, 'COMMON_503001']);
    expect(await statusOf(uids[3]!)).toBe(1);
  });

  it('the rights of the caller count for each user: a demotion in the middle ends the rest', async () => {
    const { user, bearer } = await givenCaller(service, { isAdmin: true });
    const uids = [await given(), await given(), await given()];
    const changes = service.app.get(UserChanges);
    const change = changes.change.bind(changes);
    jest.spyOn(changes, 'change').mockImplementation(async (by, uid, wanted) => {
      await change(by, uid, wanted);
      if (uid === uids[0]) await change({ scope: by.scope }, user.uid, { isAdmin: false });
    });
    const answer = await service.post('/admin/users/bulk', { uids, action: 'disable' }, { bearer });
    const codes = answer.body.data.results.map((one: { error_code?: string }) => one.error_code);
    expect(codes).toEqual([undefined, 'AUTH_401004', 'AUTH_401004']);
    expect(await statusOf(uids[1]!)).toBe(1);
  });
});

describe('one session and one trusted device of a user, for administrators', () => {
  let service: TestService;
  let root: AdminClient;
  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, MFA_TRUSTED_DEVICE_DAYS: '30' });
    await givenTenant(service, 'acme');
    root = await AdminClient.of(service, 'root-admin');
  });
  afterAll(() => service.stop());

  const devices = (uid: string) => root.items(`users/${uid}/devices`);
  const givenDevice = (uid: string) => givenDeviceRow(service, uid);

  it('one session ends, the others go on, and the audit row names the administrator', async () => {
    const user = await service.givenUser('ben', { password: null });
    const [first, second] = [await tokenOf(service, user), await tokenOf(service, user)];
    const [{ sid }] = (await service.get('/user/sessions', { bearer: first })).body.data.sessions.filter(
      ({ current }: { current: boolean }) => current,
    );
    expect(outcomeOf(await root.send('DELETE', `users/${user.uid}/sessions/${sid}`))).toBe('success');
    expect((await service.get('/user/me', { bearer: first })).body.error_code).toBe('AUTH_401004');
    expect((await service.get('/user/me', { bearer: second })).status).toBe(200);
    expect(outcomeOf(await root.send('DELETE', `users/${user.uid}/sessions/${sid}`))).toBe('USER_404001');
    const rows = await service.database.rows(
      "SELECT actor_id, detail FROM audit_logs WHERE event = 'SESSION_CLOSED' AND user_id = ?",
      [user.uid],
    );
    expect(rows).toEqual([{ actor_id: root.uid, detail: JSON.stringify({ sid }) }]);
  });

  it('one device needs a code again, and the others do not', async () => {
    const { uid } = await service.givenUser('cleo', { password: null });
    const [first, second] = [await givenDevice(uid), await givenDevice(uid)];
    expect((await devices(uid)).map(({ id }) => id).sort()).toEqual([first, second].sort());
    expect(outcomeOf(await root.send('DELETE', `users/${uid}/devices/${first}`))).toBe('success');
    expect((await devices(uid)).map(({ id }) => id)).toEqual([second]);
    expect(outcomeOf(await root.send('DELETE', `users/${uid}/devices/${first}`))).toBe('USER_404001');
    expect(await service.count('audit_logs', "event = 'TRUSTED_DEVICE_REMOVED' AND actor_id = ?", [root.uid])).toBe(1);
  });

  it('what belongs to another user, another tenant or nobody is USER_404001, and stays', async () => {
    const acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    const [user, other] = [
      await service.givenUser('dora', { password: null }),
      await service.givenUser('eve', { password: null, tenantId: 'acme' }),
    ];
    const bearer = await tokenOf(service, user);
    const [{ sid }] = (await service.get('/user/sessions', { bearer })).body.data.sessions;
    const device = await givenDevice(user.uid);
    const passkey = await givenPasskeyRow(service, user.uid);
    for (const what of [`sessions/${sid}`, `devices/${device}`, `passkeys/${passkey}`]) {
      expect(outcomeOf(await root.send('DELETE', `users/${other.uid}/${what}`))).toBe('USER_404001');
      expect(outcomeOf(await acme.send('DELETE', `users/${other.uid}/${what}`))).toBe('USER_404001');
      expect(outcomeOf(await acme.send('DELETE', `users/${user.uid}/${what}`))).toBe('USER_404001');
      expect(outcomeOf(await root.send('DELETE', `users/${user.uid}/${what}%20`))).toBe('USER_404001');
    }
    expect((await service.get('/user/me', { bearer })).status).toBe(200);
    expect(await devices(user.uid)).toHaveLength(1);
  });

  it.each(['bulk', 'import'])('a user with the uid "%s" is read, changed and deleted as before', async (uid) => {
    await service.givenUser(`called-${uid}`);
    await service.database.affected('UPDATE users SET uid = ? WHERE login_name = ?', [uid, `called-${uid}`]);
    expect((await root.get(`users/${uid}`)).body.data.uid).toBe(uid);
    const methods = ['PATCH', 'DELETE'] as const;
    for (const method of methods) {
      const body = method === 'PATCH' ? { nickname: 'Renamed' } : undefined;
      expect(outcomeOf(await root.send(method, `users/${uid}`, body))).toBe('success');
    }
  });
});
