import { randomUUID } from 'node:crypto';
import { operatorAuthority } from '../../src/admin/authority';
import { UserExport } from '../../src/admin/user-export';
import type { SqlValue } from '../../src/platform/database/sql';
import { givenCaller, givenPasskeyRow, givenTenant, tokenOf } from '../support/admin';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { givenGroup } from '../support/groups';
import { givenApplication, signIn } from '../support/applications/application-rows';

/** docs/spec/extensions.md#export, ADR 0039 */
describe('GET /admin/users/{uid}/export', () => {
  let service: TestService;
  let admin: AdminClient;
  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, OIDC: 'on' });
    admin = await AdminClient.of(service, 'root-admin');
    await givenTenant(service, 'acme');
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    admin = await admin.again('root-admin');
  });

  const insert = (table: string, row: Record<string, SqlValue>) =>
    service.database.affected(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join(', ')})`,
      Object.values(row),
    );
  const exportOf = (uid: string, by = admin) => by.get(`users/${uid}/export`);

  it('tells everything that is stored about a person, under readable names, with times in ISO 8601', async () => {
    await insert('org_units', { id: 'sales', tenant_id: 'root', name: 'Sales' });
    const { uid } = await service.givenUser('erika', { nickname: 'Erika Mustermann', orgUnitId: 'sales' });
    const { access } = await service.session('erika');
    const wiki = await givenApplication(service, 'wiki', 'https://wiki.example.com/logout');
    await signIn(service, access, wiki);
    await givenPasskeyRow(service, uid, 'Work phone');
    await service.post('/forget-password', { email: 'erika@example.com' });
    await insert('user_tenants', { user_id: uid, tenant_id: 'acme' });
    await insert('totp_secrets', { user_id: uid, secret: 'sealed-seed', uri: 'sealed-uri', ip: '203.0.113.9' });
    await givenGroup(service, 'Editors', { members: [uid] });
    const company = { identity_provider_id: 'entra', user_id: uid };
    const [bound_at, last_used_at] = [service.clock.now(), service.clock.now()];
    await insert('external_identities', { ...company, subject_hash: 'h', subject: 'erika-42', bound_at, last_used_at });
    await insert('external_sessions', { ...company, sid: randomUUID(), subject_hash: 'h', began_at: bound_at });
    const answer = await exportOf(uid);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="user-${uid}.json"`,
      'cache-control': 'no-store',
    });
    const now = service.clock.now().toISOString();
    expect(answer.body).toMatchObject({
      ...{ uid, exported_at: now },
      account: [
        {
          ...{ login_name: 'erika', email: 'erika@example.com', nickname: 'Erika Mustermann', status: 'enabled' },
          ...{ tenant_id: 'root', org_unit: 'Sales', org_unit_id: 'sales' },
          ...{ tenant: 'Root', has_password: true, has_totp_secret: false, is_admin: false, last_login_at: now },
        },
      ],
      sessions: [{ created_at: now, amr: 'pwd', is_revoked: false, ip: '127.0.0.1' }],
      application_sign_ins: [{ application: 'wiki', application_id: wiki, began_at: now }],
      authenticator: [{ ip: '203.0.113.9', has_secret: true, has_uri: true, confirmed_at: null }],
      passkeys: [{ name: 'Work phone', has_public_key: true, backed_up: true }],
      password_links: [{ status: 'pending', type: 2, has_token_hash: true }],
      password_changes: [{ type: 'first', has_password: true }],
      user_tenants: [{ tenant_id: 'acme' }],
      group_memberships: [{ name: 'Editors', added_at: now }],
      external_identities: [{ identity_provider_id: 'entra', subject: 'erika-42', bound_at: now, signed_out_at: null }],
      external_sessions: [{ identity_provider_id: 'entra', began_at: now, has_provider_sid_hash: false }],
      external_sign_ins: [],
      mails: [{ status: 'waiting', has_payload: true, created_at: now }],
      logins: [{ outcome: 'success', login_name: 'erika', ip: '127.0.0.1', created_at: now }],
      waiting_times: expect.any(Array),
      recovery_codes: [],
    });
    expect(answer.body.audit).toContainEqual(expect.objectContaining({ event: 'USER_EXPORTED', actor_id: admin.uid }));
    expect(answer.body.audit_as_administrator).toEqual([]);
    // One row a line, so that two exports can be compared.
    expect(answer.raw.toString().split('\n').length).toBeGreaterThan(30);
  });

  it('holds no secret and no hash, and nothing of another person (T596, T597)', async () => {
    const { user, bearer } = await givenCaller(service);
    const { user: other } = await givenCaller(service, {}, null);
    const made = (await service.post('/recovery-codes', undefined, { bearer })).body.data.codes as string[];
    const rows: Record<string, Record<string, SqlValue>> = {
      trusted_devices: {
        ...{ id: randomUUID(), series_hash: `secret-${randomUUID()}`, token_hash: `secret-${randomUUID()}`, ip: '::1' },
        ...{ user_agent: 'x', last_used_at: service.clock.now(), expires: service.clock.now() },
      },
      pending_logins: {
        ...{ id: randomUUID(), channel: 'email', token_hash: 'secret-x', code_hash: 'secret-y', ip: '::1' },
        ...{ bound_to: 'secret-z', expires: service.clock.now() },
      },
      oidc_records: { id_hash: randomUUID(), kind: 'Grant', payload: 'secret-p', grant_hash: 'secret-g' },
    };
    for (const [table, row] of Object.entries(rows)) {
      await insert(table, { user_id: user.uid, created_at: service.clock.now(), ...row });
    }
    const row = await service.userRow(user.uid);
    const text = (await exportOf(user.uid)).raw.toString();
    expect(text).not.toMatch(/secret-/);
    for (const code of made) expect(text).not.toContain(code);
    for (const hash of [row.password, row.salt]) if (hash) expect(text).not.toContain(String(hash));
    expect(text).not.toContain(other.uid);
    // Every stored hash, of all tables of this service.
    for (const [table, column] of [
      ['recovery_codes', 'code_hash'],
      ['user_change_pwd_logs', 'password'],
      ['oidc_records', 'id_hash'],
    ]) {
      const stored = await service.database.rows<{ hash: string }>(`SELECT ${column} AS hash FROM ${table}`);
      for (const { hash } of stored) expect(text).not.toContain(hash);
    }
  });

  it('of an administrator it tells what they did, and not to whom (T597)', async () => {
    const { user } = await givenCaller(service, {}, null);
    await admin.send('POST', `users/${user.uid}/unlock`);
    const { body, raw } = await exportOf(admin.uid);
    expect(body.audit_as_administrator).toContainEqual(
      expect.objectContaining({ event: 'USER_UNLOCKED', ip: '127.0.0.1' }),
    );
    expect(raw.toString()).not.toContain(user.uid);
  });

  it('tells nothing of the operator whose name an administrator of a tenant has given to a user as the uid (T597)', async () => {
    const acme = await AdminClient.of(service, 'acme-importer', { tenantId: 'acme' });
    const headers = { 'content-type': 'text/csv' };
    const file = 'uid,login_name\ndeploy,deploy\n';
    const made = await service.post('/admin/users/import', file, { bearer: acme.bearer, headers });
    expect(made.body.data).toMatchObject({ created: 1 });
    // As a command with `--actor deploy` writes it, which has no address.
    const operator = { actor_id: 'deploy', event: 'TENANT_CREATED', detail: '{}', created_at: service.clock.now() };
    await insert('audit_logs', operator);
    expect((await exportOf('deploy', acme)).body).toMatchObject({ uid: 'deploy', audit_as_administrator: [] });
  });

  it('tells no address and no browser of an administrator who acted on the person, and not who began (T597)', async () => {
    const { user, bearer } = await givenCaller(service);
    await service.post('/recovery-codes', undefined, { bearer });
    await admin.send('POST', `users/${user.uid}/unlock`);
    await admin.send('POST', `users/${user.uid}/offboard`);
    const { body } = await exportOf(user.uid);
    type Row = Record<'event' | 'actor_id' | 'ip' | 'user_agent' | 'request_id', string | null>;
    const rows = body.audit as unknown as Row[];
    const ofAdmin = rows.filter(({ actor_id }) => actor_id === admin.uid);
    expect(new Set(ofAdmin.map(({ event }) => event))).toEqual(
      new Set(['USER_UNLOCKED', 'USER_STATUS_CHANGED', 'USER_OFFBOARDING_STARTED', 'USER_EXPORTED']),
    );
    for (const row of ofAdmin) expect(row).toMatchObject({ ip: null, user_agent: null, request_id: null });
    const own = rows.find(({ event }) => event === 'RECOVERY_CODES_CREATED');
    expect(own).toMatchObject({ ip: '127.0.0.1', request_id: expect.any(String) });
    const [offboarding] = body.offboardings as unknown as object[];
    expect(offboarding).toMatchObject({ via: 'api', status: expect.any(String) });
    expect(Object.keys(offboarding!).filter((name) => name.endsWith('_by'))).toEqual([]);
  });

  it('is for administrators in scope and a young session, and audited before anything leaves (T596)', async () => {
    const { user, bearer } = await givenCaller(service, {}, null);
    expect((await service.get(`/admin/users/${user.uid}/export`, { bearer })).body.error_code).toBe('AUTH_403001');
    const tenantAdmin = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    expect(outcomeOf(await exportOf(user.uid, tenantAdmin))).toBe('USER_404001');
    const above = await givenCaller(service, { tenantId: 'acme', isAdmin: true });
    expect(outcomeOf(await exportOf(above.user.uid, tenantAdmin))).toBe('AUTH_403001');
    expect(await service.count('audit_logs', "event = 'USER_EXPORTED' AND user_id = ?", [user.uid])).toBe(0);
    service.clock.advanceSeconds(301);
    expect(outcomeOf(await exportOf(user.uid))).toBe('AUTH_403002');
    admin = await admin.again('root-admin');
    expect(outcomeOf(await exportOf(user.uid))).toBe('success');
    expect(await service.count('audit_logs', "event = 'USER_EXPORTED' AND user_id = ?", [user.uid])).toBe(1);
    expect(outcomeOf(await exportOf('nobody'))).toBe('USER_404001');
  });

  it('ends with the rights of its reader: a half export is no JSON (T596)', async () => {
    const { user } = await givenCaller(service, {}, null);
    const reader = await givenCaller(service, { isAdmin: true, tenantId: 'root' }, null);
    const { app, database } = service;
    const read = database.rows.bind(database);
    const spy = jest.spyOn(database, 'rows').mockImplementation(async (text: string, values?: readonly SqlValue[]) => {
      if (/FROM login_logs/.test(text))
        await database.affected('UPDATE users SET is_admin = 0 WHERE uid = ?', [reader.user.uid]);
      return read(text, values);
    });
    const bearer = await tokenOf(service, reader.user, null);
    const cut = app.inject({ url: `/admin/users/${user.uid}/export`, headers: { authorization: `Bearer ${bearer}` } });
    const outcome = await cut.then(({ payload }) => payload).catch(() => 'cut off');
    spy.mockRestore();
    expect(() => JSON.parse(outcome) as unknown).toThrow();
  });

  it('100,000 rows of a log are read and handed on page by page', async () => {
    const { user } = await givenCaller(service, {}, null);
    const [n, at] =
      __DATABASE__ === 'sqlite'
        ? ["'r' || (i * 400 + j)", "datetime('2026-01-01', '+' || (i * 400 + j) || ' seconds') || '.000'"]
        : ["CONCAT('r', i * 400 + j)", "DATE_ADD('2026-01-01', INTERVAL i * 400 + j SECOND)"];
    const series = (name: string, most: number) =>
      `(WITH RECURSIVE s (${name}) AS (SELECT 0 UNION ALL SELECT ${name} + 1 FROM s WHERE ${name} < ${most - 1}) SELECT ${name} FROM s)`;
    await service.database.affected(
      `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
       SELECT ?, 'many', 'password', '192.0.2.9', 'x', 'success', ${n}, ${at}
       FROM ${series('i', 250)} a CROSS JOIN ${series('j', 400)} b`,
      [user.uid],
    );
    const spy = jest.spyOn(service.database, 'rows');
    let [longest, logins] = [0, 0];
    for await (const piece of await service.app.get(UserExport).begin(operatorAuthority, user.uid)) {
      longest = Math.max(longest, piece.length);
      logins += piece.match(/"login_name":"many"/g)?.length ?? 0;
    }
    const pages = await Promise.all(spy.mock.results.map(({ value }) => value as Promise<unknown[]>));
    spy.mockRestore();
    expect(logins).toBe(100_000);
    expect(Math.max(...pages.map((rows) => rows.length))).toBe(500);
    expect(longest).toBeLessThan(20_000);
  });
});
