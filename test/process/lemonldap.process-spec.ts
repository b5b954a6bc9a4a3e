import { decodeJwt } from 'jose';
import { PersonsBrowser } from '../support/external-sign-in';
import { givenIdentityProvider } from '../support/identity-providers';
import { OpenIdSite } from '../support/openid-site';
import { freePort } from '../support/servers/free-port';
import { LemonLdap } from '../support/servers/lemonldap';
import { WebBrowser } from '../support/web-browser';

// It takes the secret as it is, without the form encoding of RFC 6749 section 2.3.1: letters are the same in both.
const client = { id: 'portal', secret: 'secretOfThePortal' };

/** LemonLDAP::NG of Debian as the identity provider. It tells no logout by the back channel in this version. */
describe('sign-in at LemonLDAP::NG', () => {
  let site: OpenIdSite;
  let lemon: LemonLdap;

  beforeAll(async () => {
    site = await OpenIdSite.start({ MFA_REQUIRED: 'false' });
    const port = await freePort();
    const issuer = LemonLdap.issuerOf(port);
    const redirectUri = `${site.url}/login/external/acme/callback`;
    await givenIdentityProvider(site.service, {
      ...{ id: 'acme', issuer, clientId: client.id, secret: client.secret, jit: true, domains: ['badwolf.org'] },
      claims: { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: null },
    });
    lemon = await LemonLdap.start(port, { ...client, redirectUri });
  });
  afterAll(async () => {
    await lemon?.stop();
    await site?.stop();
  });

  async function signIn(name: string, web = new WebBrowser()) {
    const browser = new PersonsBrowser(site.service, 'acme');
    const begun = await browser.begin();
    const back = await lemon.signIn(web, begun.body.data.redirect_to as string, name);
    expect(back.origin + back.pathname).toBe(`${site.url}/login/external/acme/callback`);
    const led = await browser.callback(back.pathname + back.search);
    expect(led).toEqual({ at: `${site.url}/`, external: expect.any(String) });
    return browser.redeem(led.external);
  }

  it('makes the account of a person at the first sign-in, and finds it at the next one', async () => {
    const web = new WebBrowser();
    const first = await signIn('dwho', web);
    expect(first).toMatchObject({
      status: 200,
      body: { data: { user_info: { login_name: 'dwho', nickname: 'Doctor Who', email: 'dwho@badwolf.org' } } },
    });
    const { access_token: access, user_info: user } = first.body.data;
    expect(decodeJwt(access as string)).toMatchObject({ sub: user.uid, amr: ['ext'] });
    expect((await site.service.get('/user/me', { bearer: access as string })).status).toBe(200);
    // The person is signed in there, so nothing is typed.
    expect((await signIn('dwho', web)).body.data.user_info.uid).toBe(user.uid);
    expect((await signIn('rtyler')).body.data.user_info.uid).not.toBe(user.uid);
  });
});
