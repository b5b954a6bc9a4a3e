import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type Answer, TestService } from '../support/app';
import {
  askForTokens,
  callback,
  claimsOf,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
} from '../support/openid';
import { rawRequest, request } from '../support/raw-http';

/** Chapter 3.20 of docs/spec/attacks.md. */
describe('attacks on the sign-in at an application', () => {
  let service: TestService;
  let application: GivenApplication;
  beforeAll(async () => {
    service = await TestService.start(openIdSettings);
    application = await givenApplication(service);
  });
  afterAll(() => service.stop());

  const signedIn = async (name: string) => {
    const { uid } = await service.givenUser(name);
    return { uid, access: (await service.session(name)).access };
  };
  const begin = async (browser: OpenIdBrowser, more: Record<string, string> = {}) =>
    (await browser.authorize(application, more)).url.searchParams.get('interaction')!;
  const notFound = { status: 404, code: 'APP_404001' };
  const seen = ({ status, body }: Answer) => ({ status, code: body.error_code as unknown });

  it('T470 login CSRF: a page of another origin does not finish a sign-in, nor does a request without an origin', async () => {
    const { access } = await signedIn('csrf');
    const browser = new OpenIdBrowser(service);
    const interaction = await begin(browser);
    for (const origin of ['https://evil.example', 'null', 'http://portal.test.evil.example', 'https://portal.test'])
      expect(seen(await browser.finish(interaction, access, {}, origin))).toEqual(notFound);
    const path = `/applications/interactions/${interaction}`;
    expect(seen(await browser.request('POST', path, { bearer: access, body: {} }))).toEqual(notFound);
    expect((await browser.finish(interaction, access)).status).toBe(200);
  });

  it('T471 fixation: the link of an interaction does nothing in another browser', async () => {
    const { access } = await signedIn('victim');
    const interaction = await begin(new OpenIdBrowser(service));
    const victim = new OpenIdBrowser(service);
    expect(seen(await victim.describe(interaction, access))).toEqual(notFound);
    await begin(victim);
    expect(seen(await victim.describe(interaction, access))).toEqual(notFound);
    expect(seen(await victim.finish(interaction, access))).toEqual(notFound);
  });

  it('T774 a form of another site, which comes without cookies, does not end what waits in other tabs', async () => {
    const { access } = await signedIn('elsewhere');
    const browser = new OpenIdBrowser(service);
    const interaction = await begin(browser);
    const own = [...browser.cookies];
    browser.cookies.clear();
    const page = await browser.request('POST', '/oidc/auth', { form: { client_id: application.id } });
    expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined]);
    for (const [name, cookie] of own) if (!browser.cookies.has(name)) browser.cookies.set(name, cookie);
    expect((await browser.describe(interaction, access)).status).toBe(200);
  });

  it('T472 fixation: what one browser has finished is not taken up by another one', async () => {
    const { access } = await signedIn('finished');
    const browser = new OpenIdBrowser(service);
    const { body } = await browser.finish(await begin(browser), access);
    const other = new OpenIdBrowser(service);
    await begin(other);
    await expect(other.follow(body.data.redirect_to as string)).rejects.toThrow('400');
    expect((await browser.follow(body.data.redirect_to as string)).searchParams.get('code')).toEqual(
      expect.any(String),
    );
    await expect(browser.follow(body.data.redirect_to as string)).rejects.toThrow('400');
  });

  it('an interaction ends after an hour', async () => {
    const browser = new OpenIdBrowser(service);
    const interaction = await begin(browser);
    service.clock.advanceSeconds(3600);
    const { access } = await signedIn('late');
    expect(seen(await browser.describe(interaction, access))).toEqual(notFound);
  });

  it('two tabs of one browser both get to their application', async () => {
    const { access } = await signedIn('tabs');
    const browser = new OpenIdBrowser(service);
    const tabs = [await begin(browser), await begin(browser)];
    for (const tab of tabs) {
      const { body } = await browser.finish(tab, access);
      expect((await browser.follow(body.data.redirect_to as string)).searchParams.get('code')).toEqual(
        expect.any(String),
      );
    }
  });

  it('T473 a session of another person in the browser is left at the next sign-in, whoever has planted it', async () => {
    const [attacker, victim] = [await signedIn('planter'), await signedIn('planted')];
    const browser = new OpenIdBrowser(service);
    await browser.signIn(application, attacker.access);
    const planted = browser.cookie('portal-session');
    const { url, verifier } = await browser.authorize(application, { prompt: 'login' });
    const { body } = await browser.finish(url.searchParams.get('interaction')!, victim.access);
    const back = await browser.follow(body.data.redirect_to as string);
    expect(browser.cookie('portal-session')).not.toBe(planted);
    const first = await exchange(service, application, { url: back, verifier });
    const silent = await exchange(service, application, await browser.authorize(application, { prompt: 'none' }));
    for (const tokens of [first, silent]) {
      expect(claimsOf(tokens.body.id_token as string)).toMatchObject({
        sub: victim.uid,
        sid: claimsOf(victim.access).sid,
      });
    }
  });

  it('T474 redirect URIs: nothing but the registered text gets an answer', async () => {
    const [, host = ''] = callback.split('//');
    const wrong = [
      `${callback}/`,
      `${callback}?x=1`,
      `${callback}#x`,
      `${callback}%2f`,
      `${callback}/..`,
      `${callback}/../callback`,
      `${callback}.evil.example`,
      `${callback} `,
      ` ${callback}`,
      callback.toUpperCase(),
      callback.replace('https', 'http'),
      callback.replace('https', 'HTTPS'),
      `https://evil.example/?${callback}`,
      `https://evil.example/#${callback}`,
      `https://app.example.com@evil.example/callback`,
      `https://app.example.com:443/callback`,
      `https://app.example.com./callback`,
      `https://app.example.com.evil.example/callback`,
      `https://evil.example\\@${host}`,
      `https://evil.example/\\app.example.com/callback`,
      `//${host}`,
      `/\\${host}`,
      `https:/${host}`,
      `https:${host}`,
      `https:///${host}`,
      `https://${host}\u0000`,
      `https://${host}\r\nX: y`,
      `https://${host}%00`,
      `https://${host}%0d%0aX:y`,
      `https://${host};x`,
      `https://${host}&x`,
      `https://sub.${host}`,
      'https://xn--app-9na.example.com/callback',
      'https://app.example.com/Callback',
      'https://app.example.com/call%62ack',
      'https://app.example.com//callback',
      'https://app.example.com/./callback',
      'https://app.example.com/x/../callback',
      'https://app.example.com/%63allback',
      'https://app.example.com',
      'https://app.example.com/',
      'https://APP.example.com/callback',
      'https://аpp.example.com/callback',
      'https://app。example。com/callback',
      'https://app.example.com/callback﹖x',
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'about:blank',
      'http://127.0.0.1/callback',
      'http://localhost/callback',
      'http://[::1]/callback',
      'http://[::ffff:127.0.0.1]/callback',
      'urn:ietf:wg:oauth:2.0:oob',
      'myapp:/callback',
      '*',
      'https://*.example.com/callback',
      'null',
      'undefined',
      'https://user:secret@app.example.com/callback',
      'https://app.example.com/callback\t',
      'https://app.example.com/callback\n',
    ];
    expect(wrong.length).toBeGreaterThanOrEqual(60);
    for (const redirect_uri of wrong) {
      const browser = new OpenIdBrowser(service);
      const refused = await browser.authorize(application, { redirect_uri }).then(
        ({ url }) => `led to ${url.href}`,
        (error: Error) => error.message,
      );
      expect(refused).toMatch(/\/oidc\/auth answered 400 [^]*invalid_redirect_uri/);
    }
  });

  it('T475 PKCE: a request without it, with plain, or a code without the verifier gets nothing', async () => {
    const { access } = await signedIn('pkce');
    const downgrades: Record<string, string>[] = [
      { code_challenge: '' },
      { code_challenge_method: 'plain' },
      { code_challenge_method: '' },
    ];
    for (const more of downgrades) {
      const { url } = await new OpenIdBrowser(service).authorize(application, more);
      expect(url.searchParams.get('error')).toBe('invalid_request');
    }
    for (const code_verifier of ['', 'w'.repeat(43)]) {
      const authorization = await new OpenIdBrowser(service).signIn(application, access);
      const { status, body } = await exchange(service, application, authorization, { code_verifier });
      expect([status, ['invalid_grant', 'invalid_request'].includes(body.error as string)]).toEqual([400, true]);
    }
  });

  it('T476 a code of one application is worth nothing at another one, nor at another redirect URI', async () => {
    const { access } = await signedIn('codes');
    const other = await givenApplication(service);
    const authorization = await new OpenIdBrowser(service).signIn(application, access);
    expect((await exchange(service, other, authorization)).body.error).toBe('invalid_grant');
    const moved = { redirect_uri: 'https://app.example.com/other' };
    expect((await exchange(service, application, authorization, moved)).body.error).toBe('invalid_grant');
    expect((await exchange(service, application, authorization)).status).toBe(200);
  });

  it('T477 a code or a refresh token that is used twice ends every token of its grant, and the audit shows each theft once', async () => {
    const { uid, access } = await signedIn('twice');
    const browser = new OpenIdBrowser(service);
    const authorization = await browser.signIn(application, access);
    const { body: tokens } = await exchange(service, application, authorization);
    const refresh = (refresh_token: unknown) =>
      askForTokens(service, application, { grant_type: 'refresh_token', refresh_token: String(refresh_token) });
    expect((await exchange(service, application, authorization)).body.error).toBe('invalid_grant');
    expect((await service.get('/oidc/me', { bearer: tokens.access_token as string })).status).toBe(401);
    expect((await refresh(tokens.refresh_token)).body.error).toBe('invalid_grant');

    const { body: again } = await exchange(service, application, await browser.signIn(application, access));
    const { body: next } = await refresh(again.refresh_token);
    expect((await refresh(again.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(next.refresh_token)).body.error).toBe('invalid_grant');
    expect((await service.get('/oidc/me', { bearer: next.access_token as string })).status).toBe(401);

    const rows = await service.database.rows<{ detail: string; ip: string }>(
      "SELECT detail, ip FROM audit_logs WHERE event = 'APPLICATION_TOKEN_REUSED' AND user_id = ? ORDER BY id",
      [uid],
    );
    expect(rows.map(({ detail, ip }) => ({ ip, ...(JSON.parse(detail) as object) }))).toEqual(
      ['authorization_code', 'refresh_token'].map((grant_type) => ({
        ...{ application: application.id, grant_type, ip: '127.0.0.1' },
      })),
    );
  });

  it('an application that revokes a refresh token, also a used one, is no theft', async () => {
    const { uid, access } = await signedIn('leaver');
    const { body: tokens } = await exchange(
      service,
      application,
      await new OpenIdBrowser(service).signIn(application, access),
    );
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token as string };
    const { body: next } = await askForTokens(service, application, refresh);
    const revoked = await postForm(service, '/oidc/token/revocation', application, { token: refresh.refresh_token });
    expect(revoked.status).toBe(200);
    expect((await service.get('/oidc/me', { bearer: next.access_token as string })).status).toBe(401);
    expect(await service.count('audit_logs', "event = 'APPLICATION_TOKEN_REUSED' AND user_id = ?", [uid])).toBe(0);
  });

  it('T720 a cookie over https is Secure, and its name keeps a page without TLS from setting it', async () => {
    const secure = await TestService.start({ ...openIdSettings, OIDC_ISSUER: 'https://portal.test/oidc' });
    try {
      const given = await givenApplication(secure);
      const query = new URLSearchParams({
        ...{ client_id: given.id, redirect_uri: callback, response_type: 'code', scope: 'openid' },
        ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
      });
      const { headers } = await secure.get(`/oidc/auth?${query.toString()}`);
      const cookies = [headers['set-cookie'] ?? []].flat().map(String);
      const names = cookies.map((cookie) => cookie.split('=')[0]!.replace(/\.sig$/, ''));
      expect(new Set(names)).toEqual(
        new Set(['__Host-portal-browser', '__Secure-portal-interaction', '__Secure-portal-resume']),
      );
      for (const cookie of cookies) expect(cookie).toMatch(/; httponly/i);
      for (const cookie of cookies) expect(cookie).toMatch(/; secure/i);
      for (const cookie of cookies) expect(cookie).toMatch(/; samesite=lax/i);
    } finally {
      await secure.stop();
    }
  });

  it('T478 no page below the issuer is shown in a frame', async () => {
    for (const path of ['/oidc/session/end', '/oidc/auth?client_id=x', '/oidc/device']) {
      const { headers } = await service.get(path);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
  });

  it('T480 a user of another tenant, or of no group, does not get in, at any stage', async () => {
    const { uid, access } = await signedIn('outsider');
    for (const limits of [
      { allowedTenants: ['elsewhere'] },
      { allowedGroups: ['8c1a9a3e-0000-4000-8000-000000000000'] },
    ]) {
      const closed = await givenApplication(service, limits);
      const browser = new OpenIdBrowser(service);
      const interaction = (await browser.authorize(closed)).url.searchParams.get('interaction')!;
      const refused = await browser.finish(interaction, access);
      expect(seen(refused)).toEqual({ status: 403, code: 'APP_403001' });
      const back = await browser.follow(refused.body.data.redirect_to as string);
      expect(back.searchParams.get('error')).toBe('access_denied');
    }
    const open = await givenApplication(service);
    const browser = new OpenIdBrowser(service);
    const { body } = await exchange(service, open, await browser.signIn(open, access));
    await service.database.affected(`UPDATE applications SET allowed_tenants = '["elsewhere"]' WHERE id = ?`, [
      open.id,
    ]);
    expect((await service.get('/oidc/me', { bearer: body.access_token as string })).status).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string };
    expect((await askForTokens(service, open, refresh)).body.error).toBe('invalid_grant');
    const { url } = await browser.authorize(open, { prompt: 'none' });
    expect(url.searchParams.get('error')).toBe('access_denied');
    expect(await service.count('users', 'uid = ?', [uid])).toBe(1);
  });

  it('T481 a copy of the database has nothing that works: no id, code, token, secret or cookie', async () => {
    const { access } = await signedIn('copied');
    const browser = new OpenIdBrowser(service);
    const { url, verifier } = await browser.authorize(application);
    const interaction = url.searchParams.get('interaction')!;
    const { body } = await browser.finish(interaction, access);
    const back = await browser.follow(body.data.redirect_to as string);
    const { body: tokens } = await exchange(service, application, { url: back, verifier });
    const device = await givenApplication(service, { type: 'native', redirectUris: [] });
    const { body: begun } = await service.send('POST', '/oidc/device/auth', `client_id=${device.id}&scope=openid`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const rows = await service.database.rows('SELECT * FROM oidc_records');
    const applications = await service.database.rows('SELECT * FROM applications');
    const copy = JSON.stringify([rows, applications]);
    const works = [
      ...[interaction, back.searchParams.get('code'), tokens.access_token, tokens.refresh_token, application.secret],
      ...[begun.device_code, begun.user_code, String(begun.user_code).replace('-', '')],
      ...[...browser.cookies.values()].map(({ value }) => value),
      createHash('sha256').update(verifier).digest('base64url'),
    ];
    expect(rows.length).toBeGreaterThan(4);
    for (const value of works) expect(copy).not.toContain(String(value));
  });

  it('T482 errors show no stack and no software, and bodies are bounded', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answers = [
      await service.send('POST', '/oidc/token', 'x='.padEnd(60_000, 'y'), { headers }),
      await service.send('POST', '/oidc/token', '{"a":1}', { headers: { 'content-type': 'application/json' } }),
      await service.send('POST', '/oidc/token', 'grant_type=password&username=a&password=b', { headers }),
      await service.get('/oidc/reg'),
      await service.get('/oidc/nothing'),
    ];
    for (const { status, headers: received, raw } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(received['x-powered-by']).toBeUndefined();
      expect(raw.toString()).not.toMatch(/node_modules|\bat .*:\d+|koa/i);
    }
  });

  it('T483 implicit and hybrid answers, passwords and registration are not offered', async () => {
    for (const response_type of ['token', 'id_token', 'code id_token', 'code token', 'none']) {
      const { url } = await new OpenIdBrowser(service).authorize(application, { response_type });
      const error = url.searchParams.get('error') ?? new URLSearchParams(url.hash.slice(1)).get('error');
      expect(error).toBe('unsupported_response_type');
    }
    const password = { grant_type: 'password', username: 'copied', password: 'x' };
    expect((await askForTokens(service, application, password)).body.error).toBe('unsupported_grant_type');
  });

  it('T484 a scope that the application does not have is refused, also without consent', async () => {
    const narrow = await givenApplication(service, { scopes: ['openid'] });
    const { url } = await new OpenIdBrowser(service).authorize(narrow, { scope: 'openid email' });
    expect(url.searchParams.get('error')).toBe('invalid_scope');
  });

  it('T484 an application without any scope of users, or that loses one during the sign-in, gets the error and no endless way', async () => {
    const { access } = await signedIn('endless');
    const none = await givenApplication(service, { scopes: ['orders:read'] });
    expect((await new OpenIdBrowser(service).signIn(none, access)).url.searchParams.get('error')).toBe('invalid_scope');

    const loser = await givenApplication(service, { scopes: ['openid', 'email'] });
    const browser = new OpenIdBrowser(service);
    const { url } = await browser.authorize(loser, { scope: 'openid email' });
    await service.database.affected(`UPDATE applications SET scopes = '["openid"]' WHERE id = ?`, [loser.id]);
    const { body } = await browser.finish(url.searchParams.get('interaction')!, access);
    const back = await browser.follow(body.data.redirect_to as string);
    expect([back.origin + back.pathname, back.searchParams.get('error')]).toEqual([callback, 'invalid_scope']);
  });

  it('T758 a scope that is taken from an application is gone from its tokens, and offline_access ends with the scope', async () => {
    const { access } = await signedIn('less-told');
    const given = await givenApplication(service);
    const browser = new OpenIdBrowser(service);
    const signIn = async (more: Record<string, string> = {}) =>
      (await exchange(service, given, await browser.signIn(given, access, more, true))).body;
    const refresh = (refresh_token: string) =>
      askForTokens(service, given, { grant_type: 'refresh_token', refresh_token });
    const told = async (bearer: string) =>
      Object.keys((await service.get('/oidc/me', { bearer })).body as object).sort();
    const [online, offline] = [
      await signIn(),
      await signIn({ scope: 'openid email offline_access', prompt: 'consent' }),
    ];
    expect(await told(online.access_token as string)).toContain('email');
    await service.database.affected(`UPDATE applications SET scopes = '["openid","profile"]' WHERE id = ?`, [given.id]);
    const asked = async (token: unknown) =>
      (await postForm(service, '/oidc/token/introspection', given, { token: token as string })).body as object;
    expect(await asked(online.access_token)).toMatchObject({ active: true, scope: 'openid profile' });
    expect(await asked(offline.refresh_token)).toEqual({ active: false });
    const rest = ['name', 'preferred_username', 'sub'];
    expect(await told(online.access_token as string)).toEqual(rest);
    const { body } = await refresh(online.refresh_token as string);
    expect(body.scope).toBe('openid profile');
    expect(await told(body.access_token as string)).toEqual(rest);
    expect((await refresh(offline.refresh_token as string)).body.error).toBe('invalid_grant');
  });

  it('T759 a redirect URI that is removed gets no code of a sign-in that began before, and no refusal', async () => {
    const { access } = await signedIn('led-back');
    const given = await givenApplication(service);
    const browser = new OpenIdBrowser(service);
    const { url } = await browser.authorize(given);
    const interaction = url.searchParams.get('interaction')!;
    expect((await browser.describe(interaction, access)).status).toBe(200);
    // Another browser has the answer of the pages already, and has not followed it yet.
    const other = new OpenIdBrowser(service);
    const late = (await other.authorize(given)).url.searchParams.get('interaction')!;
    const { body: allowed } = await other.finish(late, access, { consent: true });
    const moved = `UPDATE applications SET redirect_uris = '["https://new.example.com/callback"]' WHERE id = ?`;
    await service.database.affected(moved, [given.id]);
    expect(seen(await browser.describe(interaction, access))).toEqual(notFound);
    for (const body of [{}, { consent: true }, { consent: false }])
      expect(seen(await browser.finish(interaction, access, body))).toEqual(notFound);
    const led = await other.follow(String(allowed.data.redirect_to));
    expect([led.origin, led.searchParams.has('interaction'), led.searchParams.has('code')]).toEqual([
      'http://portal.test',
      true,
      false,
    ]);
  });

  it('T757 the form of a device without the cookie of a visitor leads to the page, and stores nothing', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const visitors = () => service.database.rows(`SELECT id_hash FROM oidc_records WHERE kind = 'Session'`);
    const before = (await visitors()).length;
    const form = await service.post('/oidc/device', 'user_code=BBBB-BBBB&xsrf=x', { headers });
    const resumed = await service.get('/oidc/device/unknown');
    for (const { status, headers: answered } of [form, resumed])
      expect([status, answered.location]).toEqual([303, 'http://portal.test/device?state=refused']);
    expect((await visitors()).length).toBe(before);
  });

  it('T487 a token of an application that is disabled, deleted or closed to its user is not active to anybody', async () => {
    const { access } = await signedIn('asked-about');
    const [asker, given] = [await givenApplication(service), await givenApplication(service)];
    const { body } = await exchange(service, given, await new OpenIdBrowser(service).signIn(given, access));
    const job = await givenApplication(service, { type: 'service', redirectUris: [], scopes: [] });
    const own = await askForTokens(service, job, { grant_type: 'client_credentials' });
    const about = async () => {
      const answers = [];
      for (const token of [body.access_token, body.refresh_token, own.body.access_token]) {
        const answer = await postForm(service, '/oidc/token/introspection', asker, { token: token as string });
        answers.push([answer.status, answer.body.active]);
      }
      return answers;
    };
    const set = (what: string) =>
      service.database.affected(`UPDATE applications SET ${what} WHERE id IN (?, ?)`, [given.id, job.id]);
    const [active, inactive] = [Array(3).fill([200, true]), Array(3).fill([200, false])];
    expect(await about()).toEqual(active);
    await set('enabled = 0');
    expect(await about()).toEqual(inactive);
    await set(`enabled = 1, allowed_tenants = '["another"]'`);
    expect(await about()).toEqual([
      [200, false],
      [200, false],
      [200, true],
    ]);
    await set(`allowed_tenants = '[]'`);
    expect(await about()).toEqual(active);
    await service.database.affected('DELETE FROM applications WHERE id IN (?, ?)', [given.id, job.id]);
    expect(await about()).toEqual(inactive);
  });

  it('T488 what was allowed at one resource is asked again at another one', async () => {
    const { access } = await signedIn('allower');
    const [one, two] = ['https://one.example.com', 'https://two.example.com'];
    const third = await givenApplication(service, {
      firstParty: false,
      scopes: ['openid', 'orders:read'],
      audience: [one, two],
    });
    const browser = new OpenIdBrowser(service);
    await browser.signIn(third, access, { scope: 'openid orders:read', resource: one }, true);
    const { url } = await browser.authorize(third, { scope: 'openid orders:read' });
    const more = new URLSearchParams([...new URL(url).searchParams]);
    expect(more.get('code')).toEqual(expect.any(String));
    const asked = new URLSearchParams({
      ...{ client_id: third.id, response_type: 'code', redirect_uri: callback, scope: 'openid orders:read' },
      ...{
        code_challenge: createHash('sha256').update('v'.repeat(43)).digest('base64url'),
        code_challenge_method: 'S256',
      },
    });
    for (const resource of [one, two]) asked.append('resource', resource);
    const page = await browser.follow(`http://portal.test/oidc/auth?${asked.toString()}`);
    const interaction = page.searchParams.get('interaction')!;
    expect((await browser.describe(interaction, access)).body.data.consent).toBe(true);
    expect((await browser.finish(interaction, access)).body.error_code).toBe('APP_400001');
  });
});

describe('a flood of visitors without a sign-in', () => {
  const limits = { RATE_LIMIT: 'on', RATE_LIMIT_OTP: '2', RATE_LIMIT_OTHER: '3' };
  let service: TestService;
  beforeAll(async () => (service = await TestService.start({ ...openIdSettings, ...limits })));
  afterAll(() => service.stop());

  it('T489 no spelling of a path and no public client makes rows beyond the limits, and rows of visitors end within an hour', async () => {
    const native = await givenApplication(service, { type: 'native', redirectUris: [], scopes: ['openid'] });
    const seen: number[] = [];
    for (const path of ['/oidc/device', '/oidc/DEVICE', '/oidc/Device/']) seen.push((await service.get(path)).status);
    expect(seen).toEqual([303, 303, 429]);
    const rows = await service.database.rows<{ late: number }>(
      `SELECT expires > ? AS late FROM oidc_records WHERE kind = 'Session'`,
      [service.clock.secondsFromNow(3600)],
    );
    expect(rows.map(({ late }) => Number(late))).toEqual([0, 0]);
    const begun: number[] = [];
    for (const path of ['/oidc/device/auth', '/oidc/DEVICE/AUTH', '/oidc/request', '/oidc/AUTH', '/oidc/Session/End'])
      begun.push((await postForm(service, path, native, { scope: 'openid' })).status);
    expect(begun).toEqual([200, 200, expect.any(Number), 429, 429]);
    expect(begun[2]).not.toBe(429);
  });
});

describe('codes of devices', () => {
  const limits = { RATE_LIMIT: 'on', RATE_LIMIT_OTP: '2' };
  let service: TestService;
  beforeAll(async () => (service = await TestService.start({ ...openIdSettings, ...limits })));
  afterAll(() => service.stop());

  it('T756 no character after the path, such as # or a backslash, takes a guess of a code out of its limit', async () => {
    await service.app.listen(0, '127.0.0.1');
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const statuses: (number | undefined)[] = [];
    for (const path of ['/oidc/device#a', '/oidc/device/#b', '/oidc/DEVICE\\#c', '/oidc/device\\#d', '/oidc/device#?e'])
      statuses.push((await rawRequest(port, request('GET', path, ['Host: portal.test'])))?.status);
    expect(statuses).toEqual([303, 303, 429, 429, 429]);
  });
});

describe('one request of a visitor', () => {
  let service: TestService;
  beforeAll(async () => (service = await TestService.start(openIdSettings)));
  afterAll(() => service.stop());

  it('T495 is stored with at most 16 KB, and asks the database a bounded number of times', async () => {
    const resource = 'https://api.example.com';
    const spa = await givenApplication(service, { type: 'spa', audience: [resource] });
    const native = await givenApplication(service, { type: 'native', redirectUris: [], scopes: ['openid'] });
    const asked = {
      ...{ client_id: spa.id, response_type: 'code', redirect_uri: callback, scope: 'openid' },
      ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
    };
    const long = { nonce: 'n'.repeat(17_000) };
    const refused = { status: 400, body: { error: 'invalid_request', error_description: 'the request is too long' } };
    expect(await postForm(service, '/oidc/request', spa, { ...asked, ...long })).toMatchObject(refused);
    expect(await postForm(service, '/oidc/device/auth', native, { scope: 'openid', ...long })).toMatchObject(refused);
    expect(await service.database.rows('SELECT kind FROM oidc_records')).toEqual([]);
    const many = new URLSearchParams(asked);
    for (let i = 0; i < 21; i++) many.append('resource', resource);
    const answer = await service.get(`/oidc/auth?${many.toString()}`);
    expect(new URL(String(answer.headers.location)).searchParams.get('error')).toBe('invalid_target');
  });
});
