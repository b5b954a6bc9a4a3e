import { givenApplication, type GivenApplication } from '../support/openid';
import { OpenIdSite } from '../support/openid-site';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { OpenIdApache } from '../support/servers/openid-apache';
import { WebBrowser } from '../support/web-browser';

/** Apache with mod_auth_openidc of Debian as the application. */
describe('Apache with mod_auth_openidc', () => {
  let site: OpenIdSite;
  let apache: OpenIdApache;
  let application: GivenApplication;

  beforeAll(async () => {
    // Logout tokens leave by themselves.
    site = await OpenIdSite.start({}, true);
    const port = await freePort();
    application = await givenApplication(site.service, {
      name: 'Reports',
      redirectUris: [OpenIdApache.redirectUri(port)],
      postLogoutRedirectUris: [`http://127.0.0.1:${port}/`],
      backchannelLogoutUri: OpenIdApache.logoutUri(port),
    });
    apache = await OpenIdApache.start(site.issuer, application, port);
  });
  afterAll(async () => {
    await apache?.stop();
    await site?.stop();
  });

  /** A new user who has signed in at Apache. */
  async function signedIn(name: string) {
    const { uid } = await site.service.givenUser(name);
    const { access } = await site.service.session(name);
    const browser = new WebBrowser();
    const page = await site.signInAt(browser, `${apache.url}/`, access);
    return { uid, access, browser, page };
  }
  /** 200: the session of Apache lives. 302: the visitor has to sign in. */
  const statusOf = async (browser: WebBrowser) => (await browser.ask(`${apache.url}/`)).status;

  it('leads an unknown visitor to the pages, and shows its own page after the sign-in there', async () => {
    const { browser, page } = await signedIn('ann');
    expect(page).toMatchObject({ status: 200, text: 'reports' });
    expect(page.url.href).toBe(`${apache.url}/`);
    expect(page.headers).toMatchObject({
      'x-user': 'ann',
      'x-email': 'ann@example.com',
      'x-acr': 'urn:portal:acr:1',
    });
    expect([await statusOf(browser), await statusOf(new WebBrowser())]).toEqual([200, 302]);
  });

  it('signs the user out at Apache and at the service (RP-initiated logout)', async () => {
    const { access, browser } = await signedIn('cleo');
    const address = `${apache.url}/callback?logout=${encodeURIComponent(`${apache.url}/`)}`;
    const page = await browser.go(address, ({ searchParams }) => searchParams.has('interaction'));
    // Apache leads the visitor to the provider again, which knows nobody.
    expect(page.url.origin).toBe(site.url);
    expect((await site.service.get('/user/me', { bearer: access })).status).toBe(401);
    expect(await statusOf(browser)).toBe(302);
  });

  it('a session that ends at the service ends at Apache, and those of other users go on (back-channel logout)', async () => {
    const [gone, kept] = [await signedIn('gina'), await signedIn('hans')];
    expect([await statusOf(gone.browser), await statusOf(kept.browser)]).toEqual([200, 200]);
    await site.service.post('/logout', {}, { bearer: gone.access });
    await eventually(async () => (await statusOf(gone.browser)) === 302, { what: 'Apache to end its session' });
    expect(await statusOf(kept.browser)).toBe(200);
  });

  it('refuses logout tokens that the provider has not made', async () => {
    const { browser } = await signedIn('dora');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const none = `${encoded({ alg: 'none', typ: 'logout+jwt' })}.${encoded({ iss: site.issuer, aud: application.id })}.`;
    for (const logout_token of ['x', none]) {
      const answer = await new WebBrowser().ask(OpenIdApache.logoutUri(apache.port), { form: { logout_token } });
      expect(answer.status).toBe(400);
    }
    expect(await statusOf(browser)).toBe(200);
  });

  it('shows no page of its own to a user who may not use it', async () => {
    await site.service.database.affected('UPDATE applications SET allowed_tenants = ? WHERE id = ?', [
      JSON.stringify(['elsewhere']),
      application.id,
    ]);
    await site.service.givenUser('emil');
    const { access } = await site.service.session('emil');
    const browser = new WebBrowser();
    await expect(site.signInAt(browser, `${apache.url}/`, access)).rejects.toThrow('APP_403001');
    expect(await statusOf(browser)).toBe(302);
    await site.service.database.affected('UPDATE applications SET allowed_tenants = ? WHERE id = ?', [
      '[]',
      application.id,
    ]);
  });
});
