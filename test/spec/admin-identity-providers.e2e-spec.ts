import { createServer, type Server } from 'node:http';
import { ProviderSecrets } from '../../src/identity-providers/provider-secrets';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { givenGroup } from '../support/groups';
import { CompanyProvider } from '../support/identity-provider';
import { listen, shut, urlOf } from '../support/loopback';

const secret = 'a-secret-of-the-company-7Xq';

describe('identity providers through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let company: CompanyProvider;
  /** A provider whose discovery document the test writes. */
  let strange: Server;
  let document: Record<string, unknown> | undefined;
  let strangeIssuer: string;

  beforeAll(async () => {
    service = await TestService.start(adminSettings);
    root = await AdminClient.of(service, 'root-admin');
    await root.send('POST', 'tenants', { id: 'acme', name: 'Acme' });
    company = await CompanyProvider.start([
      { clientId: 'portal', secret, redirectUris: ['http://portal.test/login/external/entra/callback'] },
    ]);
    strange = createServer((request, response) => {
      const answer = request.url === '/keys' ? { keys: [] } : document;
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
    await listen(strange);
    strangeIssuer = urlOf(strange);
  });
  afterAll(async () => {
    await company.stop();
    await shut(strange);
    await service.stop();
  });
  afterEach(async () => {
    await service.database.affected("UPDATE users SET identity_provider_id = NULL, provider = 'password'");
    for (const { id } of await root.items('identity-providers')) await root.send('DELETE', `identity-providers/${id}`);
  });

  const given = () => ({ id: 'entra', name: 'Entra ID', issuer: company.issuer, client_id: 'portal' });
  const created = async (more: object = {}) => {
    const answer = await root.send('POST', 'identity-providers', { ...given(), client_secret: secret, ...more });
    expect(outcomeOf(answer)).toBe('success');
    return answer.body.data as Record<string, unknown>;
  };
  const givenUserOf = (id: string, name: string, more: object = {}) =>
    service.givenUser(name, { provider: 'oidc', identityProviderId: id, password: null, ...more });
  const audited = async () => {
    const row = (
      await service.database.rows<{ event: string; actor_id: string; detail: string }>(
        'SELECT event, actor_id, detail FROM audit_logs ORDER BY id DESC LIMIT 1',
      )
    )[0]!;
    expect(row.actor_id).toBe(root.uid);
    return [row.event, JSON.parse(row.detail)] as [string, object];
  };
  const stored = async (id: string) =>
    (
      await service.database.rows<{ client_secret: string | null }>(
        'SELECT client_secret FROM identity_providers WHERE id = ?',
        [id],
      )
    )[0];
  const refusal = async (answer: ReturnType<AdminClient['send']>) => {
    const { body } = await answer;
    return [body.error_code, body.data?.fields] as [string, Record<string, string[]> | undefined];
  };

  it('adds a provider; its secret is never shown and stored sealed', async () => {
    const view = await created({
      client_secret_expires: '2027-01-31T00:00:00Z',
      domains: ['Example.COM', 'bücher.example'],
      tenant_id: 'acme',
      claims: { groups: 'groups' },
      match_claim: 'oid',
      jit: true,
    });
    expect(view).toEqual({
      ...given(),
      has_client_secret: true,
      client_secret_expires: '2027-01-31T00:00:00.000Z',
      scopes: ['openid', 'profile', 'email'],
      acr_values: [],
      domains: ['example.com', 'xn--bcher-kva.example'],
      tenant_id: 'acme',
      jit: true,
      trust_mfa: false,
      claims: { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: 'groups' },
      match_claim: 'oid',
      listed: true,
      enabled: true,
      bound_users: 0,
      redirect_uri: 'http://portal.test/login/external/entra/callback',
      backchannel_logout_uri: 'http://portal.test/login/external/entra/backchannel-logout',
      created_at: service.clock.now().toISOString(),
      changed_at: service.clock.now().toISOString(),
    });
    expect(await audited()).toEqual([
      'IDENTITY_PROVIDER_CREATED',
      { provider: 'entra', name: 'Entra ID', issuer: company.issuer },
    ]);
    const sealed = (await stored('entra'))!.client_secret!;
    expect(sealed).not.toContain(secret);
    expect(service.app.get(ProviderSecrets, { strict: false }).open({ clientSecret: sealed })).toBe(secret);
    expect((await root.get('identity-providers/entra')).body.data).toEqual(view);
    expect(await root.items('identity-providers')).toEqual([view]);
    expect((await root.export('identity-providers')).items).toEqual([view]);
  });

  it('changes the given fields and no others; null or an empty text clears one, and claims keep their other members', async () => {
    const before = await created({ match_claim: 'oid', domains: ['example.com'] });
    const sealed = await stored('entra');
    service.clock.advanceSeconds(1);
    const change = { name: ' Acme ', match_claim: '', claims: { email: null }, trust_mfa: true };
    const answer = await root.send('PATCH', 'identity-providers/entra', change);
    expect(answer.body.data).toEqual({
      ...before,
      ...{ name: 'Acme', match_claim: null, trust_mfa: true, changed_at: service.clock.now().toISOString() },
      claims: { login_name: 'preferred_username', email: null, nickname: 'name', groups: null },
    });
    expect(await audited()).toEqual([
      'IDENTITY_PROVIDER_CHANGED',
      { provider: 'entra', fields: 'trust_mfa claims match_claim name' },
    ]);
    expect(await stored('entra')).toEqual(sealed);
    await root.send('PATCH', 'identity-providers/entra', { client_secret: 'another-secret-of-the-company' });
    expect((await stored('entra'))!.client_secret).not.toBe(sealed!.client_secret);
    expect(await audited()).toEqual(['IDENTITY_PROVIDER_CHANGED', { provider: 'entra', fields: 'client_secret' }]);
    const cleared = await root.send('PATCH', 'identity-providers/entra', { client_secret: null });
    expect(cleared.body.data.has_client_secret).toBe(false);
  });

  it.each([
    [{ id: 'Entra' }, 'id'],
    [{ id: '' }, 'id'],
    [{ id: 'x'.repeat(41) }, 'id'],
    [{ name: '\u0000' }, 'name'],
    [{ issuer: 'ldap://127.0.0.1' }, 'issuer'],
    [{ issuer: 'http://idp.example.com' }, 'issuer'],
    [{ issuer: 'https://idp.example.com/?a=b' }, 'issuer'],
    [{ issuer: 'https://idp.example.com/#a' }, 'issuer'],
    [{ issuer: 'https://user@idp.example.com' }, 'issuer'],
    [{ issuer: 'https://169.254.169.254' }, 'issuer'],
    [{ client_id: '' }, 'client_id'],
    [{ client_id: 'ä' }, 'client_id'],
    [{ client_secret: 'a\nb' }, 'client_secret'],
    [{ client_secret_expires: 'next year' }, 'client_secret_expires'],
    [{ client_secret_expires: '2027-02-31T00:00:00Z' }, 'client_secret_expires'],
    [{ scopes: ['profile'] }, 'scopes'],
    [{ scopes: ['openid', 'a b'] }, 'scopes[1]'],
    [{ scopes: 'openid' }, 'scopes'],
    [{ acr_values: [7] }, 'acr_values[0]'],
    [{ domains: ['example.com', 'alice@example.com'] }, 'domains[1]'],
    [{ domains: ['localhost'] }, 'domains[0]'],
    [{ domains: ['example.com', 'EXAMPLE.com'] }, 'domains[1]'],
    [{ domains: ['*.example.com'] }, 'domains[0]'],
    [{ tenant_id: 'nowhere' }, 'tenant_id'],
    [{ tenant_id: 'acme ' }, 'tenant_id'],
    [{ jit: 'yes' }, 'jit'],
    [{ claims: { login_name: null } }, 'claims.login_name'],
    [{ claims: { email: 7 } }, 'claims.email'],
    [{ claims: { sub: 'x' } }, 'claims.sub'],
    [{ claims: ['name'] }, 'claims'],
    [{ claims: null }, 'claims'],
    [{ match_claim: 'a'.repeat(256) }, 'match_claim'],
    [{ listed: null }, 'listed'],
    [{ bound_users: 3 }, 'bound_users'],
  ])('a wrong field (%#) is COMMON_400001, names the entry and changes nothing (T550)', async (body, field) => {
    const count = await service.count('audit_logs');
    const [code, fields] = await refusal(root.send('POST', 'identity-providers', { ...given(), ...body }));
    expect([code, Object.keys(fields ?? {})]).toEqual(['COMMON_400001', [field]]);
    expect(await root.items('identity-providers')).toEqual([]);
    expect(await service.count('audit_logs')).toBe(count);
  });

  it('a domain belongs to one provider, an id is used once, and an id cannot be changed', async () => {
    await created({ domains: ['example.com'] });
    const other = { ...given(), id: 'other', domains: ['example.org', 'example.com'] };
    expect(await refusal(root.send('POST', 'identity-providers', other))).toEqual([
      'COMMON_400001',
      { 'domains[1]': ['domains[1] belongs to the identity provider entra'] },
    ]);
    expect(await refusal(root.send('POST', 'identity-providers', given()))).toEqual([
      'COMMON_400001',
      { id: ['id is taken'] },
    ]);
    const own = await root.send('PATCH', 'identity-providers/entra', { domains: ['example.com', 'example.net'] });
    expect(own.body.data.domains).toEqual(['example.com', 'example.net']);
    const renamed = await refusal(root.send('PATCH', 'identity-providers/entra', { id: 'x' }));
    expect(Object.keys(renamed[1]!)).toEqual(['id']);
    expect(await refusal(root.send('PATCH', 'identity-providers/entra', {}))).toEqual([
      'COMMON_400001',
      { body: ['body names no field'] },
    ]);
  });

  it.each<[string, (issuer: string) => Record<string, unknown> | undefined, RegExp]>([
    ['no document', () => undefined, /^issuer gives no usable answer at .*\/\.well-known\/openid-configuration/],
    [
      'another issuer',
      () => ({ issuer: 'https://idp.example.com' }),
      /^issuer calls itself "https:\/\/idp\.example\.com"/,
    ],
    [
      'no token endpoint',
      () => ({ token_endpoint: undefined }),
      /^issuer has a discovery document without token_endpoint/,
    ],
    ['no keys', () => ({ jwks_uri: undefined }), /^issuer has a discovery document without jwks_uri/],
    [
      'no asymmetric algorithm',
      () => ({ id_token_signing_alg_values_supported: ['HS256', 'none'] }),
      /^issuer signs ID tokens with no asymmetric algorithm/,
    ],
    ['no PKCE', () => ({ code_challenge_methods_supported: ['plain'] }), /^issuer announces no PKCE with S256/],
  ])('a provider with %s is not stored, and the answer says what is wrong (T551)', async (_what, change, sentence) => {
    const changed = change(strangeIssuer);
    document = changed && {
      issuer: strangeIssuer,
      authorization_endpoint: `${strangeIssuer}/authorize`,
      token_endpoint: `${strangeIssuer}/token`,
      jwks_uri: `${strangeIssuer}/keys`,
      ...changed,
    };
    const [code, fields] = await refusal(
      root.send('POST', 'identity-providers', { ...given(), issuer: strangeIssuer }),
    );
    expect([code, fields?.issuer?.[0]]).toEqual(['COMMON_400001', expect.stringMatching(sentence)]);
    expect(await root.items('identity-providers')).toEqual([]);
  });

  it('a provider that is away can be renamed and disabled, and not be enabled', async () => {
    await created();
    const back = await company.away();
    try {
      const disabled = await root.send('PATCH', 'identity-providers/entra', { enabled: false, name: 'Away' });
      expect(disabled.body.data).toMatchObject({ enabled: false, name: 'Away' });
      expect(await audited()).toEqual([
        'IDENTITY_PROVIDER_CHANGED',
        { provider: 'entra', fields: 'enabled name', enabled: false },
      ]);
      const [code, fields] = await refusal(root.send('PATCH', 'identity-providers/entra', { enabled: true }));
      expect([code, Object.keys(fields!)]).toEqual(['COMMON_400001', ['issuer']]);
    } finally {
      await back();
    }
    expect(outcomeOf(await root.send('PATCH', 'identity-providers/entra', { enabled: true }))).toBe('success');
  });

  it('with users a provider keeps its issuer and is not deleted: APP_400001; without them it goes', async () => {
    await created();
    const user = await givenUserOf('entra', 'ann');
    expect((await root.get('identity-providers/entra')).body.data.bound_users).toBe(1);
    expect((await root.items('identity-providers'))[0].bound_users).toBe(1);
    document = {
      issuer: strangeIssuer,
      authorization_endpoint: `${strangeIssuer}/authorize`,
      token_endpoint: `${strangeIssuer}/token`,
      jwks_uri: `${strangeIssuer}/keys`,
    };
    for (const [answer, field] of [
      [root.send('PATCH', 'identity-providers/entra', { issuer: strangeIssuer }), 'issuer'],
      [root.send('DELETE', 'identity-providers/entra'), 'id'],
    ] as const) {
      const [code, fields] = await refusal(answer);
      expect([code, Object.keys(fields!)]).toEqual(['APP_400001', [field]]);
    }
    expect(outcomeOf(await root.send('PATCH', 'identity-providers/entra', { issuer: company.issuer }))).toBe('success');
    await root.send('DELETE', `users/${user.uid}`);
    expect((await root.send('DELETE', 'identity-providers/entra')).body.data).toEqual({ result: true });
    expect(await audited()).toEqual([
      'IDENTITY_PROVIDER_DELETED',
      { provider: 'entra', name: 'Entra ID', issuer: company.issuer },
    ]);
    for (const unknown of ['entra', 'x', 'entra%20', 'ENTRA']) {
      expect([unknown, outcomeOf(await root.get(`identity-providers/${unknown}`))]).toEqual([unknown, 'USER_404001']);
      expect(outcomeOf(await root.send('DELETE', `identity-providers/${unknown}`))).toBe('USER_404001');
    }
  });

  it('an administrator who changes the issuer does not have the stored secret sent there (T654)', async () => {
    await created();
    document = {
      issuer: strangeIssuer,
      authorization_endpoint: `${strangeIssuer}/authorize`,
      token_endpoint: `${strangeIssuer}/token`,
      jwks_uri: `${strangeIssuer}/keys`,
    };
    const change = async (body: object) => (await root.send('PATCH', 'identity-providers/entra', body)).body.data;
    expect((await change({ name: 'Renamed', issuer: company.issuer })).has_client_secret).toBe(true);
    expect((await change({ issuer: strangeIssuer })).has_client_secret).toBe(false);
    expect(await audited()).toEqual([
      'IDENTITY_PROVIDER_CHANGED',
      { provider: 'entra', fields: 'issuer', secret_removed: true },
    ]);
    expect((await change({ issuer: company.issuer, client_secret: secret })).has_client_secret).toBe(true);
  });

  it('the deletion ends the groups of the provider, so that another one with this id inherits none', async () => {
    const { uid } = await service.givenUser('member');
    const given = (name: string, ownerId: string | null, source = 'provider') =>
      givenGroup(service, name, { source, ownerId, members: [uid] });
    await created();
    const gone = await given('Of Entra', 'entra');
    const kept = [await given('Of Okta', 'okta'), await given('Of SCIM', null, 'scim')].sort();
    await root.send('DELETE', 'identity-providers/entra');
    const rows = (column: string, table: string) =>
      service.database.rows<{ id: string }>(`SELECT ${column} AS id FROM ${table} ORDER BY ${column}`);
    for (const [column, table] of [
      ['id', 'user_groups'],
      ['group_id', 'user_group_members'],
    ] as const) {
      expect((await rows(column, table)).map(({ id }) => id)).toEqual(kept);
    }
    const deleted = 'SELECT actor_id, detail FROM audit_logs WHERE event = ?';
    const [row] = await service.database.rows<{ actor_id: string; detail: string }>(deleted, ['GROUP_DELETED']);
    expect([row!.actor_id, JSON.parse(row!.detail)]).toEqual([
      root.uid,
      { group: gone, tenant: 'root', source: 'provider' },
    ]);
  });

  it('lists page by page, in the order of the ids', async () => {
    for (const id of ['b', 'a', 'c']) await created({ id });
    const first = (await root.get('identity-providers?limit=2')).body.data;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual(['a', 'b']);
    const second = (await root.get(`identity-providers?limit=2&after=${first.next}`)).body.data;
    expect([second.items.map(({ id }: { id: string }) => id), second.next]).toEqual([['c'], null]);
  });

  it('nothing changes when the audit row cannot be written', async () => {
    const before = await created();
    await service.database.affected('ALTER TABLE audit_logs RENAME TO audit_logs_away');
    for (const answer of [
      await root.send('POST', 'identity-providers', { ...given(), id: 'lost' }),
      await root.send('PATCH', 'identity-providers/entra', { name: 'lost' }),
      await root.send('DELETE', 'identity-providers/entra'),
    ]) {
      expect(outcomeOf(answer)).toBe('COMMON_503001');
    }
    await service.database.affected('ALTER TABLE audit_logs_away RENAME TO audit_logs');
    expect(await root.items('identity-providers')).toEqual([before]);
  });

  it('a user of a provider is created for a provider that exists, without a password and an invitation', async () => {
    await created({ tenant_id: 'acme' });
    const user = { login_name: 'oda', email: 'oda@example.com', tenant_id: 'acme' };
    const made = await root.send('POST', 'users', {
      ...{ ...user, provider: 'oidc', identity_provider: 'entra', external_id: 'x-1' },
    });
    expect(made.body.data).toMatchObject({ provider: 'oidc', identity_provider: 'entra', external_id: 'x-1' });
    for (const [body, field] of [
      [{ provider: 'oidc' }, 'identity_provider'],
      [{ provider: 'oidc', identity_provider: 'nowhere' }, 'identity_provider'],
      [{ provider: 'oidc', identity_provider: 'entra ' }, 'identity_provider'],
      [{ identity_provider: 'entra' }, 'identity_provider'],
      [{ provider: 'ldap', identity_provider: 'entra' }, 'identity_provider'],
      [{ provider: 'oidc', identity_provider: 'entra', invite: true }, 'provider'],
    ] as const) {
      const other = { login_name: 'ole', email: 'ole@example.com', ...body };
      const [code, fields] = await refusal(root.send('POST', 'users', other));
      expect([code, Object.keys(fields ?? {})]).toEqual(['COMMON_400001', [field]]);
    }
  });

  it("a tenant's administrator makes users of the own tenant's providers only (T552)", async () => {
    await created({ id: 'own', tenant_id: 'acme' });
    await created({ id: 'foreign' });
    const acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    const make = (identity_provider: string, name: string) =>
      acme.send('POST', 'users', {
        login_name: name,
        email: `${name}@example.com`,
        provider: 'oidc',
        identity_provider,
      });
    const own = await make('own', 'pia');
    expect(own.body.data).toMatchObject({ identity_provider: 'own', tenant_id: 'acme' });
    expect(await refusal(make('foreign', 'pit'))).toEqual(
      await refusal(make('nowhere', 'pit')).then(([code]) => [
        code,
        { identity_provider: ['there is no identity provider "foreign"'] },
      ]),
    );
    expect(outcomeOf(await acme.get('identity-providers'))).toBe('AUTH_403001');
  });

  it("a tenant's administrator does not say which person of another tenant's provider has an account (T552)", async () => {
    await created({ id: 'owned', tenant_id: 'acme' });
    await created({ id: 'shared' });
    const acme = await AdminClient.of(service, 'acme-namer', { tenantId: 'acme' });
    const given = (name: string, more: object) =>
      service.givenUser(name, { tenantId: 'acme', password: null, externalId: `id-${name}`, ...more });
    const change = async (uid: string, body: object, by = acme) => {
      const outcome = outcomeOf(await by.send('PATCH', `users/${uid}`, body));
      return [outcome, (await service.userRow(uid)).external_id];
    };
    const shared = await given('quinn', { provider: 'oidc', identityProviderId: 'shared' });
    for (const external_id of ['id-of-a-stranger', null]) {
      expect(await change(shared.uid, { external_id })).toEqual(['AUTH_403001', 'id-quinn']);
    }
    expect(await change(shared.uid, { external_id: 'id-quinn', nickname: 'Q' })).toEqual(['success', 'id-quinn']);
    expect(await change(shared.uid, { external_id: 'id-2' }, root)).toEqual(['success', 'id-2']);
    const own = await given('rita', { provider: 'oidc', identityProviderId: 'owned' });
    const local = await given('rolf', {});
    for (const { uid } of [own, local]) {
      expect(await change(uid, { external_id: 'id-3' })).toEqual(['success', 'id-3']);
    }
  });
});
