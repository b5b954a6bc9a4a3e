import { TestService } from '../support/app';
import {
  askForTokens,
  callback,
  claimsOf,
  exchange,
  givenApplication,
  OpenIdBrowser,
  openIdSettings,
} from '../support/openid';

/** docs/spec/extensions.md#j */
describe('a sign-in at an application (OpenID Connect, code flow with PKCE)', () => {
  let service: TestService;
  beforeAll(async () => (service = await TestService.start(openIdSettings)));
  afterAll(() => service.stop());

  it('discovery names what is offered, with the URLs of the issuer, and nothing else', async () => {
    const { status, body, headers } = await service.get('/oidc/.well-known/openid-configuration', {
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      issuer: 'http://portal.test/oidc',
      authorization_endpoint: 'http://portal.test/oidc/auth',
      token_endpoint: 'http://portal.test/oidc/token',
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      acr_values_supported: ['urn:portal:acr:1', 'urn:portal:acr:2'],
    });
    expect(body.grant_types_supported.sort()).toEqual([
      'authorization_code',
      'client_credentials',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]);
    expect(body).not.toHaveProperty('registration_endpoint');
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['x-request-id']).toEqual(expect.any(String));
    expect(JSON.stringify(body)).not.toContain('evil');
  });

  it('leads to the pages with the brand of the tenant, where the application is for one tenant alone', async () => {
    const pageFor = async (allowedTenants: string[]) => {
      const { url } = await new OpenIdBrowser(service).authorize(await givenApplication(service, { allowedTenants }));
      return url.searchParams.get('tenant');
    };
    expect([await pageFor(['acme']), await pageFor(['acme', 'other']), await pageFor([])]).toEqual([
      'acme',
      null,
      null,
    ]);
  });

  it('leads to the pages, goes on with their session, and gives the claims of the user', async () => {
    const user = await service.givenUser('olga', { nickname: 'Olga' });
    const application = await givenApplication(service);
    const { access } = await service.session('olga');
    const browser = new OpenIdBrowser(service);
    const { url, verifier } = await browser.authorize(application);
    expect(url.href).toMatch(/^http:\/\/portal\.test\/\?interaction=[\w-]+$/);
    const interaction = url.searchParams.get('interaction')!;
    const shown = await browser.describe(interaction, access);
    expect(shown.body.data).toEqual({
      application: { id: application.id, name: 'Grafana', logo_url: null, uri: 'https://app.example.com/' },
      scopes: ['openid', 'profile', 'email'],
      consent: false,
      second_factor: false,
      select_account: false,
    });
    const { body } = await browser.finish(interaction, access);
    const back = await browser.follow(body.data.redirect_to as string);
    expect(`${back.origin}${back.pathname}`).toBe(callback);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.any(String),
      state: 'a-state',
      iss: 'http://portal.test/oidc',
    });
    const tokens = await exchange(service, application, { url: back, verifier });
    expect(tokens.status).toBe(200);
    const { sid } = claimsOf(access);
    expect(claimsOf(tokens.body.id_token as string)).toMatchObject({
      iss: 'http://portal.test/oidc',
      sub: user.uid,
      aud: application.id,
      sid,
      acr: 'urn:portal:acr:1',
      amr: ['pwd'],
      nonce: 'a-nonce',
      auth_time: claimsOf(access).auth_time,
    });
    const info = await service.get('/oidc/me', { bearer: tokens.body.access_token as string });
    expect(info.body).toEqual({
      sub: user.uid,
      name: 'Olga',
      preferred_username: 'olga',
      email: 'olga@example.com',
      email_verified: false,
    });
    const again = await askForTokens(service, application, {
      grant_type: 'refresh_token',
      refresh_token: tokens.body.refresh_token as string,
    });
    expect(again.status).toBe(200);
    expect(await service.count('application_sessions', 'sid = ?', [String(sid)])).toBe(1);
  });

  it('a second application of the same browser needs no page', async () => {
    await service.givenUser('otto');
    const [first, second] = [await givenApplication(service), await givenApplication(service)];
    const { access } = await service.session('otto');
    const browser = new OpenIdBrowser(service);
    await browser.signIn(first, access);
    await browser.signIn(second, access);
    const { url } = await browser.authorize(second, { prompt: 'none' });
    expect(url.searchParams.get('code')).toEqual(expect.any(String));
  });
});
