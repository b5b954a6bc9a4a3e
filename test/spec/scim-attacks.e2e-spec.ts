import { ServiceClients } from '../../src/introspection/service-client.repository';
import { ProvisioningCounts } from '../../src/users/provisioning-counts';
import { givenTenant } from '../support/admin';
import { type Answer, TestService } from '../support/app';
import { ScimClient, scimSettings } from '../support/scim/client';

const error = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Chapter 3.26 of docs/spec/attacks.md. */
describe('attacks by SCIM', () => {
  let service: TestService;
  let client: ScimClient;
  let acme: ScimClient;
  beforeAll(async () => {
    service = await TestService.start(scimSettings);
    for (const id of ['acme', 'other']) await givenTenant(service, id);
    client = await ScimClient.of(service);
    acme = await ScimClient.of(service, 'acme');
  });
  afterAll(() => service.stop());

  const refused = ({ status, body }: Answer, scimType?: string): unknown => {
    expect(body).toMatchObject({ schemas: [error], status: String(status), detail: expect.any(String) as string });
    expect(body).not.toHaveProperty('error_code');
    expect(body.scimType).toBe(scimType);
    return status;
  };

  it('T570 a token of one tenant sees, changes and counts nothing of another one', async () => {
    const uid = await client.givenUser('root-only', { externalId: 'root-only-1' });
    const group = await client.givenGroup('Root only', [uid]);
    const own = await acme.givenUser('acme-only');
    const ownGroup = await acme.givenGroup('Acme only');
    const add = [{ op: 'add', path: 'members', value: [{ value: own }] }];
    for (const path of [`/Users/${uid}`, `/Groups/${group}`]) {
      expect(refused(await acme.ask('GET', path))).toBe(404);
      expect(refused(await acme.ask('DELETE', path))).toBe(404);
      expect(refused(await acme.ask('PUT', path, { userName: 'mine', displayName: 'mine' }))).toBe(404);
      expect(refused(await acme.patch(path, add))).toBe(404);
    }
    expect(
      (await acme.filtered('Users', 'userName eq "root-only" or externalId pr or userName ne "x"')).body,
    ).toMatchObject({
      totalResults: 1,
      Resources: [{ id: own }],
    });
    expect((await acme.filtered('Groups', 'displayName pr or id pr or not (externalId pr)')).body).toMatchObject({
      totalResults: 1,
      Resources: [{ id: ownGroup }],
    });
    expect((await acme.filtered('Groups', `members.value eq "${uid}"`)).body.totalResults).toBe(0);
    const stranger = [{ op: 'add', path: 'members', value: [{ value: uid }] }];
    expect(refused(await acme.patch(`/Groups/${ownGroup}`, stranger), 'invalidValue')).toBe(400);
    expect((await acme.ask('GET', `/Groups/${ownGroup}`)).body.members).toEqual([]);
  });

  it('T571 a token of another kind is none, nor is one that was revoked', async () => {
    const clients = service.app.get(ServiceClients);
    const introspecting = await clients.create('introspecting');
    await service.givenUser('bearer', { isAdmin: true });
    const { access } = await service.session('bearer');
    const revoked = await ScimClient.of(service);
    await clients.revoke(revoked.id);
    const [id, secret] = client.token.split('.');
    for (const token of [
      ...[`${introspecting.id}.${introspecting.secret}`, introspecting.secret, access, revoked.token, 'x', secret!],
      ...[
        `${acme.id}.${secret}`,
        `${id}.${secret}x`,
        `${id!.toUpperCase()}.${secret}`,
        `${client.token} `,
        '.'.repeat(5000),
      ],
    ].filter((one) => one.trim() === one)) {
      const answer = await service.get('/scim/v2/Users', { bearer: token });
      expect(refused({ ...answer, body: JSON.parse(answer.raw.toString()) })).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await service.post('/introspect', 'token=x', { headers })).status).toBe(401);
    expect((await service.get('/user/me', { bearer: client.token })).status).toBe(401);
  });

  it('T572 no token changes an administrator of the root tenant, and none makes an administrator', async () => {
    const root = await service.givenUser('root-admin', { isAdmin: true });
    const path = `/Users/${root.uid}`;
    for (const scim of [client, await ScimClient.of(service, 'root')]) {
      expect(refused(await scim.ask('PUT', path, { userName: 'root-admin', active: false }))).toBe(403);
      for (const [name, value] of [
        ['active', false],
        ['userName', 'taken-over'],
        ['emails', [{ value: 'attacker@example.com' }]],
      ])
        expect(refused(await scim.patch(path, [{ op: 'replace', path: name, value }]))).toBe(403);
      expect(refused(await scim.ask('DELETE', path))).toBe(403);
    }
    expect(await service.userRow(root.uid)).toMatchObject({ login_name: 'root-admin', status: 1, deleted_at: null });
    const rights = { roles: [{ value: 'admin' }], is_admin: true, isAdmin: true, tenant_id: 'root', provider: 'ldap' };
    const uid = await acme.givenUser('no-admin', rights);
    await acme.patch(`/Users/${uid}`, [{ op: 'replace', value: rights }]);
    expect(await service.userRow(uid)).toMatchObject({ is_admin: 0, tenant_id: 'acme', provider: 'password' });
    const local = await service.givenUser('acme-admin', { isAdmin: true, tenantId: 'acme' });
    const taken = [{ emails: [{ value: 'attacker@example.com' }] }, { userName: 'taken' }, { displayName: 'Taken' }];
    for (const value of [...taken, { active: false, displayName: 'Taken' }]) {
      expect(refused(await acme.patch(`/Users/${local.uid}`, [{ op: 'replace', value }]))).toBe(403);
    }
    expect((await acme.patch(`/Users/${local.uid}`, [{ op: 'replace', value: { active: false } }])).status).toBe(200);
    expect(refused(await acme.patch(`/Users/${local.uid}`, [{ op: 'replace', value: { active: true } }]))).toBe(403);
  });

  it('T606 no token changes the holder of a role, and none gives a role', async () => {
    const auditor = await service.givenUser('root-auditor', { role: 'auditor' });
    const desk = await service.givenUser('acme-desk', { role: 'help_desk', tenantId: 'acme' });
    for (const [scim, { uid }, value] of [
      [client, auditor, { active: false }],
      [client, auditor, { emails: [{ value: 'attacker@example.com' }] }],
      [acme, desk, { emails: [{ value: 'attacker@example.com' }] }],
      [acme, desk, { userName: 'taken' }],
    ] as const) {
      expect(refused(await scim.patch(`/Users/${uid}`, [{ op: 'replace', value }]))).toBe(403);
    }
    const uid = await acme.givenUser('no-role', { role: 'auditor', roles: [{ value: 'auditor' }] });
    await acme.patch(`/Users/${uid}`, [{ op: 'replace', value: { role: 'auditor' } }]);
    expect((await service.userRow(uid)).role).toBeNull();
    expect((await acme.patch(`/Users/${desk.uid}`, [{ op: 'replace', value: { active: false } }])).status).toBe(200);
  });

  it.each([
    ['ten thousand terms', Array(700).fill('userName pr').join(' or '), 'invalidFilter'],
    ['deep brackets', `${'('.repeat(3000)}userName pr${')'.repeat(3000)}`, 'invalidFilter'],
    ['a password', 'password eq "x"', 'invalidFilter'],
    ['a hash', 'password sw "$2"', 'invalidFilter'],
    ['an attribute without an index', 'name.familyName eq "x"', 'invalidFilter'],
    ['groups, which are another table', 'groups.value eq "x"', 'invalidFilter'],
    ['a column', 'login_name_key eq "x"', 'invalidFilter'],
    ['a prototype', 'constructor eq "x" or __proto__ pr', 'invalidFilter'],
    ['a long value', `userName eq "${'x'.repeat(256)}"`, 'invalidFilter'],
    ['a number for a text', 'userName eq 7', 'invalidFilter'],
    ['active as a text without meaning', 'active eq "x"', 'invalidFilter'],
    ['a time that is none', 'meta.created gt "2026-99-99T00:00:00Z"', 'invalidFilter'],
  ])('T573 a hostile filter is refused: %s', async (_what, filter, scimType) => {
    expect(refused(await client.filtered('Users', filter), scimType)).toBe(400);
  });

  it.each([
    ["' OR '1'='1"],
    ['x\\" or userName pr or userName eq \\"'],
    ['%'],
    ['_'],
    ['*'],
    ['\\\\'],
    ['\\u0000'],
    ['\\ud800'],
    ['\\u202e'],
    ['😀'.repeat(60)],
    ['ﬀ'.repeat(127)],
    ['x); DROP TABLE users; --'],
  ])('T575 the value %j is data in every comparison', async (value) => {
    for (const comparison of ['eq', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le', 'ne'] as const)
      for (const attribute of ['userName', 'externalId', 'displayName', 'emails.value', 'id']) {
        const { status, body } = await client.filtered('Users', `${attribute} ${comparison} "${value}"`, '&count=0');
        expect(status).toBe(200);
        if (['eq', 'co', 'sw', 'ew'].includes(comparison)) expect(body.totalResults).toBe(0);
      }
    expect((await client.filtered('Groups', `displayName co "${value}" or members eq "${value}"`)).status).toBe(200);
  });

  it('T574 names of a prototype in bodies and operations are refused or ignored', async () => {
    const uid = await client.givenUser('proto');
    const poison = '{"userName":"proto","__proto__":{"polluted":true}}';
    expect(refused(await client.ask('PUT', `/Users/${uid}`, poison), 'invalidSyntax')).toBe(400);
    const operations = [
      { op: 'add', path: 'constructor.prototype.polluted', value: 'x' },
      { op: 'add', path: 'emails[constructor eq "x"].value', value: 'x@example.com' },
    ];
    expect((await client.patch(`/Users/${uid}`, operations)).status).toBe(200);
    expect({}).not.toHaveProperty('polluted');
    expect((await service.userRow(uid)).email).toBeNull();
  });

  it('T766 an object that has no text form, in the place of a text, is no failure of the service', async () => {
    const uid = await client.givenUser('textless', { emails: [{ value: 'textless@example.com' }] });
    const textless = { toString: null, valueOf: null };
    const operations = [
      { op: 'remove', path: 'emails', value: [textless] },
      { op: 'remove', path: 'emails', value: [{ value: textless }] },
      { op: 'replace', path: 'emails', value: [{ type: textless, primary: textless, value: 'textless@example.com' }] },
    ];
    for (const operation of operations) expect((await client.patch(`/Users/${uid}`, [operation])).status).toBe(200);
    expect((await service.userRow(uid)).email).toBe('textless@example.com');
    const emails = [{ primary: textless, value: 'also-textless@example.com' }];
    expect((await client.ask('POST', '/Users', { userName: 'also-textless', emails })).status).toBe(201);
    expect(refused(await client.ask('POST', '/Users', { userName: textless }), 'invalidValue')).toBe(400);
  });

  it('T577 bodies of the wrong size, form or type are refused in the form of SCIM', async () => {
    const large = JSON.stringify({ userName: 'x'.repeat(1024 * 1024) });
    expect(refused(await client.ask('POST', '/Users', large))).toBe(413);
    const nested = `{"userName":"x","a":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    for (const body of [nested, '{', '[]', '"x"', '7', '', 'null', '\ufeff{}', '{"userName":"a","constructor":1}'])
      expect([400, 415]).toContain(refused(await client.ask('POST', '/Users', body), 'invalidSyntax'));
    for (const type of ['text/plain', 'application/xml', 'application/json; charset=utf-16'])
      expect(refused(await client.ask('POST', '/Users', '{}', { 'content-type': type }))).toBe(415);
    for (const body of [
      { userName: 7 },
      { userName: {} },
      { userName: '' },
      { userName: 'a\nb' },
      { userName: 'x'.repeat(256) },
    ])
      expect(refused(await client.ask('POST', '/Users', body), 'invalidValue')).toBe(400);
    for (const more of [{ emails: [{ value: 'no address' }] }, { active: 'perhaps' }, { displayName: 'x'.repeat(256) }])
      expect(refused(await client.ask('POST', '/Users', { userName: 'wrong', ...more }), 'invalidValue')).toBe(400);
    for (const members of [[7], [{}], [{ value: '' }], [{ value: 'nobody' }], 'nobody'])
      expect(refused(await client.ask('POST', '/Groups', { displayName: 'wrong', members }), 'invalidValue')).toBe(400);
    expect((await client.filtered('Groups', 'displayName eq "wrong"')).body.totalResults).toBe(0);
  });

  it('T578 a page has at most 200 resources, whatever is asked for', async () => {
    for (const query of ['count=100000', 'count=-5', 'startIndex=-5', 'startIndex=999999999999999', 'count=0'])
      expect((await client.ask('GET', `/Users?${query}`)).body.itemsPerPage).toBeLessThanOrEqual(200);
    for (const [query, scimType] of [
      ['count=x', 'invalidValue'],
      ['count=1&count=2', 'invalidValue'],
      ['sortBy=password', 'invalidPath'],
      ['sortOrder=up', 'invalidValue'],
      ['filter=a&filter=b', 'invalidValue'],
    ] as const)
      expect(refused(await client.ask('GET', `/Users?${query}`), scimType)).toBe(400);
  });

  it('T584 no answer has a secret, and no cache may keep it', async () => {
    const { uid } = await service.givenUser('secretive');
    const { headers, raw } = await client.ask('GET', `/Users/${uid}`);
    expect(headers['cache-control']).toBe('no-store');
    const { password, salt } = await service.userRow(uid);
    for (const secret of [password, salt] as string[]) expect(raw.toString()).not.toContain(secret);
  });

  it('T586 a name or an address of somebody else is 409, and nothing of the request is made', async () => {
    const { uid } = await service.givenUser('owner-of-a-name');
    const thief = await client.givenUser('thief', { displayName: 'before' });
    for (const [name, value] of [
      ['userName', 'OWNER-of-a-name'],
      ['emails[type eq "work"].value', 'Owner-Of-A-Name@example.com'],
    ]) {
      const operations = [
        { op: 'replace', path: 'displayName', value: 'after' },
        { op: 'replace', path: name, value },
      ];
      expect(refused(await client.patch(`/Users/${thief}`, operations), 'uniqueness')).toBe(409);
    }
    expect(await service.userRow(thief)).toMatchObject({ login_name: 'thief', nickname: 'before', email: null });
    expect((await service.userRow(uid)).login_name).toBe('owner-of-a-name');
  });

  it('T768 no account of a tenant gets the address of a stranger as its name, which would win over the address', async () => {
    const { uid } = await service.givenUser('stranger', { email: 'Stranger@example.com' });
    const own = await acme.givenUser('acme-namer', { emails: [{ value: 'namer@acme.example' }] });
    const rename = (value: string) => acme.patch(`/Users/${own}`, [{ op: 'replace', path: 'userName', value }]);
    for (const name of ['stranger@example.com', 'STRANGER@example.com', ' ｓtranger@example.com']) {
      expect(refused(await acme.ask('POST', '/Users', { userName: name }), 'uniqueness')).toBe(409);
      expect(refused(await rename(name), 'uniqueness')).toBe(409);
    }
    expect((await service.login('stranger@example.com')).body.data.user_info.uid).toBe(uid);
    expect((await rename('namer@acme.example')).status).toBe(200);
  });

  it('other paths and methods are refused in the form of SCIM, after the token was checked', async () => {
    for (const path of ['', '/', '/Me', '/Users/x/y', '/users', '/Bulk'])
      expect(refused(await client.ask('GET', path))).toBe(404);
    for (const [method, path] of [
      ['DELETE', '/Users'],
      ['POST', '/Users/x'],
      ['PATCH', '/Groups'],
      ['POST', '/Schemas'],
      ['OPTIONS', '/Users'],
    ] as const) {
      const answer = await client.ask(method, path);
      expect(refused(answer)).toBe(405);
      expect(answer.headers.allow).toMatch(/GET|PATCH/);
    }
    const { status, raw } = await service.post('/scim/v2/Bulk');
    expect(refused({ status, body: JSON.parse(raw.toString()) } as Answer)).toBe(401);
    expect((await client.filtered('Schemas', 'id pr')).status).toBe(403);
  });

  it('requests are counted by kind and result, without any value of a client', () => {
    const all = [...service.app.get(ProvisioningCounts).all];
    expect(all).toContainEqual({ method: 'GET', kind: 'Users', result: '401', count: expect.any(Number) as number });
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['Users', 'Groups', 'Schemas', 'other']));
  });
});

describe('limits of SCIM', () => {
  it('T585 guesses of tokens are limited, and the refusal has the form of SCIM', async () => {
    const service = await TestService.start({ ...scimSettings, RATE_LIMIT: 'on', RATE_LIMIT_INTROSPECTION: '3' });
    const ask = () => service.get('/scim/v2/Users', { bearer: 'guess' });
    for (let n = 0; n < 3; n++) expect((await ask()).status).toBe(401);
    const { status, headers, raw } = await ask();
    expect([status, headers['retry-after']]).toEqual([429, '60']);
    expect(JSON.parse(raw.toString())).toMatchObject({ schemas: [error], status: '429' });
    await service.stop();
  });
});
