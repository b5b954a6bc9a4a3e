import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { TestService } from '../support/app';
import { contract } from '../support/contract';
import { countStatements } from '../support/count-statements';
import { givenGroup } from '../support/groups';

const identity = [
  'x-auth-subject',
  'x-auth-name',
  'x-auth-display-name',
  'x-auth-email',
  'x-auth-tenant',
  'x-auth-unit',
  'x-auth-groups',
  'x-auth-amr',
];

describe('GET /verify', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
    const { database, clock } = service;
    await database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [clock.now()]);
    await database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('sales', 'root', 'Sales')");
  });
  afterAll(() => service.stop());

  const verify = (bearer?: string, query = '', headers: Record<string, string> = {}) =>
    service.get(`/verify${query}`, { bearer, headers });

  async function given(name: string, more: Parameters<TestService['givenUser']>[1] = {}) {
    const { uid } = await service.givenUser(name, more);
    return { uid, ...(await service.session(name)) };
  }

  it('a live access token is 200 with an empty body, and the headers say who it is', async () => {
    const { uid, access } = await given('ann', { nickname: 'Ann Berg', orgUnitId: 'sales', isAdmin: true });
    const { status, headers, raw } = await verify(access);
    expect({ status, body: raw.toString() }).toEqual({ status: 200, body: '' });
    expect(Object.fromEntries(identity.map((name) => [name, headers[name]]))).toEqual({
      'x-auth-subject': uid,
      'x-auth-name': 'ann',
      'x-auth-display-name': 'Ann Berg',
      'x-auth-email': 'ann@example.com',
      'x-auth-tenant': 'root',
      'x-auth-unit': 'sales',
      'x-auth-groups': '',
      'x-auth-amr': 'pwd',
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-length']).toBe('0');
  });

  it('T368 a header without a value is sent empty, so that a proxy overwrites what the client has sent', async () => {
    const { access } = await given('bob', { nickname: null, email: null });
    const { headers } = await verify(access);
    for (const name of ['x-auth-display-name', 'x-auth-email', 'x-auth-unit', 'x-auth-groups']) {
      expect([name, headers[name]]).toEqual([name, '']);
    }
  });

  it('T369 values are percent-encoded, and what decodes them gets exactly the text', async () => {
    const names = ['Zoë, 50 % Müller', ' 李\u{1F600} ', 'a%2Cb', 'semi;colon "quoted" \\ +'];
    for (const [n, nickname] of names.entries()) {
      const { uid, access } = await given(`enc${n}`);
      await service.database.affected('UPDATE users SET nickname = ? WHERE uid = ?', [nickname, uid]);
      const value = (await verify(access)).headers['x-auth-display-name'] as string;
      expect(value).toMatch(/^[\x20-\x7e]*$/);
      expect(value).not.toContain(',');
      expect(decodeURIComponent(value)).toBe(nickname);
    }
  });

  it('T369 a line end in a name, as an import could bring it, begins no header of its own', async () => {
    const { uid, access } = await given('crlf');
    const nickname = 'Eve\r\nX-Auth-Subject: root\r\n\r\n<html>\0';
    await service.database.affected('UPDATE users SET nickname = ? WHERE uid = ?', [nickname, uid]);
    const { status, headers, raw } = await verify(access);
    expect({ status, body: raw.toString(), subject: headers['x-auth-subject'] }).toEqual({
      ...{ status: 200, body: '', subject: uid },
    });
    expect(headers['x-auth-display-name']).toBe('Eve%0D%0AX-Auth-Subject: root%0D%0A%0D%0A<html>%00');
  });

  it('a request without a token is 401 with WWW-Authenticate: Bearer, without an error code (RFC 6750 §3.1)', async () => {
    for (const headers of [{}, { authorization: 'Basic YTpi' }] as Record<string, string>[]) {
      const answer = await verify(undefined, '', headers);
      expect(answer).toMatchObject({ status: 401, body: { error_code: 'AUTH_401001' } });
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(identity.filter((name) => name in answer.headers)).toEqual([]);
    }
  });

  it.each([
    ['a refresh token', async () => (await given('r1')).refresh, 'AUTH_401001'],
    ['a token after the logout', loggedOut, 'AUTH_401004'],
    ['a token after user revoke-tokens', revoked, 'AUTH_401004'],
    ['a token of a disabled user', disabled, 'AUTH_401004'],
    ['a forged token', async () => `${(await given('f1')).access.slice(0, -4)}AAAA`, 'AUTH_401001'],
    ['nonsense', () => Promise.resolve('x'.repeat(9000)), 'AUTH_401001'],
  ])('T371 %s is 401 with error="invalid_token", at once', async (_what, token, code) => {
    const answer = await verify(await token());
    expect(answer).toMatchObject({ status: 401, body: { error_code: code } });
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it('T371 an expired token is 401', async () => {
    const { access } = await given('late');
    service.clock.advanceSeconds(900);
    expect(await verify(access)).toMatchObject({ status: 401, body: { error_code: 'AUTH_401002' } });
  });

  async function loggedOut(): Promise<string> {
    const { access } = await given('lo');
    expect((await verify(access)).status).toBe(200);
    await service.post('/logout', {}, { bearer: access });
    return access;
  }
  async function revoked(): Promise<string> {
    const { uid, access } = await given('rv');
    expect((await verify(access)).status).toBe(200);
    await service.database.transaction((tx) => service.app.get(TokenRevoker).revokeAll(tx, uid));
    return access;
  }
  async function disabled(): Promise<string> {
    const { uid, access } = await given('dis');
    await service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [uid]);
    return access;
  }

  it('admin=true lets in administrators of any tenant only, and group=NAME nobody who is in no group', async () => {
    const { access: admin } = await given('adm', { isAdmin: true, tenantId: 'acme' });
    const { access: user } = await given('usr');
    const asked: [string, string, number][] = [
      [admin, '?admin=true', 200],
      [user, '?admin=true', 403],
      [admin, '?group=staff', 403],
      [user, '?group=staff&group=sales', 403],
      [admin, '?admin=true&group=staff', 403],
    ];
    for (const [token, query, status] of asked) {
      const answer = await verify(token, query);
      expect([query, answer.status]).toEqual([query, status]);
      if (status === 403) expect(answer.body.error_code).toBe('AUTH_403001');
      if (status === 403) expect(identity.filter((name) => name in answer.headers)).toEqual([]);
    }
    expect((await verify(undefined, '?admin=true')).status).toBe(401);
  });

  it('tenant=ID lets in users of this tenant only: another one can have a group of the same name', async () => {
    const [ours, theirs] = [
      await given('ours', { isAdmin: true }),
      await given('theirs', { tenantId: 'acme', isAdmin: true }),
    ];
    await givenGroup(service, 'Guards', { members: [ours.uid] });
    await givenGroup(service, 'Guards', { tenantId: 'acme', members: [theirs.uid] });
    const asked: [string, string, number][] = [
      [theirs.access, '?group=guards', 200],
      [theirs.access, '?group=guards&tenant=root', 403],
      [theirs.access, '?admin=true&tenant=root', 403],
      [theirs.access, '?tenant=root', 403],
      [theirs.access, '?tenant=ACME', 403],
      [ours.access, '?group=guards&tenant=root', 200],
      [ours.access, '?group=other&tenant=root', 403],
      [ours.access, '?admin=true&group=guards&tenant=root', 200],
    ];
    for (const [token, query, status] of asked) {
      const answer = await verify(token, query);
      expect([query, answer.status]).toEqual([query, status]);
      if (status === 403) expect(answer.body.error_code).toBe('AUTH_403001');
    }
  });

  it.each([
    '?gruop=admins',
    '?Admin=true',
    '?admin=false',
    '?admin=1',
    '?admin=',
    '?admin',
    '?admin=true&admin=true',
    '?group=',
    '?group',
    '?group=a&group=',
    `?group=${'x'.repeat(256)}`,
    '?group[]=a',
    '?group.x=a',
    '?__proto__=a',
    '?constructor=a',
    '?toString=a',
    '?tenant=',
    '?tenant',
    '?tenant=root&tenant=acme',
    `?tenant=${'x'.repeat(65)}`,
    '?admin=true&x=y',
    '?=',
    '?%',
  ])('T370 %s is COMMON_400001: a misspelt demand never lets everybody in', async (query) => {
    const { access } = await admin();
    const answer = await verify(access, query);
    expect([answer.status, answer.body.error_code]).toEqual([400, 'COMMON_400001']);
  });

  let anAdmin: ReturnType<typeof given> | undefined;
  const admin = () => (anAdmin ??= given('root-admin', { isAdmin: true }));

  it('is one statement, as GET /user/me', async () => {
    const { access } = await given('one');
    await verify(access);
    const statements = countStatements(service.app.get(DataSource));
    expect(await statements(() => verify(access))).toBe(1);
    expect(await statements(() => verify(access, '?admin=true'))).toBe(1);
    expect(await statements(() => verify('x'))).toBe(0);
  });

  it('HEAD answers as GET; conditional and range requests are answered in full; other methods are 405', async () => {
    const { access } = await given('meth');
    const bearer = { bearer: access };
    const head = await service.send('HEAD', '/verify', undefined, bearer);
    expect([head.status, head.headers['x-auth-name']]).toEqual([200, 'meth']);
    expect((await service.send('HEAD', '/verify')).status).toBe(401);
    for (const headers of [
      { 'if-none-match': '*' },
      { 'if-modified-since': 'Thu, 26 Nov 2099 00:00:00 GMT' },
      { range: 'bytes=0-0' },
      { 'if-match': '"x"' },
    ] as Record<string, string>[]) {
      const answer = await verify(access, '', headers);
      expect([headers, answer.status, answer.headers['x-auth-name']]).toEqual([headers, 200, 'meth']);
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const { status, headers } = await service.send(method, '/verify', undefined, bearer);
      expect([method, status, headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it('T370 a misspelt address of the check is never 200, also where the service serves pages', async () => {
    const { access } = await given('addr');
    for (const path of ['/verify/', '/Verify', '/verify/x', '/verifyx', '//verify', '/verify;x', '/api/verify']) {
      for (const accept of ['*/*', 'text/html']) {
        const { status } = await service.get(path, { bearer: access, headers: { accept } });
        expect([path, status]).toEqual([path, 404]);
      }
    }
  });

  it('/introspect answers 200 for a token that is not valid, and the pages warn of it as the check of a proxy', async () => {
    const { id, secret } = await service.app.get(ServiceClients).create('a-proxy');
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await service.post('/introspect', 'token=x', { headers })).status).toBe(200);
    const page = (name: string) => readFileSync(join(__dirname, '../../docs/operations', name), 'utf8');
    expect(page('proxies.md')).toMatch(/\*\*Never use `\/introspect` for this\.\*\*[^#]*lets everybody in/);
    expect(page('services.md')).toMatch(/never `\/introspect`[^#]*let everybody in/);
    const { description } = (contract.paths['/introspect'] as { post: { description: string } }).post;
    expect(description).toMatch(/let everybody in.*GET \/verify/);
  });

  it('a database that does not answer is 503, never 200 or 401', async () => {
    const { access } = await given('out');
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const rows = jest.spyOn(service.database, 'rows').mockRejectedValue(down);
    const answer = await verify(access);
    rows.mockRestore();
    expect(answer).toMatchObject({ status: 503, body: { error_code: 'COMMON_503001' } });
    expect(answer.headers['www-authenticate']).toBeUndefined();
  });
});
