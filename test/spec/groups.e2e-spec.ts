import { DataSource } from 'typeorm';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { givenCaller, startAdministration } from '../support/admin';
import { type Answer, TestService } from '../support/app';
import { countStatements } from '../support/count-statements';
import { givenGroup } from '../support/groups';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const groupsHeader = (answer: Answer) => answer.headers['x-auth-groups'];

/** docs/spec/extensions.md#l, as administrators, services and proxies see it. */
describe('groups', () => {
  let service: TestService;
  let root: string;
  let acme: string;
  let basic: string;
  beforeAll(async () => {
    service = await startAdministration();
    root = (await givenCaller(service, { isAdmin: true })).bearer;
    acme = (await givenCaller(service, { isAdmin: true, tenantId: 'acme' })).bearer;
    const { id, secret } = await service.app.get(ServiceClients).create('groups');
    basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  });
  afterAll(() => service.stop());

  const send = (method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object, bearer = root) =>
    service.send(method, `/admin/groups${path}`, body, { bearer });
  const create = async (name: string, tenant_id = 'root'): Promise<string> => {
    const { status, body } = await send('POST', '', { name, tenant_id });
    expect(status).toBe(200);
    return body.data.id as string;
  };
  const put = (id: string, uid: string, bearer?: string) => send('PUT', `/${id}/members/${uid}`, undefined, bearer);
  const drop = (id: string, uid: string, bearer?: string) => send('DELETE', `/${id}/members/${uid}`, undefined, bearer);
  let people = 0;
  async function signedIn(more: Parameters<TestService['givenUser']>[1] = {}) {
    const name = `person${people++}`;
    const { uid } = await service.givenUser(name, more);
    return { uid, bearer: (await service.session(name)).access };
  }
  const me = async (bearer: string) => (await service.get('/user/me', { bearer })).body.data.groups as string[];
  const introspected = async (token: string) =>
    (
      await service.post('/introspect', new URLSearchParams({ token }).toString(), {
        headers: { ...form, authorization: basic },
      })
    ).body.groups as string[];
  const verify = (bearer: string, query = '') => service.get(`/verify${query}`, { bearer });
  const events = async (event: string, id: string) =>
    service.database.rows<{ user_id: string | null; actor_id: string }>(
      'SELECT user_id, actor_id FROM audit_logs WHERE event = ? AND detail LIKE ?',
      [event, `%${id}%`],
    );

  it('are made, renamed, listed and deleted by administrators, and each change is audited', async () => {
    const { body } = await send('POST', '', { name: '  Field Sales ' });
    const { id } = body.data;
    expect(body.data).toEqual({
      ...{ id, tenant_id: 'root', name: 'Field Sales', source: 'admin', identity_provider: null, external_id: null },
      ...{ created_at: service.clock.now().toISOString(), changed_at: service.clock.now().toISOString() },
    });
    expect((await send('PATCH', `/${id}`, { name: 'Field Team' })).body.data).toMatchObject({ id, name: 'Field Team' });
    expect((await send('GET', `/${id}`)).body.data).toMatchObject({ name: 'Field Team', members: 0 });
    expect((await send('DELETE', `/${id}`)).body.data).toEqual({ result: true });
    expect((await send('GET', `/${id}`)).body.error_code).toBe('USER_404001');
    for (const event of ['GROUP_CREATED', 'GROUP_CHANGED', 'GROUP_DELETED']) {
      expect(await events(event, id as string)).toHaveLength(1);
    }
  });

  it('a name is unique within its tenant, without regard to case and spaces', async () => {
    const id = await create('Unique');
    const { status, body } = await send('POST', '', { name: ' UNIQUE ' });
    expect([status, body.data]).toEqual([400, { fields: { name: ['there is already a group UNIQUE'] } }]);
    await create('Unique', 'acme');
    const other = await create('Another');
    expect((await send('PATCH', `/${other}`, { name: 'unique' })).body.error_code).toBe('COMMON_400001');
    expect((await send('PATCH', `/${id}`, { name: 'UNIQUE' })).body.data).toMatchObject({ name: 'UNIQUE' });
  });

  it.each([
    ['no text', ''],
    ['spaces only', '   '],
    ['a line break', 'a\nX-Auth-Subject: root'],
    ['a NUL', 'a\0b'],
    ['a bidirectional control', 'a\u202eb'],
    ['256 characters', 'x'.repeat(256)],
    ['more characters in its compared form', '\ufdfa'.repeat(20)],
  ])('a name with %s is COMMON_400001 at its field (T562)', async (_what, name) => {
    const { status, body } = await send('POST', '', { name });
    expect([status, body.error_code, Object.keys(body.data.fields)]).toEqual([400, 'COMMON_400001', ['name']]);
  });

  it('are listed in the order of their names, in pages, by the beginning of the name, and exported', async () => {
    for (const name of ['Pages c', 'pages A', 'Pages b']) await create(name);
    const first = (await send('GET', '?query=PAGES&limit=2')).body.data;
    expect(first.items.map(({ name }: { name: string }) => name)).toEqual(['pages A', 'Pages b']);
    const second = (await send('GET', `?query=pages&limit=2&after=${first.next}`)).body.data;
    expect([second.items.map(({ name }: { name: string }) => name), second.next]).toEqual([['Pages c'], null]);
    expect((await send('GET', '?query=pages&tenant_id=acme')).body.data.items).toEqual([]);
    expect((await send('GET', '?after=x')).body.error_code).toBe('COMMON_400001');
  });

  it('members are added and removed, each twice without harm, and read in pages', async () => {
    const id = await create('Members');
    const people = [await signedIn(), await signedIn(), await signedIn()];
    for (const { uid } of people) expect((await put(id, uid)).body.data).toEqual({ result: true });
    expect((await put(id, people[0]!.uid)).body.data).toEqual({ result: true });
    const sorted = people.map(({ uid }) => uid).sort();
    const page = (await send('GET', `/${id}/members?limit=2`)).body.data;
    expect(page.items.map(({ uid }: { uid: string }) => uid)).toEqual(sorted.slice(0, 2));
    expect(Object.keys(page.items[0])).toEqual(['uid', 'login_name', 'nickname', 'email', 'added_at']);
    const rest = (await send('GET', `/${id}/members?limit=2&after=${page.next}`)).body.data;
    expect([rest.items.map(({ uid }: { uid: string }) => uid), rest.next]).toEqual([sorted.slice(2), null]);
    for (const times of [1, 2]) expect([times, (await drop(id, sorted[0]!)).status]).toEqual([times, 200]);
    expect((await send('GET', `/${id}`)).body.data.members).toBe(2);
    expect(await events('GROUP_MEMBER_ADDED', id)).toHaveLength(3);
    expect(await events('GROUP_MEMBER_REMOVED', id)).toEqual([{ user_id: sorted[0], actor_id: expect.any(String) }]);
  });

  it('another tenant’s group is not seen, changed, filled or listed, and nobody of another tenant is a member (T560)', async () => {
    const [mine, theirs] = [await create('Theirs', 'acme'), await create('Ours')];
    const [ann, bob] = [await signedIn({ tenantId: 'acme' }), await signedIn()];
    for (const answer of [
      await send('GET', `/${theirs}`, undefined, acme),
      await send('GET', `/${theirs}/members`, undefined, acme),
      await send('PATCH', `/${theirs}`, { name: 'Taken over' }, acme),
      await send('DELETE', `/${theirs}`, undefined, acme),
      await put(theirs, ann.uid, acme),
      await put(theirs, bob.uid, acme),
      await drop(theirs, bob.uid, acme),
      await put(mine, bob.uid, acme),
      await put(mine, bob.uid),
      await put(theirs, ann.uid),
      await put(mine, crypto.randomUUID()),
      await put(mine, `${ann.uid}%20`),
      await put(mine, "x'--"),
      await send('POST', '', { name: 'Elsewhere', tenant_id: 'root' }, acme),
      await send('GET', `/${mine.toUpperCase()}`),
      await send('GET', `/${mine}%20`),
    ]) {
      expect([answer.status, answer.body.error_code]).toEqual([404, 'USER_404001']);
    }
    expect((await put(mine, ann.uid, acme)).status).toBe(200);
    const { items } = (await send('GET', '?limit=200', undefined, acme)).body.data;
    expect(new Set(items.map(({ tenant_id }: { tenant_id: string }) => tenant_id))).toEqual(new Set(['acme']));
    expect((await send('GET', '?tenant_id=root', undefined, acme)).body.data.items).toEqual([]);
  });

  it.each(['scim', 'directory', 'provider'])(
    'a group of %s is read, and no administrator writes it (T561)',
    async (source) => {
      const { uid, bearer } = await signedIn();
      const id = await givenGroup(service, `Of ${source}`, { source, members: [uid] });
      for (const answer of [
        await send('PATCH', `/${id}`, { name: 'Mine now' }),
        await send('DELETE', `/${id}`),
        await put(id, (await signedIn()).uid),
        await drop(id, uid),
      ]) {
        expect([answer.status, answer.body.error_code]).toEqual([403, 'AUTH_403001']);
      }
      expect((await send('GET', `/${id}`)).body.data).toMatchObject({ source, members: 1 });
      expect(await me(bearer)).toEqual([`Of ${source}`]);
    },
  );

  it('a membership counts at the next request: /user/me, /introspect and /verify, with the token that is out there (T565)', async () => {
    const { uid, bearer } = await signedIn();
    const [sales, berlin] = [await create('Zales, EMEA'), await create('Berlin')];
    const all = async () => [await me(bearer), await introspected(bearer), groupsHeader(await verify(bearer))];
    expect(await all()).toEqual([[], [], '']);
    for (const id of [sales, berlin]) await put(id, uid);
    expect(await all()).toEqual([['Berlin', 'Zales, EMEA'], ['Berlin', 'Zales, EMEA'], 'Berlin,Zales%2C EMEA']);
    const payload = JSON.parse(Buffer.from(bearer.split('.')[1]!, 'base64url').toString()) as object;
    expect(JSON.stringify(payload)).not.toContain('Berlin');
    await drop(sales, uid);
    expect(await all()).toEqual([['Berlin'], ['Berlin'], 'Berlin']);
    await send('DELETE', `/${berlin}`);
    expect(await all()).toEqual([[], [], '']);
  });

  it('/verify?group=NAME admits members of any of the groups, and 403 for others; case does not count (T565)', async () => {
    const [{ uid, bearer }, other] = [await signedIn(), await signedIn()];
    const id = await create('Grafana Users');
    await put(id, uid);
    const asked = (name: string) => `group=${encodeURIComponent(name)}`;
    expect((await verify(bearer, `?${asked('grafana users')}`)).status).toBe(200);
    expect((await verify(bearer, `?${asked('Nobody')}&${asked('Grafana Users')}`)).status).toBe(200);
    for (const query of [
      asked('Grafana'),
      asked('Grafana Users,'),
      asked('%'),
      `${asked('Grafana Users')}&admin=true`,
    ]) {
      expect([query, (await verify(bearer, `?${query}`)).status]).toEqual([query, 403]);
    }
    expect((await verify(other.bearer, `?${asked('Grafana Users')}`)).status).toBe(403);
    await drop(id, uid);
    expect((await verify(bearer, `?${asked('Grafana Users')}`)).status).toBe(403);
  });

  it('the header of /verify ends after the last name that fits into 4,096 bytes, and begins with what was asked (T564)', async () => {
    const { uid, bearer } = await signedIn();
    for (let n = 0; n < 60; n++) await givenGroup(service, `${n} ${'工'.repeat(20)}`, { members: [uid] });
    await givenGroup(service, 'zz asked', { members: [uid] });
    const whole = String(groupsHeader(await verify(bearer)));
    expect(whole.length).toBeGreaterThan(3800);
    expect(whole.length).toBeLessThanOrEqual(4096);
    const all = await me(bearer);
    expect(all).toHaveLength(61);
    expect(whole.split(',').map(decodeURIComponent)).toEqual(all.slice(0, whole.split(',').length));
    expect(String(groupsHeader(await verify(bearer, '?group=zz%20asked'))).split(',')[0]).toBe('zz asked');
  });

  it('the token and the groups are read by one statement', async () => {
    const { uid, bearer } = await signedIn();
    await givenGroup(service, 'One statement', { members: [uid] });
    await me(bearer);
    const counted = countStatements(service.app.get(DataSource));
    for (const path of ['/user/me', '/verify', '/verify?group=One%20statement']) {
      expect([path, await counted(() => service.get(path, { bearer }))]).toEqual([path, 1]);
    }
  });

  it('a user who moves to another tenant leaves all groups, and an erased user too (T563)', async () => {
    const [moved, erased] = [await signedIn(), await signedIn()];
    const id = await create('Left behind');
    for (const { uid } of [moved, erased]) await put(id, uid);
    const admin = (method: 'PATCH' | 'DELETE', uid: string, body?: object) =>
      service.send(method, `/admin/users/${uid}`, body, { bearer: root });
    expect((await admin('PATCH', moved.uid, { tenant_id: 'acme' })).status).toBe(200);
    expect((await admin('DELETE', erased.uid)).status).toBe(200);
    expect((await send('GET', `/${id}`)).body.data.members).toBe(0);
    expect(await events('GROUP_MEMBER_REMOVED', id)).toEqual([{ user_id: moved.uid, actor_id: expect.any(String) }]);
    expect((await admin('PATCH', moved.uid, { tenant_id: 'root' })).status).toBe(200);
    expect((await send('GET', `/${id}`)).body.data.members).toBe(0);
  });
});
