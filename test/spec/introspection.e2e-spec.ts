import { createHmac, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { type Answer, TestService } from '../support/app';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

describe('POST /introspect', () => {
  let service: TestService;
  let clients: ServiceClients;
  let authorization: string;

  beforeAll(async () => {
    service = await TestService.start({ REFRESH_TOKEN_ROTATION: 'true' });
    clients = service.app.get(ServiceClients);
    const { id, secret } = await clients.create('invoices');
    authorization = basic(id, secret);
  });
  afterAll(() => service.stop());

  const ask = (token: string, headers: Record<string, string> = { authorization }): Promise<Answer> =>
    service.post('/introspect', new URLSearchParams({ token }).toString(), { headers: { ...form, ...headers } });

  it('tells what a live access token stands for, without an envelope (RFC 7662 §2.2)', async () => {
    const user = await service.givenUser('ann', { isAdmin: true });
    const { access } = await service.session('ann');
    const { status, body, headers } = await ask(access);
    const { sid, jti, iat, exp, iss, aud } = decodeJwt(access);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      active: true,
      ...{ sub: user.uid, sid, jti, username: 'ann', tenant_id: 'root', org_unit_id: null, is_admin: true },
      role: null,
      ...{ groups: [], amr: ['pwd'], token_type: 'access', iss, aud, iat, exp },
      ...{ auth_time: iat, acr: 'urn:portal:acr:1' },
    });
  });

  it('tells auth_time and acr as the token has them, and makes neither up (RFC 9470 §6.2)', async () => {
    await service.givenUser('tim');
    const { access, refresh } = await service.session('tim');
    const started = decodeJwt(access).iat;
    service.clock.advanceSeconds(60);
    const next = (await service.post('/refresh', undefined, { bearer: refresh })).body.data as Record<string, string>;
    expect((await ask(next.access_token!)).body).toMatchObject({ auth_time: started, acr: 'urn:portal:acr:1' });
    const { body } = await ask(next.refresh_token!);
    expect(body).toMatchObject({ active: true, token_type: 'refresh' });
    expect(body).not.toHaveProperty('auth_time');
    expect(body).not.toHaveProperty('acr');
  });

  it('tells a refresh token by its type, and a used one is not active (T333)', async () => {
    await service.givenUser('rita');
    const { refresh } = await service.session('rita');
    expect((await ask(refresh)).body).toMatchObject({ active: true, token_type: 'refresh', username: 'rita' });
    const next = await service.post('/refresh', undefined, { bearer: refresh });
    expect((await ask(refresh)).body).toEqual({ active: false });
    expect((await ask(next.body.data.refresh_token as string)).body).toMatchObject({ active: true });
  });

  it.each([
    ['after a logout', async (access: string) => void (await service.post('/logout', {}, { bearer: access }))],
    ['of a disabled user', (_access: string, uid: string) => disable(uid)],
    ['after user revoke-tokens', (_access: string, uid: string) => revoke(uid)],
    ['that has expired', () => Promise.resolve(service.clock.advanceSeconds(900))],
  ])('a token %s is not active (T332)', async (_when, end: (access: string, uid: string) => Promise<unknown>) => {
    const name = `gone-${randomUUID()}`;
    const { uid } = await service.givenUser(name);
    const { access } = await service.session(name);
    expect((await ask(access)).body.active).toBe(true);
    await end(access, uid);
    expect((await ask(access)).body).toEqual({ active: false });
  });

  const disable = (uid: string) => service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [uid]);
  const revoke = (uid: string) =>
    service.database.transaction((tx) => service.app.get(TokenRevoker).revokeAll(tx, uid));

  it('T332 T155 a token that this service has not signed is not active, whatever it says', async () => {
    await service.givenUser('eve');
    const { access } = await service.session('eve');
    const [head, body] = access.split('.') as [string, string];
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const signature = createHmac('sha256', 'another-secret').update(`${head}.${body}`).digest('base64url');
    const forged = [`${none}.${body}.`, `${head}.${body}.${signature}`, `${head}.${body}.`, `${access}x`, 'x', 'a.b.c'];
    for (const token of [...forged, ' ', access.slice(0, -2)]) {
      expect((await ask(token)).body).toEqual({ active: false });
    }
  });

  it.each([
    ['no credentials', {}],
    ['a wrong secret', { authorization: () => basic(idOf(authorization), 'x'.repeat(43)) }],
    ['an unknown client', { authorization: () => basic(randomUUID(), secretOf(authorization)) }],
    ['the name as its id', { authorization: () => basic('invoices', secretOf(authorization)) }],
    [
      'an id with a space behind it',
      { authorization: () => basic(`${idOf(authorization)} `, secretOf(authorization)) },
    ],
    ['an empty secret', { authorization: () => basic(idOf(authorization), '') }],
    ['an access token of a user', { authorization: async () => `Bearer ${(await service.session('ann')).access}` }],
    ['something that is not base64', { authorization: () => 'Basic ???' }],
  ])('%s is 401 with WWW-Authenticate: Basic, and the token is not judged (T331)', async (_what, headers) => {
    const { access } = await service.session('ann');
    const sent = await Promise.all(
      Object.entries(headers).map(async ([name, value]) => [name, await value()] as const),
    );
    const answer = await ask(access, Object.fromEntries(sent));
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
  });

  it('a revoked client is refused at once, and its revocation is audited (T331)', async () => {
    const { id, secret } = await clients.create('former');
    const former = { authorization: basic(id, secret) };
    expect((await ask('x', former)).status).toBe(200);
    expect(await Promise.all([clients.revoke(id), clients.revoke(id)])).toContain(true);
    expect((await ask('x', former)).status).toBe(401);
    expect(await clients.revoke(id)).toBe(false);
    const rows = await service.database.rows<{ event: string; detail: string }>(
      `SELECT event, detail FROM audit_logs WHERE event LIKE 'SERVICE_CLIENT_%' AND detail LIKE ?`,
      [`%${id}%`],
    );
    expect(rows.map(({ event }) => event).sort()).toEqual(['SERVICE_CLIENT_CREATED', 'SERVICE_CLIENT_REVOKED']);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('the database answers as many rows for an unknown client as for a wrong secret, so their times are equal', async () => {
    const [known, former] = [await clients.create('known'), await clients.create('gone')];
    await clients.revoke(former.id);
    const rows = jest.spyOn(service.database, 'rows');
    const read = [];
    for (const id of [known.id, former.id, '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab']) {
      rows.mockClear();
      expect((await ask('x', { authorization: basic(id, 'wrong') })).status).toBe(401);
      // The service also sends statements of its own meanwhile, for example to look for waiting mails.
      const own = rows.mock.results.filter((_, n) => rows.mock.calls[n]![0].includes('service_clients'));
      read.push(await Promise.all(own.map(async ({ value }) => ((await value) as unknown[]).length)));
    }
    rows.mockRestore();
    expect(read).toEqual([[1], [1], [1]]);
  });

  it('many made-up clients that ask at the same moment are refused, and the real one among them is not', async () => {
    const [id, secret] = partsOf(authorization) as [string, string];
    const strangers = Array.from({ length: 600 }, () => clients.isGenuine({ id: randomUUID(), secret }));
    expect(await clients.isGenuine({ id, secret })).toBe(true);
    expect(new Set(await Promise.all(strangers))).toEqual(new Set([false]));
  });

  it('a secret is stored as a hash only (T339)', async () => {
    const { id, secret } = await clients.create('stored');
    const row = await service.database.row('SELECT * FROM service_clients WHERE id = ?', [id]);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  it.each([
    ['no token', 'x=1', 'COMMON_400001'],
    ['an empty body', '', 'COMMON_400001'],
    ['two tokens', 'token=a&token=b', 'COMMON_400001'],
    ['a key of prototype pollution', 'token=a&__proto__=b', 'COMMON_400001'],
    ['bytes that are not UTF-8', Buffer.from([0x74, 0xff]) as unknown as string, 'COMMON_400001'],
  ])('%s is %s', async (_what, payload, code) => {
    const answer = await service.post('/introspect', payload, { headers: { ...form, authorization } });
    expect(answer.body.error_code).toBe(code);
  });

  it('JSON is refused here, and a form is refused everywhere else', async () => {
    const json = await service.post('/introspect', { token: 'x' }, { headers: { authorization } });
    expect(json.body.error_code).toBe('COMMON_415001');
    const elsewhere = await service.post('/login', 'username=a&password=b', { headers: form });
    expect(elsewhere.body.error_code).toBe('COMMON_415001');
  });

  it('a database that does not answer is 503, never "not active" (T334)', async () => {
    const { access } = await service.session('ann');
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const rows = jest.spyOn(service.database, 'rows').mockRejectedValue(down);
    const answer = await ask(access);
    rows.mockRestore();
    expect(answer).toMatchObject({ status: 503, body: { error_code: 'COMMON_503001' } });
  });

  it('the list has the oldest client first, and the revoked ones as well', async () => {
    // The clock goes back, so that the order of the rows is not the one that is asked for.
    const names = ['d', 'a', 'c', 'b', 'e'];
    const created: string[] = [];
    service.clock.advanceSeconds(100);
    for (const name of names) {
      service.clock.advanceSeconds(-1);
      created.push((await clients.create(name)).id);
    }
    service.clock.advanceSeconds(names.length);
    await clients.revoke(created[2]!);
    expect((await clients.list()).slice(-names.length).map(({ name }) => name)).toEqual([...names].reverse());
  });

  it('a name that a list cannot show is refused', async () => {
    for (const name of ['', '  ', 'x'.repeat(256), 'a\nb'])
      await expect(clients.create(name)).rejects.toThrow('the name');
    await expect(clients.revoke('nobody')).rejects.toThrow('there is no client "nobody"');
  });
});

const partsOf = (authorization: string) => Buffer.from(authorization.slice(6), 'base64').toString().split(':');
const idOf = (authorization: string) => partsOf(authorization)[0]!;
const secretOf = (authorization: string) => partsOf(authorization)[1]!;
