import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { type Answer, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import {
  askForTokens,
  type Authorization,
  callback,
  claimsOf,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
} from '../support/openid';

const portal = 'http://portal.test';
const issuer = `${portal}/oidc`;
const afterLogout = 'https://app.example.com/';

/**
 * The modules of the OpenID conformance suite (docs/spec/openid-conformance.md). The suite itself needs Docker and a public
 * address. Titles begin with the name of the module that they stand for.
 */
describe('the test plans of the OpenID conformance suite', () => {
  let service: TestService;
  let application: GivenApplication;
  let access: string;
  let uid: string;

  beforeAll(async () => {
    // The plans want RS256, which OpenID Core §15.1 makes mandatory.
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const OIDC_PRIVATE_KEY = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    // The package judges `max_age` by the clock of this machine.
    const clock = new FakeClock(new Date(Date.now() - 60_000));
    service = await TestService.start({ ...openIdSettings, OIDC_PRIVATE_KEY }, { clock });
    application = await givenApplication(service);
    ({ uid } = await service.givenUser('ann', { nickname: 'Ann' }));
  });
  // Some tests move the clock beyond the life of an access token.
  beforeEach(async () => ({ access } = await service.session('ann')));
  afterAll(() => service.stop());

  const signIn = (more: Record<string, string> = {}, browser = new OpenIdBrowser(service), one = application) =>
    browser.signIn(one, access, more);
  const tokensOf = async (more: Record<string, string> = {}, browser = new OpenIdBrowser(service)) => {
    const { status, body } = await exchange(service, application, await signIn(more, browser));
    expect(status).toBe(200);
    return body as { access_token: string; refresh_token: string; id_token: string; scope: string };
  };
  const userInfo = (token: string) => service.get('/oidc/me', { bearer: token });
  const errorOf = ({ url }: Authorization) => url.searchParams.get('error');
  const publishedKeys = async () =>
    JSON.parse((await service.get('/oidc/jwks')).raw.toString()) as { keys: { kid: string; kty: string }[] };
  const oauthError = ({ status, body }: Answer) => [status, body.error as string];

  describe('oidcc-basic-certification-test-plan', () => {
    it('oidcc-server, oidcc-idtoken-signature, oidcc-ensure-request-with-valid-pkce-succeeds: the ID token has the nonce and is signed by a published key', async () => {
      const authorization = await signIn({ nonce: 'n-0S6', state: 'af0ifjsldkj' });
      expect(Object.fromEntries(authorization.url.searchParams)).toEqual({
        code: expect.any(String),
        state: 'af0ifjsldkj',
        iss: issuer,
      });
      const { body, headers } = await exchange(service, application, authorization);
      expect(body).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) });
      expect(headers['cache-control']).toMatch(/no-store/);
      const keys = await publishedKeys();
      const checked = { issuer, audience: application.id, currentDate: service.clock.now() };
      const { payload } = await jwtVerify(body.id_token as string, createLocalJWKSet(keys), checked);
      expect(payload).toMatchObject({ nonce: 'n-0S6', sub: uid });
      const { alg, kid } = decodeProtectedHeader(body.id_token as string);
      expect([alg, kid]).toEqual(['RS256', keys.keys[0]!.kid]);
    });

    it('oidcc-response-type-missing: invalid_request, at the address of the application', async () => {
      const back = await new OpenIdBrowser(service).authorize(application, { response_type: '' });
      expect([back.url.origin, errorOf(back)]).toEqual(['https://app.example.com', 'invalid_request']);
    });

    it('oidcc-userinfo-get, oidcc-userinfo-post-header, oidcc-userinfo-post-body: the token in the header, or in a form', async () => {
      const { access_token } = await tokensOf();
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const answers = [
        await userInfo(access_token),
        await service.send('POST', '/oidc/me', 'x=', { bearer: access_token, headers: form }),
        await service.send('POST', '/oidc/me', `access_token=${access_token}`, { headers: form }),
      ];
      expect(answers.map(({ status, body }) => [status, body.sub ?? body])).toEqual(answers.map(() => [200, uid]));
      expect((await service.get(`/oidc/me?access_token=${access_token}`)).status).toBe(400);
    });

    it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow: the ID token has none then', async () => {
      const { id_token } = await tokensOf({ nonce: '' });
      expect(claimsOf(id_token)).not.toHaveProperty('nonce');
    });

    it.each([
      ['oidcc-scope-profile', 'openid profile', ['name', 'preferred_username', 'sub']],
      ['oidcc-scope-email', 'openid email', ['email', 'email_verified', 'sub']],
      // Unknown scopes are left out, as OpenID Core §3.1.2.1 asks.
      ['oidcc-scope-address', 'openid address', ['sub']],
      ['oidcc-scope-phone', 'openid phone', ['sub']],
      [
        'oidcc-scope-all',
        'openid profile email address phone',
        ['email', 'email_verified', 'name', 'preferred_username', 'sub'],
      ],
      ['oidcc-ensure-other-scope-order-succeeds', 'email openid', ['email', 'email_verified', 'sub']],
    ])('%s: %s gives the claims of these scopes', async (_module, scope, claims) => {
      const { body } = await userInfo((await tokensOf({ scope })).access_token);
      expect(Object.keys(body as object).sort()).toEqual(claims);
    });

    it.each([
      ['oidcc-display-page', { display: 'page' }],
      ['oidcc-display-popup', { display: 'popup' }],
      ['oidcc-login-hint', { login_hint: 'ann@example.com' }],
      ['oidcc-ui-locales', { ui_locales: 'se' }],
      ['oidcc-claims-locales', { claims_locales: 'se' }],
      ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: 'urn:portal:acr:1 urn:portal:acr:2' }],
      ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
      // Claims that are not offered are left out, also essential ones.
      ['oidcc-claims-essential', { claims: '{"userinfo":{"name":{"essential":true}}}' }],
    ])('%s: the sign-in succeeds', async (_module, more) => {
      expect(claimsOf((await tokensOf(more)).id_token)).toMatchObject({ sub: uid, acr: 'urn:portal:acr:1' });
    });

    it('oidcc-prompt-none-not-logged-in: login_required, without a page', async () => {
      expect(errorOf(await new OpenIdBrowser(service).authorize(application, { prompt: 'none' }))).toBe(
        'login_required',
      );
    });

    it('oidcc-prompt-none-logged-in, oidcc-id-token-hint: a code without a page, for the user of the hint only', async () => {
      const browser = new OpenIdBrowser(service);
      const { id_token } = await tokensOf({}, browser);
      const again = await browser.authorize(application, { prompt: 'none', id_token_hint: id_token });
      const { body } = await exchange(service, application, again);
      const [first, second] = [id_token, body.id_token as string].map(claimsOf);
      expect([second!.sub, second!.auth_time]).toEqual([first!.sub, first!.auth_time]);

      await service.givenUser('hint');
      const mine = access;
      ({ access } = await service.session('hint'));
      const other = await tokensOf();
      access = mine;
      const hint = { prompt: 'none', id_token_hint: other.id_token };
      expect(errorOf(await browser.authorize(application, hint))).toBe('login_required');
    });

    it('oidcc-prompt-login, oidcc-max-age-1: the user has to be checked again, and auth_time moves', async () => {
      const browser = new OpenIdBrowser(service);
      const before = claimsOf((await tokensOf({}, browser)).id_token);
      service.clock.advanceSeconds(3);
      for (const more of [{ prompt: 'login' }, { max_age: '1' }] as Record<string, string>[]) {
        const { url, verifier } = await browser.authorize(application, more);
        const interaction = url.searchParams.get('interaction')!;
        const refused = await browser.finish(interaction, access);
        expect([refused.status, refused.body.error_code]).toEqual([403, 'AUTH_403002']);
        service.clock.advanceSeconds(1);
        const again = await service.session('ann');
        const { body } = await browser.finish(interaction, again.access);
        const back = { url: await browser.follow(String(body.data.redirect_to)), verifier };
        const after = claimsOf((await exchange(service, application, back)).body.id_token as string);
        expect(Number(after.auth_time)).toBeGreaterThan(Number(before.auth_time));
        access = again.access;
        service.clock.advanceSeconds(3);
      }
    });

    it('oidcc-max-age-10000: no page for a session that is younger, and auth_time is told', async () => {
      const browser = new OpenIdBrowser(service);
      const { auth_time } = claimsOf((await tokensOf({}, browser)).id_token);
      service.clock.advanceSeconds(60);
      const { body } = await exchange(service, application, await browser.authorize(application, { max_age: '10000' }));
      expect(claimsOf(body.id_token as string).auth_time).toBe(auth_time);
    });

    it.each([
      ['oidcc-codereuse', 0],
      ['oidcc-codereuse-30seconds', 30],
    ])('%s: the second use is invalid_grant and ends the tokens of the first one', async (_module, seconds) => {
      const authorization = await signIn();
      const first = await exchange(service, application, authorization);
      service.clock.advanceSeconds(seconds);
      expect(oauthError(await exchange(service, application, authorization))).toEqual([400, 'invalid_grant']);
      expect((await userInfo(first.body.access_token as string)).status).toBe(401);
      const form = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token as string };
      expect(oauthError(await askForTokens(service, application, form))).toEqual([400, 'invalid_grant']);
    });

    it('oidcc-ensure-post-request-succeeds: a form leads to the same request as a GET', async () => {
      const browser = new OpenIdBrowser(service);
      await tokensOf({}, browser);
      const form = Object.fromEntries(new URLSearchParams(queryOf({ state: 'a b&c=d\r\n', prompt: 'none' })));
      const page = await browser.request('POST', '/oidc/auth', { form });
      expect([page.status, page.headers.location]).toEqual([200, undefined]);
      const back = (await browser.follow(String((await browser.submit(page)).headers.location))).searchParams;
      expect([back.get('code'), back.get('state')]).toEqual([expect.any(String), 'a b&c=d\r\n']);
    });

    const urlEncoded = 'application/x-www-form-urlencoded';
    const post = (path: string, body: string, type = urlEncoded) =>
      service.send('POST', path, body, { headers: { 'content-type': type } });
    const fieldsOf = ({ raw }: Answer) => [...raw.toString().matchAll(/ name="(\w+)" value=/g)].map(([, name]) => name);
    const longest = 7000 - `${issuer}/auth?state=`.length;

    it.each([
      ['no form', 400, '{}', 'application/json'],
      ['too long', 413, `state=${'x'.repeat(8192)}`, urlEncoded],
      ['too long as a URL', 413, `state=${'x'.repeat(longest + 1)}`, urlEncoded],
      ['too long as a URL with its percent signs', 413, `state=${'"'.repeat(longest / 2)}`, urlEncoded],
    ])('a posted request that is %s gets an error page', async (_what, expected, body, type) => {
      const { status, raw } = await post('/oidc/auth', body, type);
      expect([status, raw.toString()]).toEqual([expected, expect.stringContaining('<code>invalid_request</code>')]);
    });

    it('a posted request may be as long as a line of a request at a proxy, and has no long header', async () => {
      const { status, headers } = await post('/oidc/auth', `state=${'x'.repeat(longest)}`);
      expect(status).toBe(200);
      expect(JSON.stringify(headers).length).toBeLessThan(4096);
    });

    it('of a posted request, what the provider reads gets into the URL, and nothing else, such as a secret', async () => {
      const source = (file: string) => readFileSync(join('node_modules/oidc-provider/lib', file), 'utf8');
      const texts = (text = '') => [...text.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
      const ofSignIn = [...texts(source('consts/param_list.js')), 'dpop_jkt', 'resource'];
      const ofSignOut = texts(
        /paramsMiddleware\.bind\(undefined, new Set\((.*)\)/.exec(source('actions/end_session.js'))?.[1],
      );
      const others = ['client_secret', 'client_assertion', 'client_assertion_type', 'password', 'submit'];
      for (const [path, names] of [
        ['/oidc/auth', ofSignIn],
        ['/oidc/session/end', ofSignOut],
      ] as const) {
        const form = [...names, ...others].map((name) => `${name}=x`).join('&');
        expect(fieldsOf(await post(path, form)).sort()).toEqual([...names].sort());
      }
    });

    it('the query of a posted request is no part of it', async () => {
      const page = await post('/oidc/auth?prompt=none&state=query', 'state=form');
      expect(fieldsOf(page)).toEqual(['state']);
      expect(page.raw.toString()).toMatch(/ action="http:\/\/portal\.test\/oidc\/auth"><input [^>]*value="form"/);
    });

    it('an empty form is the request without parameters, and a request without a form is refused', async () => {
      const browser = new OpenIdBrowser(service);
      const page = await browser.request('POST', '/oidc/auth', { form: {}, headers: { 'content-length': '0' } });
      expect([page.status, fieldsOf(page)]).toEqual([200, []]);
      const answer = await browser.submit(page);
      expect([answer.status, answer.raw.toString()]).toEqual([400, expect.stringContaining('client_id')]);
      expect((await service.send('POST', '/oidc/auth')).status).toBe(400);
    });

    it('oidcc-server-client-secret-post: the secret in the form is taken as well', async () => {
      const { url, verifier } = await signIn();
      const form = {
        grant_type: 'authorization_code',
        code: url.searchParams.get('code')!,
        redirect_uri: callback,
        code_verifier: verifier,
        client_id: application.id,
        client_secret: application.secret!,
      };
      const { status } = await postForm(service, '/oidc/token', { ...application, secret: undefined }, form);
      expect(status).toBe(200);
    });

    it('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported, oidcc-ensure-request-object-with-redirect-uri: rejected', async () => {
      const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const request = `${encoded({ alg: 'none' })}.${encoded({ redirect_uri: 'https://evil.example/' })}.`;
      const back = await new OpenIdBrowser(service).authorize(application, { request });
      expect([back.url.origin, errorOf(back)]).toEqual(['https://app.example.com', 'request_not_supported']);
    });

    it('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported: rejected, and nothing is fetched', async () => {
      const answer = await new OpenIdBrowser(service).request(
        'GET',
        `/oidc/auth?${queryOf({ request_uri: 'https://evil.example/request.jwt' })}`,
      );
      expect(String(answer.headers.location ?? answer.raw.toString())).toMatch(/request_uri/);
      expect(String(answer.headers.location ?? '')).not.toMatch(/code=|evil/);
    });

    it('oidcc-refresh-token: the new ID token has the same user and time, and the refresh token changes', async () => {
      const first = await tokensOf();
      service.clock.advanceSeconds(5);
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
      const { body } = await askForTokens(service, application, form);
      const [before, after] = [first.id_token, body.id_token as string].map(claimsOf);
      for (const name of ['iss', 'sub', 'aud', 'auth_time', 'sid']) expect(after![name]).toEqual(before![name]);
      expect(body.refresh_token).not.toBe(first.refresh_token);
      const other = await givenApplication(service);
      const stolen = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string };
      expect(oauthError(await askForTokens(service, other, stolen))).toEqual([400, 'invalid_grant']);
    });
  });

  describe('oidcc-config-certification-test-plan', () => {
    it('oidcc-discovery-endpoint-verification: the document has what OpenID Discovery §3 requires, and every address is of the issuer', async () => {
      const { status, headers, body } = await service.get('/oidc/.well-known/openid-configuration');
      expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^application\/json/)]);
      expect(body).toMatchObject({
        issuer,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        claims_parameter_supported: false,
        request_uri_parameter_supported: false,
      });
      // A document without the member says the same.
      expect(body.request_parameter_supported ?? false).toBe(false);
      expect(body.scopes_supported).toContain('openid');
      expect(body.claims_supported).toContain('sub');
      const addresses = Object.entries(body as Record<string, unknown>).filter(([name]) =>
        /_(endpoint|uri)$/.test(name),
      );
      expect(addresses.length).toBeGreaterThan(8);
      for (const [, address] of addresses) expect(String(address)).toMatch(/^http:\/\/portal\.test\/oidc\//);
      expect(body.jwks_uri).toBe(`${issuer}/jwks`);
      expect(JSON.stringify(await publishedKeys())).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
    });
  });

  describe('oidcc-formpost-basic-certification-test-plan', () => {
    it('response_mode=form_post: a page sends the code, and its policy allows its own script only', async () => {
      const browser = new OpenIdBrowser(service);
      await tokensOf({}, browser);
      const { raw, headers } = await browser.request('GET', `/oidc/auth?${queryOf({ response_mode: 'form_post' })}`);
      const html = raw.toString();
      expect(html).toMatch(/<form method="post" action="https:\/\/app\.example\.com\/callback">/);
      expect(html).toMatch(/name="code"/);
      expect(String(headers['content-security-policy'])).toMatch(/script-src[^;]*'sha256-/);
      expect(String(headers['content-security-policy'])).not.toMatch(/script-src[^;]*unsafe-inline/);
    });
  });

  const endSession = async (more: Record<string, string>, browser: OpenIdBrowser) =>
    browser.request('GET', `/oidc/session/end?${new URLSearchParams(more).toString()}`, {
      headers: { accept: 'text/html' },
    });

  describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
    /** What the page of the provider sends: at once with the hint of this session, else after a click. */
    const confirm = async (browser: OpenIdBrowser, { raw }: Answer) => {
      const html = raw.toString();
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? '';
      const { headers } = await browser.request('POST', '/oidc/session/end/confirm', { form: { xsrf, logout: 'yes' } });
      return String(headers.location);
    };
    const asks = ({ raw }: Answer) => raw.toString().includes('Sign out?');
    const signedIn = async () => {
      const browser = new OpenIdBrowser(service);
      const { id_token } = await tokensOf({}, browser);
      return { browser, id_token_hint: id_token };
    };
    const alive = async () => (await service.get('/user/me', { bearer: access })).status === 200;

    it('oidcc-rp-initiated-logout-discovery-endpoint-verification: end_session_endpoint is there', async () => {
      const { body } = await service.get('/oidc/.well-known/openid-configuration');
      expect(body.end_session_endpoint).toBe(`${issuer}/session/end`);
    });

    it.each([
      ['de-DE,de;q=0.9', 'de', 'Abmelden?'],
      ['zh', 'zh-CN', '要退出登录吗？'],
      ['fr', 'en', 'Sign out?'],
    ])('the question is in the language of the browser: %s', async (wish, language, question) => {
      const headers = { accept: 'text/html', 'accept-language': wish };
      const { browser } = await signedIn();
      const page = await browser.request('GET', '/oidc/session/end', { headers });
      expect(page.raw.toString()).toContain(`<html lang="${language}">`);
      expect(page.raw.toString()).toContain(`<h1>${question}</h1>`);
    });

    it.each([
      ['oidcc-rp-initiated-logout', { state: 'gone' }, `${afterLogout}?state=gone`],
      ['oidcc-rp-initiated-logout-no-state', {}, afterLogout],
    ])('%s: the session ends, and the browser goes back', async (_module, more, back) => {
      const { browser, id_token_hint } = await signedIn();
      const page = await endSession({ id_token_hint, post_logout_redirect_uri: afterLogout, ...more }, browser);
      expect(asks(page)).toBe(false);
      expect(await confirm(browser, page)).toBe(back);
      expect(await alive()).toBe(false);
      expect(errorOf(await browser.authorize(application, { prompt: 'none' }))).toBe('login_required');
    });

    it('a posted request to sign out (OpenID RP-Initiated Logout 1.0) ends the session as well', async () => {
      const { browser, id_token_hint } = await signedIn();
      const form = { id_token_hint, post_logout_redirect_uri: afterLogout, state: 'gone' };
      const page = await browser.submit(await browser.request('POST', '/oidc/session/end', { form }));
      expect(await confirm(browser, page)).toBe(`${afterLogout}?state=gone`);
      expect(await alive()).toBe(false);
    });

    it.each([
      ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', 'https://evil.example/'],
      ['oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', `${afterLogout}?x=1`],
    ])('%s: an error page, and the session goes on', async (_module, uri) => {
      const { browser, id_token_hint } = await signedIn();
      const page = await endSession({ id_token_hint, post_logout_redirect_uri: uri }, browser);
      expect([page.status, page.headers.location]).toEqual([400, undefined]);
      expect(page.raw.toString()).not.toContain(uri);
      expect(await alive()).toBe(true);
    });

    it('oidcc-rp-initiated-logout-modified-id-token-hint, oidcc-rp-initiated-logout-bad-id-token-hint: an error page, and the session goes on', async () => {
      const { browser, id_token_hint } = await signedIn();
      const [head, body, signature] = id_token_hint.split('.') as [string, string, string];
      const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const changed = encoded({ ...claimsOf(id_token_hint), sub: 'somebody' });
      const hints = [
        `${head}.${changed}.${signature}`,
        `${head}.${body}.${Buffer.from(signature, 'base64url').reverse().toString('base64url')}`,
        `${encoded({ alg: 'none' })}.${body}.`,
        'nonsense',
      ];
      for (const hint of hints) {
        const page = await endSession({ id_token_hint: hint, post_logout_redirect_uri: afterLogout }, browser);
        expect([page.status, page.headers.location]).toEqual([400, undefined]);
      }
      expect(await alive()).toBe(true);
    });

    it.each([
      ['oidcc-rp-initiated-logout-no-id-token-hint', { post_logout_redirect_uri: afterLogout, state: 'x' }],
      ['oidcc-rp-initiated-logout-no-params', {}],
      ['oidcc-rp-initiated-logout-only-state', { state: 'x' }],
    ])('%s: the user is asked, and is not led to the application', async (_module, more) => {
      const { browser } = await signedIn();
      const page = await endSession(more, browser);
      expect([page.status, page.headers.location, await alive()]).toEqual([200, undefined, true]);
      expect(asks(page)).toBe(true);
      expect(await confirm(browser, page)).toMatch(/^http:\/\/portal\.test\//);
    });

    it('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: the session ends, and the pages follow', async () => {
      const { browser, id_token_hint } = await signedIn();
      expect(await confirm(browser, await endSession({ id_token_hint }, browser))).toMatch(/^http:\/\/portal\.test\//);
      expect(await alive()).toBe(false);
    });
  });

  describe('oidcc-backchannel-rp-initiated-logout-certification-test-plan', () => {
    it('oidcc-backchannel-logout-discovery-endpoint-verification: logout tokens with sid are offered', async () => {
      const { body } = await service.get('/oidc/.well-known/openid-configuration');
      expect(body).toMatchObject({ backchannel_logout_supported: true, backchannel_logout_session_supported: true });
    });
  });

  /** The query of an authorization request, with another code challenge each time. */
  function queryOf(more: Record<string, string>): string {
    const query = new URLSearchParams({
      client_id: application.id,
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid',
      code_challenge: createHash('sha256').update(randomBytes(8)).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    });
    return query.toString();
  }
});
