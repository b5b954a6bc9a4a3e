import { type Answer, TestService } from '../support/app';
import {
  callback,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
} from '../support/openid';
import { foreignLoopbackUris, foreignRedirectUris } from '../support/redirect-uris';

const portal = 'http://portal.test';
const afterLogout = 'https://app.example.com/';
/** RFC 7636, Appendix B. */
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** docs/spec/extensions.md#j. RFC 9700 §2.1: redirect URIs are compared exactly. */
describe('redirect URIs of the OpenID provider', () => {
  let service: TestService;
  let application: GivenApplication;
  let native: GivenApplication;
  let browser: OpenIdBrowser;

  beforeAll(async () => {
    service = await TestService.start(openIdSettings);
    application = await givenApplication(service);
    native = await givenApplication(service, { type: 'native', redirectUris: ['http://127.0.0.1/callback'] });
    browser = new OpenIdBrowser(service);
    // A session, so that the provider would answer with a code at once.
    await service.givenUser('ann');
    const { access } = await service.session('ann');
    await browser.signIn(application, access);
  });
  afterAll(() => service.stop());

  const parameters = (id: string, more: Record<string, string> = {}) => ({
    client_id: id,
    response_type: 'code',
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    redirect_uri: callback,
    ...more,
  });
  const ask = (query: URLSearchParams | Record<string, string>) =>
    browser.request('GET', `/oidc/auth?${new URLSearchParams(query).toString()}`);

  /** The browser stays here, with a page that has no link and no form. */
  const stays = ({ status, headers, raw }: Answer, error = 'invalid_redirect_uri') => {
    expect({ status, location: headers.location }).toEqual({ status: 400, location: undefined });
    expect(headers['content-type']).toMatch(/^text\/html/);
    expect(raw.toString()).toContain(error);
    expect(raw.toString()).not.toMatch(/<(a|form|script|meta http-equiv|img|iframe)\b/i);
  };

  /** The error that the registered address gets. */
  const errorAt = ({ headers }: Answer): string | null => {
    const { origin, pathname, searchParams } = new URL(String(headers.location));
    expect(origin + pathname).toBe(callback);
    return searchParams.get('error');
  };

  it('the registered address gets a code, so the attacks below are refused for their address only', async () => {
    const { status, headers } = await ask(parameters(application.id));
    expect(status).toBe(303);
    expect(String(headers.location)).toMatch(/^https:\/\/app\.example\.com\/callback\?code=/);
  });

  it.each(foreignRedirectUris)('T450 %j is not led to, neither with a code nor with an error', async (uri) => {
    stays(await ask(parameters(application.id, { redirect_uri: uri })));
    stays(await ask(parameters(application.id, { redirect_uri: uri, prompt: 'none' })));
    stays(await ask(parameters(application.id, { redirect_uri: uri, response_type: 'token' })));
  });

  it('T450 none of them is taken in a pushed request', async () => {
    const answers = foreignRedirectUris.map(async (redirect_uri) => {
      const { status, body } = await postForm(
        service,
        '/oidc/request',
        application,
        parameters(application.id, { redirect_uri }),
      );
      return [redirect_uri, status, body.error, 'request_uri' in body];
    });
    expect(await Promise.all(answers)).toEqual(foreignRedirectUris.map((uri) => [uri, 400, 'invalid_request', false]));
  });

  it.each(['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback'])(
    'a native application may listen on any port: %s',
    async (uri) => {
      const { status, headers } = await ask(parameters(native.id, { redirect_uri: uri }));
      expect([status, String(headers.location)]).toEqual([303, expect.stringContaining(`${portal}/?interaction=`)]);
    },
  );

  it.each(foreignLoopbackUris)('T451 a native application: %j is not led to', async (uri) => {
    stays(await ask(parameters(native.id, { redirect_uri: uri })));
    stays(await ask(parameters(native.id, { redirect_uri: uri, prompt: 'none' })));
  });

  it.each([
    ['a web application, any port', 'https://app.example.com:49152/callback'],
    ['the address of another application', 'http://127.0.0.1/callback'],
  ])('T451 %s is not led to', async (_what, uri) => {
    stays(await ask(parameters(application.id, { redirect_uri: uri })));
  });

  it('T452 two addresses, an address that is missing, and a client that is missing or unknown lead nowhere', async () => {
    const missing: Record<string, string> = parameters(application.id);
    delete missing.redirect_uri;
    for (const both of [
      [callback, 'https://evil.example/'],
      ['https://evil.example/', callback],
    ]) {
      const twice = new URLSearchParams(missing);
      for (const uri of both) twice.append('redirect_uri', uri);
      expect(errorAt(await ask(twice))).toBe('invalid_request');
    }
    // The only registered address may be left out.
    expect(String((await ask(missing)).headers.location)).toMatch(/^https:\/\/app\.example\.com\/callback\?code=/);
    stays(await ask(parameters('unknown')), 'invalid_client');
    stays(await ask(parameters('')), 'invalid');
    const many = await givenApplication(service, { redirectUris: [callback, `${callback}/2`] });
    stays(await ask({ ...missing, client_id: many.id }), 'invalid_request');
  });

  it('T453 a code belongs to the address that it was sent to', async () => {
    const two = await givenApplication(service, { redirectUris: [callback, 'https://app.example.com/other'] });
    const { access } = await service.session('ann');
    const { url, verifier } = await browser.signIn(two, access);
    const code = url.searchParams.get('code')!;
    for (const redirect_uri of ['https://app.example.com/other', 'https://evil.example/', `${callback}/`]) {
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri };
      const { status, body } = await postForm(service, '/oidc/token', two, form);
      expect([redirect_uri, status, body.error]).toEqual([redirect_uri, 400, 'invalid_grant']);
    }
  });

  const signOut = (query: URLSearchParams) =>
    browser.request('GET', `/oidc/session/end?${query.toString()}`, { headers: { accept: 'text/html' } });

  it('T454 after a sign-out none of them is led to', async () => {
    const uris = foreignRedirectUris.map((uri) => uri.replace('/callback', '/')).filter((uri) => uri !== afterLogout);
    for (const uri of uris) {
      const query = new URLSearchParams({ client_id: application.id, post_logout_redirect_uri: uri, state: 'x' });
      stays(await signOut(query), 'invalid_request');
    }
    const query = new URLSearchParams({ client_id: application.id, post_logout_redirect_uri: afterLogout });
    expect((await signOut(query)).status).toBe(200);
  });

  it('T450 none of the pages of the provider can be framed, or tells another site the address', async () => {
    const { headers } = await ask(parameters(application.id, { redirect_uri: 'https://evil.example/' }));
    expect(String(headers['content-security-policy'])).toMatch(/frame-ancestors 'none'/);
    expect(headers['referrer-policy']).toMatch(/no-referrer|same-origin/);
    expect(headers['cache-control']).toMatch(/no-store/);
  });
});
