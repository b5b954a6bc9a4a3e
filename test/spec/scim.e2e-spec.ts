import { operatorAuthority } from '../../src/admin/authority';
import { UserChanges } from '../../src/admin/user-changes';
import { UserErasure } from '../../src/admin/user-erasure';
import { IdentityProviderAdministration } from '../../src/admin/identity-provider-administration';
import { ProviderVerification } from '../../src/admin/provider-verification';
import { checkIdentityProviders } from '../../src/admin/checks/provider-checks';
import { Groups } from '../../src/groups/groups.repository';
import type { UserChange } from '../../src/users/user-accounts';
import { TestService } from '../support/app';
import { givenTenant } from '../support/admin';
import { givenIdentityProvider } from '../support/identity-providers';
import { ScimClient, scimSettings } from '../support/scim/client';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const work = (value: string) => [{ value, type: 'work', primary: true }];

describe('users and groups by SCIM', () => {
  let service: TestService;
  let client: ScimClient;
  beforeAll(async () => {
    service = await TestService.start(scimSettings);
    client = await ScimClient.of(service);
    await givenTenant(service, 'versions');
    await service.database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('u1', 'root', 'Sales')");
  });
  afterAll(() => service.stop());

  const changed = (uid: string, change: UserChange) =>
    service.app.get(UserChanges).change(operatorAuthority, uid, change);
  const auditOf = (uid: string) =>
    service.database.rows<{ event: string; actor_id: string }>(
      'SELECT event, actor_id FROM audit_logs WHERE user_id = ? ORDER BY id',
      [uid],
    );

  it('a user who is made is invited by mail, and the audit names the client', async () => {
    const uid = await client.givenUser('invited', { emails: work('invited@example.com'), password: 'Ignored-7' });
    expect(await service.count('mail_outbox', 'user_id = ?', [uid])).toBe(1);
    expect((await service.userRow(uid)).password).toBeNull();
    const events = await auditOf(uid);
    expect(events.map(({ event }) => event)).toEqual(['USER_CREATED', 'USER_INVITED']);
    expect(new Set(events.map(({ actor_id }) => actor_id))).toEqual(new Set([client.id]));
  });

  it('a user who is made inactive is invited when the user becomes active', async () => {
    const uid = await client.givenUser('later', { emails: work('later@example.com'), active: false });
    expect(await service.count('mail_outbox', 'user_id = ?', [uid])).toBe(0);
    expect((await client.patch(`/Users/${uid}`, [{ op: 'replace', path: 'active', value: true }])).status).toBe(200);
    expect((await auditOf(uid)).map(({ event }) => event)).toContain('USER_INVITED');
  });

  it('a user who is made without an address is invited when the first usable one comes, and not when it is replaced', async () => {
    const uid = await client.givenUser('mailbox-follows');
    const invitations = async () => (await auditOf(uid)).filter(({ event }) => event === 'USER_INVITED').length;
    const address = (value: string | null) => ({ op: 'replace', path: 'emails[type eq "work"].value', value });
    const active = (value: boolean) => ({ op: 'replace', path: 'active', value });
    for (const [operations, total] of [
      [[active(false)], 0],
      [[address('first@example.com')], 0],
      [[address(null)], 0],
      [[active(true)], 0],
      [[{ op: 'replace', path: 'displayName', value: 'M.' }], 0],
      [[address('second@example.com')], 1],
      [[address('third@example.com')], 1],
    ] as const) {
      expect((await client.patch(`/Users/${uid}`, operations)).status).toBe(200);
      expect(await invitations()).toBe(total);
    }
    const other = await service.givenUser('has-a-password', { email: null });
    expect((await client.patch(`/Users/${other.uid}`, [address('has@example.com')])).status).toBe(200);
    expect((await auditOf(other.uid)).map(({ event }) => event)).not.toContain('USER_INVITED');
    const former = await service.givenUser('of-the-old-system', { email: null, password: null });
    await service.database.affected('UPDATE users SET legacy_login = TRUE WHERE uid = ?', [former.uid]);
    expect((await client.patch(`/Users/${former.uid}`, [address('former@example.com')])).status).toBe(200);
    expect((await auditOf(former.uid)).map(({ event }) => event)).not.toContain('USER_INVITED');
  });

  it('active: false disables the user, ends every session in the same transaction, and leaves a receipt', async () => {
    const user = await service.givenUser('leaver');
    const { access, refresh } = await service.session('leaver');
    const answer = await client.patch(`/Users/${user.uid}`, [{ op: 'Replace', path: 'active', value: 'False' }]);
    expect([answer.status, answer.body.active]).toEqual([200, false]);
    expect((await service.get('/user/me', { bearer: access })).status).toBe(401);
    expect((await service.post('/refresh', undefined, { bearer: refresh })).status).toBe(401);
    expect((await service.login('leaver')).status).toBe(401);
    expect(await service.count('offboardings', "user_id = ? AND via = 'scim'", [user.uid])).toBe(1);
    expect((await client.patch(`/Users/${user.uid}`, [{ op: 'Replace', path: 'active', value: 'True' }])).status).toBe(
      200,
    );
    expect((await service.login('leaver')).status).toBe(200);
  });

  it('a PATCH with active: false lets a user leave whom an administrator has only disabled, and once; a PUT that repeats it changes nothing', async () => {
    const { uid } = await service.givenUser('suspended');
    const { access } = await service.session('suspended');
    expect((await service.post('/recovery-codes', {}, { bearer: access })).status).toBe(200);
    await changed(uid, { status: -1 });
    const receipts = () => service.count('offboardings', 'user_id = ?', [uid]);
    const inactive = { userName: 'suspended', emails: work('suspended@example.com'), active: false };
    expect((await client.ask('PUT', `/Users/${uid}`, inactive)).status).toBe(200);
    expect((await client.patch(`/Users/${uid}`, [{ op: 'replace', path: 'displayName', value: 'S.' }])).status).toBe(
      200,
    );
    expect([await receipts(), await service.count('recovery_codes', 'user_id = ?', [uid])]).toEqual([0, 10]);
    for (let n = 0; n < 2; n++) {
      const answer = await client.patch(`/Users/${uid}`, [{ op: 'replace', path: 'active', value: false }]);
      expect([answer.status, answer.body.active]).toEqual([200, false]);
      expect([await receipts(), await service.count('recovery_codes', 'user_id = ?', [uid])]).toEqual([1, 0]);
    }
    expect((await auditOf(uid)).filter(({ event }) => event === 'USER_OFFBOARDING_STARTED')).toHaveLength(1);
  });

  it('the receipt of a leaver counts what was open before a change of the address in the same request', async () => {
    const { uid, email } = await service.givenUser('leaver-elsewhere');
    await service.post('/forget-password', { email });
    const address = { op: 'replace', path: 'emails[type eq "work"].value', value: 'elsewhere@example.com' };
    await client.patch(`/Users/${uid}`, [{ op: 'replace', path: 'active', value: false }, address]);
    expect(await service.userRow(uid)).toMatchObject({ status: -1, email: 'elsewhere@example.com' });
    const row = await service.database.row<{ steps: string }>('SELECT steps FROM offboardings WHERE user_id = ?', [
      uid,
    ]);
    expect(JSON.parse(row!.steps)).toContainEqual(expect.objectContaining({ step: 'links', ended: 1 }));
  });

  it('a sync that repeats active: true keeps no unused account alive; active: false and then true lets the owner in again', async () => {
    const { uid } = await service.givenUser('idle', { createdAt: service.clock.secondsFromNow(-181 * 86_400) });
    const login = async () => (await service.login('idle')).body.error_code as string | undefined;
    const enabledAt = async () => (await service.userRow(uid)).enabled_at;
    const active = (value: boolean) => ({ op: 'replace', path: 'active', value });
    const idle = { userName: 'idle', emails: work('idle@example.com'), active: true };
    for (const displayName of ['Idle', 'Idle', 'Idler'])
      expect((await client.ask('PUT', `/Users/${uid}`, { ...idle, displayName })).body.active).toBe(true);
    const renamed = { op: 'replace', path: 'displayName', value: 'Idlest' };
    for (const operations of [[active(true)], [active(true), renamed], [active(false), active(true)]])
      expect((await client.patch(`/Users/${uid}`, operations)).body.active).toBe(true);
    expect([await enabledAt(), await login()]).toEqual([null, 'LOGIN_401008']);
    for (const value of [false, true]) await client.patch(`/Users/${uid}`, [active(value)]);
    expect([(await enabledAt()) !== null, await login()]).toEqual([true, undefined]);
  });

  it('DELETE erases the user, who is 404 afterwards, and the name is free', async () => {
    const uid = await client.givenUser('gone', { externalId: 'gone-1', emails: work('gone@example.com') });
    expect((await client.ask('DELETE', `/Users/${uid}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE'] as const)
      expect((await client.ask(method, `/Users/${uid}`)).status).toBe(404);
    expect((await client.filtered('Users', 'externalId eq "gone-1"')).body.totalResults).toBe(0);
    expect(await service.userRow(uid)).toMatchObject({ email: null, external_id: null });
    expect(await client.givenUser('gone')).not.toBe(uid);
  });

  it('the department is the unit, by its id or name, and an unknown one is no unit', async () => {
    const uid = await client.givenUser('unit', { [enterprise]: { department: 'Sales' } });
    const department = async () => (await client.ask('GET', `/Users/${uid}`)).body[enterprise]?.department as string;
    expect([(await service.userRow(uid)).org_unit_id, await department()]).toEqual(['u1', 'Sales']);
    await client.patch(`/Users/${uid}`, [{ op: 'Replace', path: `${enterprise}:department`, value: 'Unknown' }]);
    expect(await department()).toBeUndefined();
    await client.patch(`/Users/${uid}`, [{ op: 'Add', path: `${enterprise}:department`, value: 'u1' }]);
    expect(await department()).toBe('Sales');
  });

  it('a PUT without active keeps it, and removes what it does not name', async () => {
    const uid = await client.givenUser('put', { displayName: 'Put', externalId: 'p', active: false });
    const { status, body } = await client.ask('PUT', `/Users/${uid}`, { userName: 'put' });
    expect([status, body.active, body.displayName, body.externalId]).toEqual([200, false, undefined, undefined]);
    expect((await client.ask('PUT', `/Users/${uid}`, { displayName: 'x' })).body.scimType).toBe('invalidValue');
  });

  it('a user who is renamed signs in by the new name', async () => {
    const { uid } = await service.givenUser('maiden');
    await client.patch(`/Users/${uid}`, [{ op: 'Replace', path: 'userName', value: 'Married' }]);
    expect([(await service.login('married')).status, (await service.login('maiden')).status]).toEqual([200, 404]);
    expect((await client.ask('GET', `/Users/${uid}`)).body.userName).toBe('Married');
  });

  it('a change that changes nothing writes nothing', async () => {
    const uid = await client.givenUser('same', { displayName: 'Same' });
    const before = (await auditOf(uid)).length;
    for (const body of [{ userName: 'same', displayName: 'Same' }])
      expect((await client.ask('PUT', `/Users/${uid}`, body)).status).toBe(200);
    expect((await client.patch(`/Users/${uid}`, [{ op: 'replace', path: 'title', value: 'x' }])).status).toBe(200);
    expect((await auditOf(uid)).length).toBe(before);
  });

  describe('versions', () => {
    it('If-None-Match answers 304, and If-Match of a former version 412 (RFC 7644 §3.14)', async () => {
      const uid = await client.givenUser('versioned');
      const first = await client.ask('GET', `/Users/${uid}`);
      const etag = first.headers.etag as string;
      expect([etag, first.body.meta.version]).toEqual([expect.stringMatching(/^W\/"/), etag]);
      const known = await client.ask('GET', `/Users/${uid}`, undefined, { 'if-none-match': etag });
      expect([known.status, known.raw.length]).toEqual([304, 0]);
      const name = (value: string) => [{ op: 'replace', path: 'displayName', value }];
      expect((await client.patch(`/Users/${uid}`, name('a'), { 'if-match': etag })).status).toBe(200);
      for (const method of ['PUT', 'DELETE'] as const) {
        const late = await client.ask(method, `/Users/${uid}`, { userName: 'versioned' }, { 'if-match': etag });
        expect([late.status, late.body.status]).toEqual([412, '412']);
      }
      expect((await client.patch(`/Users/${uid}`, name('b'), { 'if-match': '*' })).body.displayName).toBe('b');
    });

    it('a group has a new version with each change of its members', async () => {
      const uid = await client.givenUser('in-versions');
      const id = await client.givenGroup('versions');
      const etag = (await client.ask('GET', `/Groups/${id}`)).headers.etag as string;
      const add = [{ op: 'add', path: 'members', value: [{ value: uid }] }];
      const first = await client.patch(`/Groups/${id}`, add, { 'if-match': etag });
      expect([first.status, first.headers.etag === etag]).toEqual([204, false]);
      expect((await client.patch(`/Groups/${id}`, add, { 'if-match': etag })).status).toBe(412);
      expect((await client.ask('DELETE', `/Groups/${id}`, undefined, { 'if-match': etag })).status).toBe(412);
      const now = first.headers.etag as string;
      expect((await client.ask('DELETE', `/Groups/${id}`, undefined, { 'if-match': now })).status).toBe(204);
    });
  });

  it.each([
    ['is erased', (uid: string) => service.app.get(UserErasure).erase(operatorAuthority, uid)],
    ['moves to another tenant', (uid: string) => changed(uid, { tenantId: 'versions' })],
  ])('a group has a new version when a member %s: nobody is told that it is unchanged', async (_what, end) => {
    const [uid, stays] = [await client.givenUser('goes'), await client.givenUser('stays')];
    const id = await client.givenGroup('leaving', [uid, stays]);
    const etag = (await client.ask('GET', `/Groups/${id}`)).headers.etag as string;
    await end(uid);
    const read = await client.ask('GET', `/Groups/${id}`, undefined, { 'if-none-match': etag });
    expect([read.status, read.body?.members]).toEqual([200, [expect.objectContaining({ value: stays })]]);
    const late = await client.patch(`/Groups/${id}`, [{ op: 'remove', path: 'members' }], { 'if-match': etag });
    expect(late.status).toBe(412);
    for (const path of [`/Groups/${id}`, `/Users/${stays}`]) await client.ask('DELETE', path);
  });

  describe('lists', () => {
    const names = (body: { Resources: { userName: string }[] }) => body.Resources.map(({ userName }) => userName);
    beforeAll(async () => {
      for (const name of ['list-c', 'list-a', 'list-b', 'List_D', 'list%e'])
        await client.givenUser(name, {
          displayName: `Name ${name}`,
          emails: work(`${name.replace(/\W/g, '')}@list.example`),
        });
    });

    it('have pages with honest totals, in one order', async () => {
      const page = async (more: string) =>
        (await client.filtered('Users', 'userName sw "LIST-"', `&${more}`)).body as Record<string, any>;
      expect(await page('count=2')).toMatchObject({ totalResults: 3, startIndex: 1, itemsPerPage: 2 });
      expect(names((await page('count=2')) as never)).toEqual(['list-a', 'list-b']);
      expect(names((await page('count=2&startIndex=3')) as never)).toEqual(['list-c']);
      expect(await page('startIndex=9')).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] });
      expect(await page('count=0')).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] });
      expect(await page('startIndex=0&count=1')).toMatchObject({ startIndex: 1, itemsPerPage: 1 });
      expect(names((await page('sortBy=emails.value&sortOrder=descending')) as never)).toEqual([
        'list-c',
        'list-b',
        'list-a',
      ]);
    });

    it('miss nobody who stays, when two clients read page after page while somebody is deleted (T660)', async () => {
      await givenTenant(service, 'paged');
      const [one, two] = [await ScimClient.of(service, 'paged'), await ScimClient.of(service, 'paged')];
      for (const n of [0, 1, 2, 3, 4, 5]) {
        await one.givenUser(`paged-${n}`);
        await one.givenGroup(`paged-${n}`);
      }
      for (const [list, name] of [
        ['Users', 'userName'],
        ['Groups', 'displayName'],
      ] as const) {
        const page = async (client: ScimClient, startIndex: number) => {
          const { Resources } = (await client.ask('GET', `/${list}?count=2&startIndex=${startIndex}`)).body;
          return Resources as Record<string, string>[];
        };
        const first = await page(one, 1);
        expect((await two.ask('DELETE', `/${list}/${first[0]!.id}`)).status).toBe(204);
        await page(two, 1);
        const seen = [first, await page(one, 3), await page(one, 5)].flat().map((found) => found[name]);
        expect(seen).toEqual(['paged-0', 'paged-1', 'paged-2', 'paged-3', 'paged-4', 'paged-5']);
      }
    });

    it.each([
      ['userName eq "LIST-a"', ['list-a']],
      ['userName eq "list-a" or userName eq "list-b"', ['list-a', 'list-b']],
      ['userName sw "list" and not (userName co "-")', ['list%e', 'List_D']],
      ['userName co "ist_"', ['List_D']],
      ['userName co "ist%"', ['list%e']],
      ['userName ew "-C" and userName gt "list-b"', ['list-c']],
      ['userName ge "list-b" and userName le "list-c"', ['list-b', 'list-c']],
      ['userName sw "list-" and userName ne "list-a" and userName lt "list-c"', ['list-b']],
      ['displayName sw "name LIST-"', ['list-a', 'list-b', 'list-c']],
      ['emails[type eq "work" and value ew "@list.example"] and userName co "-"', ['list-a', 'list-b', 'list-c']],
      ['emails[type eq "home" and value ew "@list.example"]', []],
      ['emails[primary eq True] and userName eq "list-a"', ['list-a']],
      ['emails.value eq "LISTA@list.example"', ['list-a']],
      ['active eq false and userName sw "list"', []],
      ['externalId pr and userName sw "list"', []],
      ['not (externalId pr) and userName eq "list-a"', ['list-a']],
      ['meta.created gt "2001-01-01T00:00:00Z" and userName eq "list-a"', ['list-a']],
      ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "list-a"', ['list-a']],
      ['userName co "" and userName eq "list-a"', ['list-a']],
    ])('are filtered: %s', async (filter, expected) => {
      const { status, body } = await client.filtered('Users', filter);
      expect([status, names(body), body.totalResults]).toEqual([200, expected, expected.length]);
    });

    it('have the attributes that the client asks for', async () => {
      const of = async (more: string) =>
        (await client.filtered('Users', 'userName eq "list-a"', more)).body.Resources[0];
      const always = ['id', 'meta', 'schemas'];
      expect(Object.keys(await of('&attributes=userName')).sort()).toEqual([...always, 'userName'].sort());
      expect((await of('&attributes=emails.value')).emails).toEqual([{ value: 'lista@list.example' }]);
      expect(await of('&excludedAttributes=emails,groups,id')).toMatchObject({ id: expect.any(String) as string });
      expect(await of('&excludedAttributes=emails')).not.toHaveProperty('emails');
      const both = await client.ask('GET', '/Users?attributes=id&excludedAttributes=id');
      expect([both.status, both.body.scimType]).toEqual([400, 'invalidValue']);
    });
  });

  it('a user shows the groups, and a group its members, each once', async () => {
    const [a, b] = [await client.givenUser('member-a'), await client.givenUser('member-b')];
    const id = await client.givenGroup('Team', [a, a, b]);
    await client.patch(`/Groups/${id}`, [{ op: 'Add', path: 'members', value: [{ value: a }, { value: a }] }]);
    const { members } = (await client.ask('GET', `/Groups/${id}`)).body as { members: { value: string }[] };
    expect(members.map(({ value }) => value).sort()).toEqual([a, b].sort());
    expect((await client.ask('GET', `/Users/${a}`)).body.groups).toMatchObject([{ value: id, display: 'Team' }]);
    const none = await client.givenUser('member-none');
    const groupsOf = async () => {
      const { Resources } = (await client.filtered('Users', 'userName sw "member-"')).body;
      return Object.fromEntries((Resources as { id: string; groups: unknown }[]).map((user) => [user.id, user.groups]));
    };
    const team = [expect.objectContaining({ value: id, display: 'Team' })];
    expect(await groupsOf()).toEqual({ [a]: team, [b]: team, [none]: [] });
    await client.patch(`/Groups/${id}`, [{ op: 'remove', path: `members[value eq "${b}"]` }]);
    expect(await groupsOf()).toEqual({ [a]: team, [b]: [], [none]: [] });
    const found = await client.filtered('Groups', `members.value eq "${a}"`, '&excludedAttributes=members');
    expect(found.body.Resources).toMatchObject([{ id }]);
    expect(found.body.Resources[0]).not.toHaveProperty('members');
    expect((await client.ask('PUT', `/Groups/${id}`, { displayName: 'Team' })).body.members).toEqual([]);
  });

  it('a group is found by its externalId, also by one that it gets later, and a list without a filter has all groups', async () => {
    const ids = [await client.givenGroup('External'), await client.givenGroup('Internal')];
    for (const external of ['g-1', 'g-2']) {
      const changed = await client.patch(`/Groups/${ids[0]}`, [{ op: 'replace', path: 'externalId', value: external }]);
      expect(changed.status).toBe(204);
      expect((await client.ask('GET', `/Groups/${ids[0]}`)).body.externalId).toBe(external);
      const found = await client.filtered('Groups', `externalId eq "${external}"`);
      expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id: ids[0] }] });
    }
    expect((await client.filtered('Groups', 'externalId eq "g-1"')).body.totalResults).toBe(0);
    const all = (await client.ask('GET', '/Groups')).body as { Resources: { id: string }[] };
    expect(all.Resources.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  });

  it('a group of another source is read, and 403 to a change (T579)', async () => {
    const group = await service.database.transaction((tx) =>
      service.app
        .get(Groups)
        .create(
          { tx, record: () => Promise.resolve() },
          { tenantId: 'root', name: 'Of administrators', source: 'admin' },
        ),
    );
    expect((await client.ask('GET', `/Groups/${group.id}`)).status).toBe(200);
    const changed = await client.patch(`/Groups/${group.id}`, [{ op: 'replace', path: 'displayName', value: 'x' }]);
    expect([changed.status, changed.body.status]).toEqual([403, '403']);
    expect((await client.ask('DELETE', `/Groups/${group.id}`)).status).toBe(403);
  });

  it('another tenant has groups of the same name, and users are made in the tenant of the token', async () => {
    await givenTenant(service, 'acme');
    const acme = await ScimClient.of(service, 'acme');
    await client.givenGroup('Everybody');
    await acme.givenGroup('Everybody');
    const uid = await acme.givenUser('of-acme');
    expect((await service.userRow(uid)).tenant_id).toBe('acme');
  });
});

describe('users whom SCIM makes for an identity provider', () => {
  it('are refused with 503 while it is missing or disabled, which doctor tells, and made when it is there', async () => {
    const settings = { SCIM_USER_PROVIDER: 'oidc', SCIM_IDENTITY_PROVIDER: 'acme' };
    const service = await TestService.start({ ...scimSettings, ...settings });
    try {
      const client = await ScimClient.of(service);
      const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'ann', externalId: 'E-1' };
      const create = () => client.ask('POST', '/Users', user);
      const get = <T>(type: abstract new (...args: never[]) => T): T => service.app.get<T>(type, { strict: false });
      const doctor = () =>
        checkIdentityProviders(
          ...([get(IdentityProviderAdministration), get(ProviderVerification), service.clock.now()] as const),
          'acme',
        );
      const missing = 'SCIM_IDENTITY_PROVIDER: there is no enabled identity provider acme';
      const refused = async () => {
        expect(await create()).toMatchObject({ status: 503, body: { status: '503', detail: missing } });
        expect(await doctor()).toMatchObject({ check: 'idp', status: 'problem', text: missing });
        expect(await service.count('users', "login_name = 'ann'")).toBe(0);
      };
      await refused();
      await givenIdentityProvider(service, { id: 'acme', enabled: false });
      await refused();
      await service.database.affected('UPDATE identity_providers SET enabled = ?', [true]);
      const { status, body } = await create();
      expect(status).toBe(201);
      expect(await service.userRow(body.id as string)).toMatchObject({
        ...{ provider: 'oidc', identity_provider_id: 'acme', external_id: 'E-1', password: null },
      });
    } finally {
      await service.stop();
    }
  });
});
