import { resolve } from 'node:path';
import { claimsOf, givenApplication, type GivenApplication } from '../support/openid';
import { OpenIdSite } from '../support/openid-site';
import { ExampleProgram } from '../support/servers/example-program';
import { freePort } from '../support/servers/free-port';
import { WebBrowser } from '../support/web-browser';

/** Debian's Flask and Authlib as an application in Python. */
describe('a Flask application with Authlib', () => {
  let site: OpenIdSite;
  let application: GivenApplication;
  let app: ExampleProgram;

  beforeAll(async () => {
    site = await OpenIdSite.start();
    const port = await freePort();
    application = await givenApplication(site.service, { redirectUris: [`http://127.0.0.1:${port}/callback`] });
    app = await ExampleProgram.start({
      command: '/usr/bin/python3',
      args: () => ['-m', 'flask', '--app', 'authlib_app', 'run', '--port', `${port}`],
      cwd: resolve(__dirname, '../support/relying-parties'),
      env: {
        PORT: `${port}`,
        ISSUER: site.issuer,
        CLIENT_ID: application.id,
        CLIENT_SECRET: application.secret!,
        SECRET_KEY: 'a-secret-of-the-tests',
        PYTHONDONTWRITEBYTECODE: '1',
      },
      port,
      ready: '/health',
    });
  });
  afterAll(async () => {
    await app?.stop();
    await site?.stop();
  });

  it('leads to the pages, verifies the ID token, and reads the user', async () => {
    const { uid } = await site.service.givenUser('ann', { nickname: 'Ann' });
    const { access } = await site.service.session('ann');
    const { url, status, text } = await site.signInAt(new WebBrowser(), `${app.url}/`, access);
    expect([url.href, status]).toEqual([`${app.url}/`, 200]);
    const { claims, info } = JSON.parse(text) as { claims: unknown; info: unknown };
    const { sid } = claimsOf(access);
    expect(claims).toMatchObject({ iss: site.issuer, aud: application.id, sub: uid, sid, acr: 'urn:portal:acr:1' });
    expect(info).toMatchObject({ sub: uid, name: 'Ann', email: 'ann@example.com' });
  });

  it('gets access_denied when the user refuses, and takes no answer of another browser', async () => {
    await site.service.givenUser('bea');
    const { access } = await site.service.session('bea');
    const refused = await site.signInAt(new WebBrowser(), `${app.url}/`, access, { consent: false });
    expect([refused.status, JSON.parse(refused.text)]).toEqual([400, { error: 'access_denied' }]);
    // Login CSRF: the victim's browser gets the answer of the attacker's sign-in.
    const redirectUri = `${app.url}/callback`;
    const { url } = await site.signInAt(new WebBrowser(), `${app.url}/`, access, { redirectUri });
    const victim = await new WebBrowser().ask(url);
    expect([victim.status, JSON.parse(victim.text)]).toEqual([400, { error: 'mismatching_state' }]);
  });
});
