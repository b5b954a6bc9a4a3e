import { decodeJwt } from 'jose';
import { ExternalSite } from '../support/external-sign-in';
import type { RunningClock } from '../support/fakes';
import type { Person } from '../support/identity-provider';
import { captchaToken, password } from '../support/settings';

const ann: Person = {
  sub: 'sub-of-Ann',
  claims: { preferred_username: 'ann', email: 'ann@acme.example', email_verified: true, name: 'Ann' },
};
const person = (name: string, claims: Record<string, unknown> = {}, more: Partial<Person> = {}): Person => ({
  sub: `sub-of-${name}`,
  claims: { preferred_username: name, email: `${name}@acme.example`, name, ...claims },
  ...more,
});
const expectRefused = (answer: { status: number; body: { error_code?: string } }, code: string) =>
  expect(answer).toMatchObject({ status: Number(/_(\d{3})/.exec(code)![1]), body: { error_code: code } });

describe('sign-in at the identity provider of a company', () => {
  let site: ExternalSite;
  beforeAll(async () => {
    site = await ExternalSite.start(
      { jit: true, domains: ['acme.example'], trustMfa: true, acrValues: ['urn:acme:strong'], matchClaim: 'employee' },
      { MFA_REQUIRED: 'false' },
    );
  });
  afterAll(() => site?.stop());

  const bound = (uid: string) => site.service.count('external_identities', 'user_id = ?', [uid]);
  const givenExternal = (name: string, more: object = {}) =>
    site.service.givenUser(name, {
      ...{ provider: 'oidc', identityProviderId: site.id, password: null, email: `${name}@acme.example` },
      ...more,
    });

  it('a first sign-in makes the account, and the answer is that of /login', async () => {
    const browser = site.browser(ann);
    const begun = await browser.begin({ return_to: '/reports?year=1' });
    expect(begun.status).toBe(200);
    expect(String(begun.headers['set-cookie'])).toMatch(/^portal-external=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const asked = new URL(begun.body.data.redirect_to as string);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: 'portal', scope: 'openid profile email', code_challenge_method: 'S256' },
      ...{ redirect_uri: 'http://portal.test/login/external/acme/callback', acr_values: 'urn:acme:strong' },
    });
    const page = await browser.callback(await browser.visit(asked.href));
    expect(page).toEqual({
      ...{ at: 'http://portal.test/', external: expect.stringMatching(/^[\w-]{43}$/), return_to: '/reports?year=1' },
    });
    const { status, body } = await browser.redeem(page.external);
    expect(status).toBe(200);
    const { access_token: access, user_info: user } = body.data;
    expect(user).toMatchObject({ login_name: 'ann', nickname: 'Ann', email: 'ann@acme.example', is_admin: false });
    expect(decodeJwt(access as string)).toMatchObject({ amr: ['ext'], acr: 'urn:portal:acr:1', sub: user.uid });
    const me = await site.service.get('/user/me', { bearer: access as string });
    const acme = { identity_provider: 'acme', identity_provider_name: 'Acme' };
    // Its domain is one of the provider, so applications may rely on it.
    expect(await site.service.userRow(user.uid as string)).toMatchObject({ proven_email_key: 'ann@acme.example' });
    expect(me.body.data).toMatchObject({ login_name: 'ann', ...acme, session: { amr: ['ext'] } });
    expect(await site.service.database.rows('SELECT provider, mfa, outcome FROM login_logs')).toEqual([
      { provider: 'oidc', mfa: null, outcome: 'success' },
    ]);
    expect(await site.service.count('external_sessions', 'user_id = ?', [user.uid as string])).toBe(1);
    expect(await site.audits('USER_PROVISIONED')).toEqual([
      { provider: 'oidc', identity_provider: 'acme', user_id: user.uid },
    ]);
  });

  it('the same person comes into the same account, also under another name and address', async () => {
    const first = await site.browser(person('bea')).signIn();
    const later = await site.browser(person('bea', { preferred_username: 'bea-2', email: 'b@acme.example' })).signIn();
    expect(later.body.data.user_info.uid).toBe(first.body.data.user_info.uid);
    expect(later.body.data.user_info).toMatchObject({ login_name: 'bea', email: 'b@acme.example' });
  });

  it('nickname and address follow the claims at each sign-in; an address of somebody else stays theirs, audited', async () => {
    await site.service.givenUser('holder', { email: 'wanted@acme.example' });
    await site.browser(person('carl')).signIn();
    const renamed = await site.browser(person('carl', { name: 'Carl C.', email: 'wanted@acme.example' })).signIn();
    const { user_info: user } = renamed.body.data;
    expect(user).toMatchObject({ nickname: 'Carl C.', email: 'carl@acme.example' });
    const [refusal] = (await site.audits('USER_EXTERNAL_REFUSED')).filter(({ user_id }) => user_id === user.uid);
    expect(refusal).toMatchObject({ reason: expect.stringContaining('belongs to another account') });
    const unverified = person('carl', { email: 'other@acme.example', email_verified: false });
    expect((await site.browser(unverified).signIn()).body.data.user_info.email).toBe('carl@acme.example');
  });

  it('claims that only userinfo has are asked for there', async () => {
    const { email, ...rest } = person('dora').claims!;
    const dora = { ...person('dora'), claims: rest, userinfoOnly: { email } };
    expect((await site.browser(dora).signIn()).body.data.user_info.email).toBe('dora@acme.example');
  });

  it('a code works once, and only in the browser that began (T508)', async () => {
    const browser = site.browser(person('emil'));
    const { external } = await browser.come();
    expectRefused(await site.browser().redeem(external), 'LOGIN_401013');
    const other = site.browser();
    await other.begin();
    expectRefused(await other.redeem(external), 'LOGIN_401013');
    expect((await browser.redeem(external)).status).toBe(200);
    expectRefused(await browser.redeem(external), 'LOGIN_401013');
  });

  it('a code lives for a minute', async () => {
    const browser = site.browser(person('late'));
    const { external } = await browser.come();
    site.service.clock.set(new Date(Date.now() + 61_000));
    expectRefused(await browser.redeem(external), 'LOGIN_401013');
    (site.service.clock as unknown as { behindBy(seconds: number): void }).behindBy(0);
  });

  it('an answer works once, in the browser that began, for the provider that was asked (T509)', async () => {
    const browser = site.browser(person('finn'));
    const begun = await browser.begin();
    const path = await browser.visit(begun.body.data.redirect_to as string);
    const error = { at: 'http://portal.test/', error: 'LOGIN_401013' };
    expect(await site.browser().callback(path)).toEqual(error);
    expect(await browser.callback(path.replace('/acme/', '/other/'))).toEqual(error);
    expect(await browser.callback(path)).toHaveProperty('external');
    expect(await browser.callback(path)).toEqual(error);
    expect(await browser.callback('/login/external/acme/callback?code=x')).toEqual(error);
    expect(await browser.callback('/login/external/acme/callback?state=a&state=b&code=x')).toEqual(error);
  });

  it('two tabs at once both work', async () => {
    const browser = site.browser(person('gina'));
    const [one, two] = [await browser.begin(), await browser.begin()];
    const codes = [];
    for (const begun of [two, one]) {
      codes.push(await browser.callback(await browser.visit(begun.body.data.redirect_to as string)));
    }
    for (const { external } of codes) expect((await browser.redeem(external)).status).toBe(200);
  });

  it('a refusal of the person at the provider leads back with LOGIN_401013, and so does a changed answer', async () => {
    site.provider.refuses('access_denied');
    expect(await site.browser().come()).toMatchObject({ error: 'LOGIN_401013' });
    const browser = site.browser(person('hugo'));
    const path = await browser.visit((await browser.begin()).body.data.redirect_to as string);
    expect(await browser.callback(path.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'))).toMatchObject({
      error: 'LOGIN_401013',
    });
  });

  it('the path to return to is a path of the pages, never another site (T510)', async () => {
    const lies = ['https://evil.example/', '//evil.example', '/\\evil.example', '/..//evil.example', '/\t/evil', 'x'];
    for (const return_to of lies) expectRefused(await site.browser().begin({ return_to }), 'COMMON_400001');
  });

  it('a provider that does not exist or is disabled is not found', async () => {
    expectRefused(await site.service.post('/login/external/none', {}), 'COMMON_404001');
    expectRefused(await site.service.post('/login/external/ACME', {}), 'COMMON_404001');
    const browser = site.browser(person('ida'));
    const { external } = await browser.come();
    await site.change({ enabled: false });
    expectRefused(await browser.begin(), 'COMMON_404001');
    expectRefused(await browser.redeem(external), 'LOGIN_401013');
    await site.change({ enabled: true });
  });

  it.each([
    ['the provider was disabled', async (site: ExternalSite) => void (await site.change({ enabled: false }))],
    [
      'the user was moved to a password',
      async ({ service }: ExternalSite) =>
        void (await service.database.affected(
          "UPDATE users SET provider = 'password', identity_provider_id = NULL WHERE login_name LIKE 'late-%'",
        )),
    ],
  ])('a code that is refused because %s before it was redeemed leaves a row in the login log', async (what, change) => {
    const name = `late-${what.split(' ')[1]}`;
    const browser = site.browser(person(name));
    expect((await browser.signIn()).status).toBe(200);
    const { external } = await browser.come();
    await change(site);
    expectRefused(await browser.redeem(external), 'LOGIN_401013');
    await site.change({ enabled: true });
    const rows =
      'SELECT l.outcome FROM login_logs l JOIN users u ON u.uid = l.user_id WHERE u.login_name = ? ORDER BY l.id';
    expect(await site.service.database.rows(rows, [name])).toEqual([
      { outcome: 'success' },
      { outcome: 'LOGIN_401013' },
    ]);
  });

  describe('who somebody is', () => {
    it('an account with the external id is bound by the claim, once and for one person (T511)', async () => {
      const { uid } = await givenExternal('jana', { externalId: 'E-17' });
      const jana = person('jana-at-acme', { employee: 'E-17', email: 'jana@acme.example' });
      expect((await site.browser(jana).signIn()).body.data.user_info.uid).toBe(uid);
      expect(await bound(uid)).toBe(1);
      const thief = person('thief', { employee: 'E-17' });
      expect(await site.browser(thief).come()).toMatchObject({ error: 'LOGIN_404001' });
      const cased = person('cased', { employee: 'e-17', preferred_username: 'cased' });
      expect((await site.browser(cased).signIn()).body.data.user_info.uid).not.toBe(uid);
    });

    it.each([
      ['a local account', {}],
      ['a directory account', { provider: 'ldap' as const }],
      ['an account of another provider', { provider: 'oidc' as const, identityProviderId: 'other', externalId: 'E-9' }],
      ['an account of this provider that is not bound', { provider: 'oidc' as const, identityProviderId: 'acme' }],
    ])('%s is never taken over, whatever the claims say (T512)', async (kind, more) => {
      const name = kind.replaceAll(' ', '-');
      const local = { email: `${name}@acme.example`, externalId: 'E-9', ...more };
      const { uid } = await site.service.givenUser(name, 'provider' in more ? { ...local, password: null } : local);
      await site.service.database.affected(
        'UPDATE users SET external_id = NULL WHERE uid = ? AND identity_provider_id = ?',
        [...[uid, 'acme']],
      );
      const lies = [
        {},
        { preferred_username: name, email: 'x@acme.example' },
        { preferred_username: 'x', employee: 'E-9' },
      ];
      for (const [index, lie] of lies.entries()) {
        const liar = person(name, lie, { sub: `liar-${name}-${index}` });
        const email = 'email' in lie ? lie.email : `${name}@acme.example`;
        const come = await site.browser({ ...liar, claims: { ...liar.claims, email } }).come();
        expect(come).toEqual({ at: 'http://portal.test/', error: 'LOGIN_404001' });
      }
      expect(await bound(uid)).toBe(0);
      const refused = (await site.audits('USER_EXTERNAL_REFUSED')).filter(({ user_id }) => user_id === uid);
      expect(refused.length).toBe(3);
      // Also the rows that have another name: the export and the erasure of the user find rows by `user_id`.
      const log = "SELECT outcome, user_id FROM login_logs WHERE login_name IN (?, 'x') ORDER BY id DESC LIMIT 3";
      expect(await site.service.database.rows(log, [name])).toEqual(
        lies.map(() => ({ outcome: 'LOGIN_404001', user_id: uid })),
      );
    });

    it.each([
      ['the address is not verified', { email_verified: false }],
      ['the address is not verified, as a text', { email_verified: 'false' }],
      ['the domain is not listed', { email: 'x@evil-acme.example' }],
      ['the domain is one below', { email: 'x@sub.acme.example' }],
      ['there is no address', { email: undefined }],
      ['there is no login name', { preferred_username: undefined }],
      ['the login name is no text', { preferred_username: ['x'] }],
    ])('no account is made when %s (T513)', async (why, claims) => {
      const stranger = person('stranger', claims, { sub: `stranger: ${why}` });
      expect(await site.browser(stranger).come()).toMatchObject({ error: 'LOGIN_404001' });
    });

    it('without jit only people with an account come in', async () => {
      await site.change({ jit: false });
      expect(await site.browser(person('nobody')).come()).toMatchObject({ error: 'LOGIN_404001' });
      // The row of a name that a user has is found by the export and the erasure of this user.
      const { uid } = await site.service.givenUser('named.by.claims');
      expect(await site.browser(person('named.by.claims')).come()).toMatchObject({ error: 'LOGIN_404001' });
      const log = 'SELECT user_id FROM login_logs WHERE login_name = ?';
      expect(await site.service.database.rows(log, ['named.by.claims'])).toEqual([{ user_id: uid }]);
      expect((await site.browser(ann).signIn()).status).toBe(200);
      await site.change({ jit: true });
    });

    it.each([
      ['disabled', 'status = -1', 'LOGIN_401011'],
      ['expired', 'status = -2', 'LOGIN_401012'],
      ['not enabled', 'status = 0', 'LOGIN_401012'],
    ])(
      'an account that is %s answers as at /login, also when it became so after the callback',
      async (name, set, code) => {
        const browser = site.browser(person(`was-${name.replace(' ', '-')}`));
        await browser.signIn();
        const { external } = await browser.come();
        await site.service.database.affected(`UPDATE users SET ${set} WHERE login_name = ?`, [
          `was-${name.replace(' ', '-')}`,
        ]);
        expectRefused(await browser.redeem(external), code);
        expectRefused(await browser.signIn(), code);
      },
    );
  });

  describe('the second factor of the provider', () => {
    it.each([
      ['amr', { amr: ['pwd', 'mfa'] }],
      ['acr that was asked for', { acr: 'urn:acme:strong' }],
    ])('is the second factor here when the %s says so', async (name, more) => {
      const { body } = await site.browser(person(`strong-${name.split(' ')[0]}`, {}, more)).signIn();
      expect(decodeJwt(body.data.access_token as string)).toMatchObject({
        amr: ['ext', 'mfa'],
        acr: 'urn:portal:acr:2',
      });
    });

    it('is not believed when the provider is not trusted in this, or names an acr that nobody asked for', async () => {
      await site.change({ trust_mfa: false });
      const untrusted = await site.browser(person('weak', {}, { amr: ['mfa'] })).signIn();
      await site.change({ trust_mfa: true, acr_values: '["urn:acme:other"]' });
      const other = await site.browser(person('weak', {}, { acr: 'urn:acme:strong' })).signIn();
      await site.change({ acr_values: '["urn:acme:strong"]' });
      for (const { body } of [untrusted, other])
        expect(decodeJwt(body.data.access_token as string).amr).toEqual(['ext']);
    });
  });

  describe('a fresh sign-in', () => {
    const freshOf = async (who: Person, access: string) => {
      const browser = site.browser(who);
      const page = await browser.come({ fresh: true }, { bearer: access });
      return { browser, page };
    };
    const redeem = (browser: ReturnType<typeof site.browser>, access: string, external: string | undefined) =>
      site.service.post('/user/reauthenticate', { external }, browser.with({ bearer: access }));

    it('confirms the session of the same user, and the provider was told to ask again', async () => {
      const old = person('fay', {}, { authTime: new Date(Date.now() - 3_600_000) });
      const { body } = await site.browser(old).signIn();
      const access = body.data.access_token as string;
      expect(Math.abs(decodeJwt<{ auth_time: number }>(access).auth_time - (Date.now() / 1000 - 3600))).toBeLessThan(
        60,
      );
      expectRefused(await site.service.post('/recovery-codes', {}, { bearer: access }), 'AUTH_403002');
      const { browser, page } = await freshOf(person('fay'), access);
      expect(site.provider.asked.at(-1)).toMatchObject({ prompt: 'login' });
      const asked = await browser.begin({ fresh: true }, { bearer: access });
      expect(new URL(asked.body.data.redirect_to as string).searchParams.get('max_age')).toBe('0');
      const confirmed = await redeem(browser, access, page.external);
      expect(confirmed.status).toBe(200);
      const { access_token: fresh } = confirmed.body.data;
      expect(decodeJwt(fresh as string)).toMatchObject({ amr: ['ext'], sid: decodeJwt(access).sid });
      expect((await site.service.post('/recovery-codes', {}, { bearer: fresh as string })).status).toBe(200);
    });

    it('makes the session as young as the question of the provider, also when the browser comes back late', async () => {
      const { body } = await site.browser(person('ivo')).signIn();
      const access = body.data.access_token as string;
      // The clock of the provider is behind, by less than the service allows.
      const browser = site.browser(person('ivo', {}, { authTime: new Date(Date.now() - 10_000) }));
      const before = Math.floor(Date.now() / 1000);
      const begun = await browser.begin({ fresh: true }, { bearer: access });
      const after = Date.now() / 1000;
      const path = await browser.visit(begun.body.data.redirect_to as string);
      const clock = site.service.clock as RunningClock;
      clock.behindBy(-400);
      try {
        const { external } = await browser.callback(path);
        const confirmed = await redeem(browser, access, external);
        const bearer = confirmed.body.data.access_token as string;
        const { auth_time } = decodeJwt<{ auth_time: number }>(bearer);
        expect(auth_time >= before && auth_time <= after).toBe(true);
        expectRefused(await site.service.post('/recovery-codes', {}, { bearer }), 'AUTH_403002');
      } finally {
        clock.behindBy(0);
      }
    });

    it('is refused for an old auth_time, for somebody else, and for a code of the other kind (T514)', async () => {
      const { body } = await site.browser(person('gus')).signIn();
      const access = body.data.access_token as string;
      const stale = person('gus', {}, { authTime: new Date(Date.now() - 120_000) });
      expect((await freshOf(stale, access)).page).toMatchObject({ error: 'LOGIN_401013' });
      expect((await freshOf(person('heidi'), access)).page).toMatchObject({ error: 'LOGIN_401013' });
      const { browser, page } = await freshOf(person('gus'), access);
      expectRefused(await browser.redeem(page.external), 'LOGIN_401013');
      const plain = site.browser(person('gus'));
      expectRefused(await redeem(plain, access, (await plain.come()).external), 'LOGIN_401013');
      const { user_info: ivo, access_token: other } = (await site.browser(person('ivo')).signIn()).body.data;
      expect((await freshOf(person('ivo'), access)).page).toMatchObject({ error: 'LOGIN_401013' });
      const log = "SELECT user_id FROM login_logs WHERE outcome = 'LOGIN_401013' ORDER BY id DESC LIMIT 1";
      expect(await site.service.database.row(log)).toEqual({ user_id: ivo.uid });
      const mine = await freshOf(person('gus'), access);
      expectRefused(await redeem(mine.browser, other as string, mine.page.external), 'LOGIN_401013');
    });

    it('needs an access token', async () => {
      expectRefused(await site.browser().begin({ fresh: true }), 'AUTH_401001');
    });
  });

  describe('these users have no password here', () => {
    it('a password at /login is a wrong one, for every kind of account that the client names (T515)', async () => {
      await site.browser(person('nora')).signIn();
      for (const provider of ['password', 'auto']) {
        const typed = { username: 'nora', password, provider, captcha_token: captchaToken };
        expectRefused(await site.service.post('/login', typed), 'LOGIN_401001');
      }
      const { body } = await site.browser(person('nora')).signIn();
      const bearer = body.data.access_token as string;
      expectRefused(await site.service.post('/user/reauthenticate', { password }, { bearer }), 'LOGIN_401001');
      const change = { current_password: password, password: 'Another-Horse-8', confirm_password: 'Another-Horse-8' };
      expectRefused(await site.service.post('/user/change-password', change, { bearer }), 'AUTH_403001');
    });

    it('wrong passwords end in the lock at /login as for anybody, and do not keep the user out at the provider', async () => {
      await site.browser(person('lara')).signIn();
      const typed = { username: 'lara', password, captcha_token: captchaToken };
      const outcomes: unknown[] = [];
      while (outcomes.length < 12 && outcomes.at(-1) !== 'LOGIN_401004') {
        outcomes.push((await site.service.post('/login', typed)).body.error_code);
      }
      expect([outcomes[0], outcomes.at(-1)]).toEqual(['LOGIN_401001', 'LOGIN_401004']);
      expect((await site.browser(person('lara')).signIn()).status).toBe(200);
    });

    it('no link is mailed to them', async () => {
      await site.browser(person('otto')).signIn();
      const answer = await site.service.post('/forget-password', {
        email: 'otto@acme.example',
        captcha_token: captchaToken,
      });
      expectRefused(answer, 'AUTH_404002');
      expect(await site.service.count('user_change_password_request')).toBe(0);
    });
  });

  it('an outage of the provider is LOGIN_503002 at both ends, and a sign-in works when it is back', async () => {
    const browser = site.browser(person('paul'));
    const path = await browser.visit((await browser.begin()).body.data.redirect_to as string);
    const back = await site.provider.away();
    expect(await browser.callback(path)).toMatchObject({ error: 'LOGIN_503002' });
    await back();
    expect((await browser.signIn()).status).toBe(200);
  });

  it('neither the tables nor the logs have what a browser or the provider sends (T516)', async () => {
    const browser = site.browser(person('quinn'));
    const begun = await browser.begin();
    const asked = new URL(begun.body.data.redirect_to as string).searchParams;
    const path = await browser.visit(begun.body.data.redirect_to as string);
    const { external = '' } = await browser.callback(path);
    const rows = JSON.stringify(await site.service.database.rows('SELECT * FROM external_sign_ins'));
    const log = JSON.stringify(site.service.logLines);
    const cookie = browser.cookie!.split('=')[1]!;
    const secrets = [asked.get('state'), asked.get('nonce'), external, cookie, new URLSearchParams(path).get('code')];
    for (const secret of secrets.filter((one) => one !== null)) {
      expect(rows).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
  });
});
