import { givenCaller, givenPasskeyRow, givenTenant, startAdministration, tokenOf } from '../support/admin';
import { type Answer, password, type TestService } from '../support/app';
import { goodPassword, look, submit } from '../support/reset';

const day = 86_400;

const code = ({ status, body }: Answer) => (status === 200 ? '200' : String(body.error_code));

describe('users, as administrators see and change them', () => {
  let service: TestService;
  let root: string;
  let rootUid: string;
  let acme: string;
  let acmeUid: string;
  beforeAll(async () => {
    service = await startAdministration({ MAX_LOCK_COUNT: '3', MFA_TRUSTED_DEVICE_DAYS: '30' });
    await service.database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('sales', 'acme', 'Sales')");
    await service.database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('lab', 'other', 'Lab')");
    const callers = [await givenCaller(service, { isAdmin: true }), await givenAcme()] as const;
    [root, rootUid] = [callers[0].bearer, callers[0].user.uid];
    [acme, acmeUid] = [callers[1].bearer, callers[1].user.uid];
  });
  afterAll(() => service.stop());

  const givenAcme = () => givenCaller(service, { isAdmin: true, tenantId: 'acme' });
  const patch = (uid: string, body: object, bearer = root) =>
    service.send('PATCH', `/admin/users/${uid}`, body, { bearer });
  const list = async (query: string, bearer = root): Promise<string[]> => {
    const { body } = await service.get(`/admin/users?${query}`, { bearer });
    return (body.data.items as { login_name: string }[]).map(({ login_name }) => login_name);
  };
  const lastAudit = async (userId: string) => {
    const row = await service.database.row<Record<string, any>>(
      'SELECT event, actor_id, ip, request_id, detail FROM audit_logs WHERE user_id = ? ORDER BY id DESC LIMIT 1',
      [userId],
    );
    return { ...row, detail: JSON.parse(String(row?.detail)) as unknown };
  };

  it('a new user waits for an invitation, which goes out in the same transaction', async () => {
    const body = {
      login_name: 'Invited',
      email: 'invited@example.com',
      tenant_id: 'acme',
      org_unit_id: 'sales',
      invite: true,
    };
    const mails = await service.count('mail_outbox');
    const { body: answer } = await service.post('/admin/users', body, { bearer: root });
    expect(answer.data).toMatchObject({ login_name: 'Invited', status: 1, tenant_id: 'acme', org_unit_id: 'sales' });
    expect(await service.count('mail_outbox')).toBe(mails + 1);
    const uid = String(answer.data.uid);
    expect(await service.count('user_change_password_request', 'user_id = ? AND type = 0', [uid])).toBe(1);
    expect(await service.count('audit_logs', 'user_id = ? AND actor_id = ?', [uid, rootUid])).toBe(2);
    const [gates, again] = [
      await service.count('cooldowns'),
      await service.post('/admin/users', body, { bearer: root }),
    ];
    expect(code(again)).toBe('USER_409001');
    expect(await service.count('cooldowns')).toBe(gates);
  });

  it.each<[string, object, string]>([
    ['no name', { email: 'a@example.com' }, 'login_name'],
    ['a name of control characters', { login_name: 'a\u0007', email: 'a@example.com' }, 'login_name'],
    ['no address', { login_name: 'nobody' }, 'email'],
    ['two addresses', { login_name: 'nobody', email: 'a@example.com,b@example.com' }, 'email'],
    ['an unknown tenant', { login_name: 'nobody', email: 'a@example.com', tenant_id: 'none' }, 'tenant_id'],
    ['a unit of another tenant', { login_name: 'nobody', email: 'a@example.com', org_unit_id: 'lab' }, 'org_unit_id'],
    ['an unknown field', { login_name: 'nobody', email: 'a@example.com', password: 'x' }, 'password'],
    ['null for a flag', { login_name: 'nobody', email: 'a@example.com', is_admin: null }, 'is_admin'],
  ])('a user with %s is COMMON_400001, which names the field', async (_what, body, field) => {
    const answer = await service.post('/admin/users', body, { bearer: root });
    expect(code(answer)).toBe('COMMON_400001');
    expect(Object.keys(answer.body.data.fields as object)).toEqual([field]);
  });

  it('a change is audited with the actor, the address and the request, and names the fields without their values', async () => {
    const { uid } = await service.givenUser('changed', { password: null, tenantId: 'acme' });
    const { body } = await patch(uid, { email: 'new@example.com', nickname: 'New', mfa_type: 'totp' });
    expect(body.data).toMatchObject({ uid, email: 'new@example.com', nickname: 'New', mfa_type: 'totp' });
    expect(await lastAudit(uid)).toMatchObject({
      event: 'USER_CHANGED',
      actor_id: rootUid,
      ip: '127.0.0.1',
      request_id: expect.any(String) as string,
      detail: { fields: 'email nickname' },
    });
    const { uid: other } = await service.givenUser('changed-too', { password: null });
    expect(code(await patch(other, { email: 'NEW@example.com' }))).toBe('USER_409001');
    expect(code(await patch(other, {}))).toBe('COMMON_400001');
    expect(code(await patch(other, { login_name: 'x' }))).toBe('COMMON_400001');
  });

  it('a new address ends the links and codes that went to the former one', async () => {
    const { uid } = await service.givenUser('moved-mail');
    await service.post('/forget-password', { email: 'moved-mail@example.com' });
    const open = () => service.count('user_change_password_request', 'user_id = ? AND status = 0', [uid]);
    expect(await open()).toBe(1);
    await patch(uid, { email: 'moved-mail-2@example.com' });
    expect(await open()).toBe(0);
  });

  it.each<[string, object]>([
    ['status', { status: 0 }],
    ['tenant', { tenant_id: 'other' }],
    ['right', { is_admin: true }],
  ])('a new %s ends every token of the user', async (what, body) => {
    const { user, bearer } = await givenCaller(service, { tenantId: 'acme' });
    expect((await service.get('/user/me', { bearer })).status).toBe(200);
    expect(code(await patch(user.uid, body))).toBe('200');
    expect(code(await service.get('/user/me', { bearer }))).toBe('AUTH_401004');
    expect(what).toBeTruthy();
  });

  it('a move to another tenant leaves the unit of the former one', async () => {
    const { uid } = await service.givenUser('moves', { password: null, tenantId: 'acme', orgUnitId: 'sales' });
    expect((await patch(uid, { tenant_id: 'other' })).body.data).toMatchObject({
      tenant_id: 'other',
      org_unit_id: null,
    });
    expect(await lastAudit(uid)).toMatchObject({ detail: { from_tenant: 'acme', to_tenant: 'other' } });
    expect(code(await patch(uid, { org_unit_id: 'sales' }))).toBe('COMMON_400001');
  });

  it('the support of a user: lock, sessions, second factor, links, each with its audit row', async () => {
    const { user } = await givenCaller(service, { tenantId: 'acme' });
    await service.database.affected(
      'UPDATE users SET login_failed_count = 3, last_login_failed_time = ? WHERE uid = ?',
      [service.clock.now(), user.uid],
    );
    const one = async () => (await service.get(`/admin/users/${user.uid}`, { bearer: acme })).body.data;
    expect(await one()).toMatchObject({ locked: true, failed_logins: 3, sessions: 1, devices: 0, passkeys: 0 });
    for (const [action, event] of [
      ['unlock', 'USER_UNLOCKED'],
      ['revoke-sessions', 'USER_TOKENS_REVOKED'],
      ['reset-second-factor', 'TOTP_RESET'],
      ['require-password-change', 'USER_PASSWORD_CHANGE_REQUIRED'],
      ['invite', 'USER_INVITED'],
      ['send-reset-link', 'USER_RESET_PASSWORD'],
    ] as const) {
      const answer = await service.post(`/admin/users/${user.uid}/${action}`, undefined, { bearer: acme });
      expect([action, answer.body.data]).toEqual([action, { result: true }]);
      expect(await lastAudit(user.uid)).toMatchObject({ event, actor_id: acmeUid, ip: '127.0.0.1' });
    }
    expect(await one()).toMatchObject({ locked: false, failed_logins: 0, sessions: 0 });
  });

  it('T011 an administrator enables a user who was unused for too long, and from then on the account counts as used', async () => {
    const { uid } = await service.givenUser('back-from-leave', { createdAt: service.clock.secondsFromNow(-181 * day) });
    const dormant = async () => (await service.get(`/admin/users/${uid}`, { bearer: root })).body.data.dormant;
    expect(code(await service.login('back-from-leave'))).toBe('LOGIN_401008');
    expect(await dormant()).toBe(true);
    expect(code(await patch(uid, { status: 1 }))).toBe('200');
    expect(await lastAudit(uid)).toMatchObject({ event: 'USER_STATUS_CHANGED', detail: { from: 1, to: 1 } });
    expect(await dormant()).toBe(false);
    expect(code(await service.login('back-from-leave'))).toBe('200');
    // A user who was enabled and never signs in has as many days as a new user.
    const ago = [service.clock.secondsFromNow(-200 * day), service.clock.secondsFromNow(-181 * day)];
    await service.database.affected('UPDATE users SET last_login_success_time = ?, enabled_at = ? WHERE uid = ?', [
      ...ago,
      uid,
    ]);
    expect(code(await service.login('back-from-leave'))).toBe('LOGIN_401008');
  });

  it('somebody who left long ago and comes back is let in', async () => {
    const { uid } = await service.givenUser('left-long-ago', { createdAt: service.clock.secondsFromNow(-400 * day) });
    await patch(uid, { status: -1 });
    expect(code(await service.login('left-long-ago'))).toBe('LOGIN_401011');
    await patch(uid, { status: 1 });
    expect(code(await service.login('left-long-ago'))).toBe('200');
  });

  it('a demanded change of the password: open sessions go on, the next login asks for it, and the owner meets it', async () => {
    const user = await service.givenUser('suspected', { tenantId: 'acme' });
    const former = await service.session('suspected');
    const demand = () => service.post(`/admin/users/${user.uid}/require-password-change`, undefined, { bearer: acme });
    expect((await demand()).body.data).toEqual({ result: true });
    expect(await lastAudit(user.uid)).toMatchObject({ detail: { changed: true } });
    expect((await demand()).body.data).toEqual({ result: true });
    expect(await lastAudit(user.uid)).toMatchObject({ detail: { changed: false } });
    expect((await service.get('/user/me', { bearer: former.access })).status).toBe(200);
    expect((await service.post('/refresh', undefined, { bearer: former.refresh })).status).toBe(200);

    const { data } = (await service.login('suspected')).body;
    expect(data).toMatchObject({ change_password: true, access_token: null, refresh_token: null });
    expect((await look(service, data.change_uid)).body.data).toMatchObject({ type: 0, status: 0 });
    expect(code(await submit(service, data.change_uid, goodPassword(1)))).toBe('200');
    expect((await service.login('suspected', goodPassword(1))).body.data).toMatchObject({ change_password: false });
    expect(code(await service.get('/user/me', { bearer: former.access }))).toBe('AUTH_401004');
  });

  it('a demanded change is met by an own change of the password in an open session', async () => {
    const user = await service.givenUser('changes-at-once', { tenantId: 'acme' });
    const { access: bearer } = await service.session('changes-at-once');
    await service.post(`/admin/users/${user.uid}/require-password-change`, undefined, { bearer: acme });
    const chosen = { password: goodPassword(1), confirm_password: goodPassword(1) };
    const changed = await service.post('/user/change-password', { current_password: password, ...chosen }, { bearer });
    expect(changed.status).toBe(200);
    const next = await service.login('changes-at-once', goodPassword(1));
    expect(next.body.data).toMatchObject({ change_password: false });
  });

  it('only the root tenant makes directory users: a tenant cannot capture a person who has not signed in yet', async () => {
    const wanted = { login_name: 'not-signed-in-yet', email: 'boss@example.test', provider: 'ldap', tenant_id: 'acme' };
    const make = (bearer: string) => service.post('/admin/users', wanted, { bearer });
    expect(code(await make(acme))).toBe('AUTH_403001');
    expect(await service.count('users', 'login_name = ?', [wanted.login_name])).toBe(0);
    const { uid } = (await make(root)).body.data as { uid: string };
    expect(await service.userRow(uid)).toMatchObject({ provider: 'ldap', tenant_id: 'acme' });
  });

  it('no change of a user makes a directory user of it', async () => {
    const { uid } = await service.givenUser('stays-local', { password: null, tenantId: 'acme' });
    const change = { nickname: 'other', provider: 'ldap' };
    await service.send('PATCH', `/admin/users/${uid}`, change, { bearer: acme });
    expect(await service.userRow(uid)).toMatchObject({ provider: 'password' });
  });

  it('no change of the password is demanded of a directory user', async () => {
    const { uid } = await service.givenUser('password-elsewhere', { provider: 'ldap', tenantId: 'acme' });
    const answer = await service.post(`/admin/users/${uid}/require-password-change`, undefined, { bearer: root });
    expect(code(answer)).toBe('AUTH_403001');
    expect(Number((await service.userRow(uid)).must_change_password)).toBe(0);
  });

  it('a directory user gets no link, and neither does a user without an address', async () => {
    const ldap = await service.givenUser('from-directory', { provider: 'ldap', tenantId: 'acme' });
    const silent = await service.givenUser('no-address', { password: null, email: null });
    for (const action of ['invite', 'send-reset-link']) {
      const links = (uid: string) => service.post(`/admin/users/${uid}/${action}`, undefined, { bearer: root });
      expect(code(await links(ldap.uid))).toBe('AUTH_403001');
      expect(code(await links(silent.uid))).toBe('COMMON_400001');
    }
  });

  it('sessions, logins and passkeys of a user are paged, the newest first', async () => {
    const { user } = await givenCaller(service, { tenantId: 'acme' });
    await givenPasskeyRow(service, user.uid);
    service.clock.advanceSeconds(1);
    await tokenOf(service, user);
    await givenPasskeyRow(service, user.uid);
    for (const kind of ['sessions', 'logins', 'passkeys']) {
      const page = (query: string) => service.get(`/admin/users/${user.uid}/${kind}?${query}`, { bearer: root });
      const first = (await page('limit=1')).body.data;
      const second = (await page(`limit=1&after=${first.next}`)).body.data;
      expect(first.items[0].created_at > second.items[0].created_at).toBe(true);
      expect(second).toMatchObject({ items: [expect.any(Object)], next: null });
      expect(JSON.stringify([first, second])).not.toContain(user.email);
    }
  });

  describe('tenants', () => {
    let bystander: string;
    beforeAll(async () => {
      bystander = (await service.givenUser('bystander', { password: null, tenantId: 'other', nickname: 'Bystander' }))
        .uid;
    });

    it('are not crossed by the filters and cursors of lists (T314)', async () => {
      for (const query of ['query=bystander', 'tenant_id=other', 'query=bystander&tenant_id=other', 'query=Byst']) {
        expect(await list(query, acme)).toEqual([]);
        expect(await list(query)).toContain('bystander');
      }
      const everything = await service.get('/admin/users?limit=1', { bearer: root });
      const next = String(everything.body.data.next);
      const { body } = await service.get(`/admin/users?limit=200&after=${next}`, { bearer: acme });
      expect(new Set((body.data.items as { tenant_id: string }[]).map(({ tenant_id }) => tenant_id))).toEqual(
        new Set(['acme']),
      );
      const stream = await service.get('/admin/users', { bearer: acme, headers: { accept: 'application/x-ndjson' } });
      expect(stream.raw.toString()).toContain('"acme"');
      expect(stream.raw.toString()).not.toContain('bystander');
    });

    it('are not crossed by bodies (T314)', async () => {
      const { uid } = await service.givenUser('stays', { password: null, tenantId: 'acme' });
      const body = { login_name: 'crossing', email: 'crossing@example.com' };
      expect(code(await service.post('/admin/users', { ...body, tenant_id: 'other' }, { bearer: acme }))).toBe(
        'AUTH_403001',
      );
      expect(code(await service.post('/admin/users', { ...body, org_unit_id: 'lab' }, { bearer: acme }))).toBe(
        'COMMON_400001',
      );
      expect(code(await service.post('/admin/users', { ...body, is_admin: true }, { bearer: acme }))).toBe(
        'AUTH_403001',
      );
      for (const change of [{ tenant_id: 'other' }, { tenant_id: 'root' }, { is_admin: true }, { is_admin: false }]) {
        expect(code(await patch(uid, change, acme))).toBe('AUTH_403001');
      }
      expect(code(await patch(uid, { org_unit_id: 'lab' }, acme))).toBe('COMMON_400001');
      expect(code(await patch(bystander, { nickname: 'x' }, acme))).toBe('USER_404001');
    });

    it('a tenant that is called like a scope has no more rights than others (T315)', async () => {
      await givenTenant(service, 'all');
      const { bearer } = await givenCaller(service, { isAdmin: true, tenantId: 'all' });
      expect(await list('query=bystander', bearer)).toEqual([]);
      expect(code(await service.get(`/admin/users/${bystander}`, { bearer }))).toBe('USER_404001');
    });

    it('an administrator of a tenant does not change administrators, and root changes them (T315)', async () => {
      const { user } = await givenAcme();
      const changes: [string, string, object?][] = [
        ['PATCH', '', { nickname: 'x' }],
        ['PATCH', '', { status: -1 }],
        ['DELETE', ''],
        ['POST', '/unlock'],
        ['POST', '/revoke-sessions'],
        ['POST', '/reset-second-factor'],
        ['POST', '/require-password-change'],
        ['POST', '/invite'],
        ['POST', '/send-reset-link'],
        ['DELETE', `/passkeys/${await givenPasskeyRow(service, user.uid)}`],
      ];
      for (const [method, action, body] of changes) {
        const answer = await service.send(method as 'POST', `/admin/users/${user.uid}${action}`, body, {
          bearer: acme,
        });
        expect([method, action, code(answer)]).toEqual([method, action, 'AUTH_403001']);
      }
      expect(code(await patch(user.uid, { is_admin: false }))).toBe('200');
    });
  });

  it('nobody disables, demotes, moves or deletes the own account (T316)', async () => {
    for (const [uid, bearer] of [
      [rootUid, root],
      [acmeUid, acme],
    ] as const) {
      for (const body of [{ status: 0 }, { status: -1 }, { is_admin: false }, { tenant_id: 'other' }]) {
        expect([body, code(await patch(uid, body, bearer))]).toEqual([body, 'USER_409002']);
      }
      expect(code(await service.send('DELETE', `/admin/users/${uid}`, undefined, { bearer }))).toBe('USER_409002');
    }
    expect(code(await patch(rootUid, { nickname: 'Me', status: 1, tenant_id: 'root', is_admin: true }))).toBe('200');
  });

  it.each(['AAAA', 'WyJhIl0', '!', 'WzAsMSwyXQ', 'WzksImEiLCJiIl0', 'Wy0xLCJhIiwiYiJd', 'WzAuNSwiYSIsImIiXQ'])(
    'the forged cursor %s is refused or empty, never a failure (T317)',
    async (after) => {
      for (const query of ['', '&locked=true', '&query=a']) {
        const { status } = await service.get(`/admin/users?after=${after}${query}`, { bearer: root });
        expect([200, 400]).toContain(status);
      }
      const { status } = await service.get(`/admin/users/${rootUid}/logins?after=${after}`, { bearer: root });
      expect(status).toBe(400);
    },
  );

  it('T718 the cursor of the locked users of one tenant shows no row, because it can be that of another tenant', async () => {
    for (const name of ['locked-1', 'locked-2']) {
      const { uid } = await service.givenUser(name, { tenantId: 'acme' });
      await service.database.affected(
        'UPDATE users SET login_failed_count = 3, last_login_failed_time = ? WHERE uid = ?',
        [service.clock.now(), uid],
      );
    }
    const page = async (more: string, bearer = acme) =>
      (await service.get(`/admin/users?locked=true&limit=1${more}`, { bearer })).body.data;
    const first = await page('');
    const shown = Buffer.from(first.next, 'base64url').toString('latin1');
    expect(shown).not.toContain(first.items[0].uid);
    const second = await page(`&after=${encodeURIComponent(first.next)}`);
    expect(second.items[0].uid).not.toBe(first.items[0].uid);
    const ofRoot = await page('', root);
    expect(JSON.parse(Buffer.from(ofRoot.next, 'base64url').toString())).toContain(ofRoot.items[0].uid);
  });

  it('a made-up cursor of any list is refused or a place like any other, never a failure (T317)', async () => {
    const values = [-1, 9_007_199_254_740_991, -9_007_199_254_740_991, 'x', '-1e300', '\0'];
    const places = values.flatMap((one) => [[one], [one, 'x'], [one, 0], [0, one, 'x']]);
    const lists = [
      ...['users?', 'users?locked=true&', 'users?query=a&', `users/${rootUid}/logins?`, `users/${rootUid}/sessions?`],
      `users/${rootUid}/passkeys?`,
      ...['mails?', 'login-logs?', 'tenants?', 'org-units?'],
    ];
    const failures: string[] = [];
    for (const path of lists) {
      for (const place of places) {
        const after = Buffer.from(JSON.stringify(place)).toString('base64url');
        const { status } = await service.get(`/admin/${path}limit=1&after=${after}`, { bearer: root });
        if (status !== 200 && status !== 400) failures.push(`${path} ${JSON.stringify(place)}: ${status}`);
      }
    }
    expect(failures).toEqual([]);
  });

  it('a name or an address whose key is longer than its column is COMMON_400001, a nickname never has such a key', async () => {
    const long = 'ﷺ'.repeat(15);
    const create = (more: object) =>
      service.post('/admin/users', { login_name: 'key', email: 'key@example.com', ...more }, { bearer: root });
    expect(code(await create({ login_name: long }))).toBe('COMMON_400001');
    expect(code(await create({ email: `${long}@example.com` }))).toBe('COMMON_400001');
    const { body } = await create({ nickname: 'İ'.repeat(255) });
    expect(body.data).toMatchObject({ nickname: 'İ'.repeat(255) });
    expect(code(await patch(String(body.data.uid), { email: `${long}@example.com` }))).toBe('COMMON_400001');
    expect(await list(`query=${encodeURIComponent('İİİ')}`)).toEqual(['key']);
  });

  it('a wrong value or an unknown parameter of a query is COMMON_400001', async () => {
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'status=2', 'locked=yes', 'offset=3', 'query=a&query=b']) {
      expect([query, code(await service.get(`/admin/users?${query}`, { bearer: root }))]).toEqual([
        query,
        'COMMON_400001',
      ]);
    }
  });

  it('no answer contains a secret (T318)', async () => {
    const user = await service.givenUser('with-secrets', { tenantId: 'acme' });
    await service.database.affected("UPDATE users SET topt_secret = 'sealed-secret' WHERE uid = ?", [user.uid]);
    const row = await service.userRow(user.uid);
    const answers = await Promise.all(
      ['', `/${user.uid}`, `/${user.uid}/sessions`, `/${user.uid}/logins`, '?query=with-secrets'].map((path) =>
        service.get(`/admin/users${path}`, { bearer: root }),
      ),
    );
    const text = answers.map(({ raw }) => raw.toString()).join();
    expect(text).toContain('with-secrets');
    for (const secret of [row.password, row.salt, row.topt_secret]) expect(text).not.toContain(String(secret));
    expect(text).not.toMatch(/\$2[aby]\$|"(password|salt|topt?_secret|token_hash|credential_version)":/);
  });
});
