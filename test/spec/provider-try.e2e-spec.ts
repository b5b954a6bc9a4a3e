import { ExternalSite, PersonsBrowser } from '../support/external-sign-in';
import type { Person } from '../support/identity-provider';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';

const person = (name: string, claims: Record<string, unknown> = {}): Person => ({
  sub: `sub-of-${name}`,
  claims: { preferred_username: name, email: `${name}@acme.example`, name, ...claims },
  amr: ['mfa'],
});

describe('an administrator tries an identity provider', () => {
  let site: ExternalSite;
  let root: AdminClient;
  beforeAll(async () => {
    site = await ExternalSite.start(
      { jit: true, domains: ['acme.example'], trustMfa: true, matchClaim: 'employee', enabled: false },
      adminSettings,
    );
    root = await AdminClient.of(site.service, 'root-admin');
  });
  afterAll(() => site?.stop());

  /** Goes to the provider and back. @returns the address at which the console opens, and the browser */
  const tried = async (by: AdminClient, who?: Person) => {
    const browser = site.browser(who);
    const begun = await site.service.post(
      '/admin/identity-providers/acme/test',
      {},
      browser.with({ bearer: by.bearer }),
    );
    expect(outcomeOf(begun)).toBe('success');
    browser.cookie = String(begun.headers['set-cookie']).split(';')[0];
    const path = await browser.visit(begun.body.data.redirect_to as string);
    const { headers } = await site.service.get(path, browser.with());
    return { browser, path, location: String(headers.location) };
  };
  const codeOf = (location: string) => {
    expect(location).toMatch(/^http:\/\/portal\.test\/admin#\/identity-providers\/acme\?tried=[\w-]{43}$/);
    return location.slice(location.indexOf('tried=') + 6);
  };
  const read = (by: AdminClient, code: string) => by.send('POST', 'identity-providers/acme/test/result', { code });
  const shown = async (who: Person) => (await read(root, codeOf((await tried(root, who)).location))).body.data;

  it('shows the claims and what they would do, once, and makes no session, user or binding (T553)', async () => {
    const tables = ['users', 'external_identities', 'login_tokens', 'login_logs'];
    const before = await Promise.all(tables.map((table) => site.service.count(table)));
    const { location } = await tried(root, person('ann', { employee: 'e-1', groups: ['a'] }));
    const code = codeOf(location);
    const stored = JSON.stringify(await site.service.database.rows('SELECT * FROM external_sign_ins'));
    for (const secret of ['ann@acme.example', 'sub-of-ann', code]) expect(stored).not.toContain(secret);
    const answer = await read(root, code);
    expect(answer.body.data).toEqual({
      claims: expect.objectContaining({ sub: 'sub-of-ann', email: 'ann@acme.example', iss: site.provider.issuer }),
      user: { login_name: 'ann', email: 'ann@acme.example', nickname: 'ann', external_id: 'e-1', groups: null },
      ...{ second_factor: true, outcome: 'creates', uid: null, login_name: null, reason: null },
    });
    expect(outcomeOf(await read(root, code))).toBe('USER_404001');
    expect(await Promise.all(tables.map((table) => site.service.count(table)))).toEqual(before);
    expect(await site.service.count('external_sign_ins', 'result IS NOT NULL')).toBe(0);
    expect(await site.audits('IDENTITY_PROVIDER_TRIED')).toContainEqual({ provider: 'acme', user_id: null });
    expect(JSON.stringify(site.service.logLines)).not.toContain(code);
  });

  it('tells who would be bound, who is bound, and who would be refused and why', async () => {
    const more = { provider: 'oidc', identityProviderId: 'acme', password: null } as const;
    const meant = await site.service.givenUser('bea', { ...more, externalId: 'e-2' });
    const binds = { outcome: 'binds', uid: meant.uid, login_name: 'bea' };
    expect(await shown(person('b', { employee: 'e-2' }))).toMatchObject(binds);
    await site.service.database.affected(
      `INSERT INTO external_identities (identity_provider_id, subject_hash, subject, user_id, bound_at, last_used_at)
       SELECT 'acme', ?, 'sub-of-cai', uid, created_at, created_at FROM users WHERE uid = ?`,
      [(await import('node:crypto')).createHash('sha256').update('sub-of-cai').digest('hex'), meant.uid],
    );
    expect(await shown(person('cai'))).toMatchObject({ outcome: 'signs_in', uid: meant.uid, reason: null });
    const refused = (reason: string) => ({ outcome: 'refused', reason: expect.stringContaining(reason) });
    expect(await shown(person('b', { employee: 'e-2' }))).toMatchObject(refused('belongs to another person'));
    expect(await shown(person('bea'))).toMatchObject({ ...refused('belongs to another account'), uid: meant.uid });
    expect(await shown(person('dan', { email: 'dan@evil.example' }))).toMatchObject(refused('domain'));
    await site.change({ jit: false });
    expect(await shown(person('eve'))).toMatchObject(refused('the provider makes none'));
    await site.change({ jit: true });
  });

  it('an answer that is refused is shown with its reason', async () => {
    site.provider.refuses('access_denied');
    const { location } = await tried(root);
    expect((await read(root, codeOf(location))).body.data).toEqual({
      ...{ claims: null, user: null, second_factor: false, outcome: 'refused', uid: null, login_name: null },
      reason: 'the answer of the identity provider was refused: access_denied',
    });
  });

  it('the code of a try signs nobody in, and another administrator, another provider or another minute reads nothing (T553)', async () => {
    await site.change({ enabled: true });
    const { browser, location, path } = await tried(root, person('fay'));
    const code = codeOf(location);
    expect(outcomeOf(await browser.redeem(code))).toBe('LOGIN_401013');
    expect(outcomeOf(await site.service.get(path, browser.with()).then((a) => ({ ...a, status: 200 })))).toBe(
      'success',
    );
    const other = await AdminClient.of(site.service, 'other-admin');
    expect(outcomeOf(await read(other, code))).toBe('USER_404001');
    const elsewhere = await root.send('POST', 'identity-providers/other/test/result', { code });
    expect(outcomeOf(elsewhere)).toBe('USER_404001');
    expect(outcomeOf(await read(root, code))).toBe('success');
    // The code of a sign-in is none of a try.
    const signIn = await site.browser(person('gil')).come();
    expect(outcomeOf(await read(root, signIn.external!))).toBe('USER_404001');
    const late = codeOf((await tried(root, person('hal'))).location);
    await site.service.database.affected('UPDATE external_sign_ins SET expires = created_at WHERE spent_at IS NULL');
    expect(outcomeOf(await read(root, late))).toBe('USER_404001');
    await site.change({ enabled: false });
  });

  it('works in the browser that began it alone, and a person without rights begins none', async () => {
    const begun = await root.send('POST', 'identity-providers/acme/test');
    const path = await site.browser(person('ida')).visit(begun.body.data.redirect_to as string);
    const stranger = new PersonsBrowser(site.service, 'acme');
    const { headers } = await site.service.get(path, stranger.with());
    expect(headers.location).toBe('http://portal.test/?error=LOGIN_401013');
    await site.service.givenUser('nobody');
    const { access } = await site.service.session('nobody');
    const denied = await site.service.post('/admin/identity-providers/acme/test', {}, { bearer: access });
    expect(outcomeOf(denied)).toBe('AUTH_403001');
    expect(outcomeOf(await root.send('POST', 'identity-providers/nowhere/test'))).toBe('USER_404001');
    await site.change({ issuer: 'http://127.0.0.1:1' });
    expect(outcomeOf(await root.send('POST', 'identity-providers/acme/test'))).toBe('LOGIN_503002');
    await site.change({ issuer: site.provider.issuer });
  });
});
