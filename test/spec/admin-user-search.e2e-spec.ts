import { givenCaller, startAdministration } from '../support/admin';
import type { TestService } from '../support/app';

describe('GET /admin/users with words, an order and a total', () => {
  let service: TestService;
  let root: string;
  let acme: string;
  beforeAll(async () => {
    service = await startAdministration();
    root = (await givenCaller(service, { isAdmin: true })).bearer;
    acme = (await givenCaller(service, { isAdmin: true, tenantId: 'acme' })).bearer;
    for (const [name, nickname, tenantId] of [
      ['zed', 'Anna Müller', 'root'],
      ['ann', 'Mueller, Bob', 'root'],
      ['mid', 'Carol Anna Müller-Weiß', 'acme'],
    ] as const)
      await service.givenUser(name, { nickname, tenantId, password: null, createdAt: service.clock.now() });
  });
  afterAll(() => service.stop());

  const ask = (query: string, bearer = root) => service.get(`/admin/users?${query}`, { bearer });
  const found = async (query: string, bearer = root) => {
    const { status, body } = await ask(query, bearer);
    expect(status).toBe(200);
    const { items, next, total } = body.data as { items: { login_name: string }[]; next: string; total: number };
    return { names: items.map(({ login_name }) => login_name), next, total };
  };

  it('finds any words in every order, with a total', async () => {
    expect(await found(`query=${encodeURIComponent('müller anna')}&sort=-login_name`)).toEqual({
      ...{ names: ['zed', 'mid'], next: null, total: 2 },
    });
    expect(await found('query=weiss%20carol')).toEqual({ names: ['mid'], next: null, total: 1 });
    // The login name first and then the nickname, as in version 1.0.0.
    expect((await found('query=ann')).names).toEqual(['ann', 'zed', 'mid']);
    expect((await found('query=mueller&limit=1')).total).toBe(3);
  });

  it('the administrator of a tenant finds and counts no user of another one (T610)', async () => {
    for (const sort of ['', '&sort=login_name', '&sort=-created_at', '&sort=last_login_at']) {
      expect(await found(`query=mueller${sort}`, acme)).toMatchObject({ names: ['mid'], total: 1 });
      expect(await found(`query=zed${sort}`, acme)).toMatchObject({ names: [], total: 0 });
      expect(await found(`query=mueller&tenant_id=root${sort}`, acme)).toMatchObject({ names: [], total: 0 });
    }
    expect((await found('', acme)).total).toBe(2);
  });

  it('a cursor goes on in its own order only, and a made-up one leads nowhere (T613)', async () => {
    const first = await found('sort=login_name&limit=2');
    const second = await found(`sort=login_name&limit=200&after=${first.next}`);
    expect([...first.names, ...second.names]).toEqual((await found('sort=login_name')).names);
    expect(second.total).toBe(first.total);
    const plain = (await found('limit=1')).next;
    for (const query of [
      `sort=-login_name&after=${first.next}`,
      `after=${first.next}`,
      `sort=login_name&after=${plain}`,
    ]) {
      const { status, body } = await ask(query);
      expect([query, status, body.error_code, Object.keys(body.data.fields as object)]).toEqual([
        ...[query, 400, 'COMMON_400001', ['after']],
      ]);
    }
    const cursor = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString('base64url');
    for (const part of [-1, 3, 4, 99, Number.MAX_SAFE_INTEGER]) {
      for (const key of ['', 'muller', '9e99', '-1', '\u{10FFFF}', 'x'.repeat(500)]) {
        expect((await ask(`query=mueller%20anna&after=${cursor(part, key, 'u')}`, acme)).status).toBe(200);
        for (const sort of ['created_at', '-last_login_at', 'login_name']) {
          const { names } = await found(`query=anna&sort=${sort}&after=${cursor(part, key, 'u', sort)}`, acme);
          expect(names.filter((name) => name !== 'mid')).toEqual([]);
        }
      }
    }
  });

  it('another order, or none that is known, is refused', async () => {
    for (const sort of ['nickname', '--login_name', 'LOGIN_NAME', '']) {
      expect((await ask(`sort=${sort}`)).body.error_code).toBe('COMMON_400001');
    }
  });

  it('a stream has every row in the order, without a total', async () => {
    const answer = await service.app.inject({
      ...{ method: 'GET', url: '/admin/users?sort=-login_name' },
      headers: { authorization: `Bearer ${root}`, accept: 'application/x-ndjson' },
    });
    const lines = answer.payload.split('\n').filter(Boolean);
    const names = lines.map((line) => (JSON.parse(line) as { login_name: string }).login_name);
    expect(names).toEqual((await found('sort=-login_name')).names);
  });
});
