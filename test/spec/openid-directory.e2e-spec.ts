import { TestService } from '../support/app';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { askForTokens, exchange, givenApplication, type GivenApplication, OpenIdBrowser } from '../support/openid';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';

const recheckSeconds = 300;
const graceSeconds = 14_400;

/** docs/spec/extensions.md#j: whatever ends the session ends the tokens of its applications, and so does the directory. */
describe('a refresh of an application asks the directory about its user', () => {
  let directory: OpenLdap;
  let proxy: TcpProxy;
  let service: TestService;
  let application: GivenApplication;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    proxy = await TcpProxy.start(directory.port);
    const settings = { LDAP_URL: `ldap://127.0.0.1:${proxy.port}`, LDAP_JIT_PROVISIONING: 'true', OIDC: 'on' };
    service = await TestService.start(ldapSettings(directory, settings));
    application = await givenApplication(service);
  });
  afterEach(() => proxy.forward());
  afterAll(async () => {
    await service?.stop();
    await proxy?.stop();
    await directory?.stop();
  });

  /** A person of the directory who has signed in at the application. @param scope of the sign-in */
  async function givenTokens(scope: string) {
    const name = freshName();
    await givenPerson(directory, name);
    const { access_token: access } = (await ldapLogin(service, name)).body.data as { access_token: string };
    const offline = scope.includes('offline_access');
    const browser = new OpenIdBrowser(service);
    const asked: Record<string, string> = offline ? { scope, prompt: 'consent' } : { scope };
    const code = await browser.signIn(application, access, asked, offline ? true : undefined);
    const { body } = await exchange(service, application, code);
    return { name, access, refresh: body.refresh_token as string };
  }
  const refresh = (token: string) =>
    askForTokens(service, application, { grant_type: 'refresh_token', refresh_token: token });

  it.each(['openid', 'openid offline_access'])(
    'T496 who is gone from the directory gets no more tokens with the scope %s, and the session ends',
    async (scope) => {
      const { name, access, refresh: first } = await givenTokens(scope);
      service.clock.advanceSeconds(recheckSeconds + 1);
      const second = await refresh(first);
      expect(second.status).toBe(200);
      await directory.removeUser(name);
      service.clock.advanceSeconds(recheckSeconds + 1);
      const third = await refresh(second.body.refresh_token as string);
      expect(third).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect((await service.get('/user/me', { bearer: access })).status).toBe(401);
    },
  );

  it('T496 the tokens that outlive a log-out end with the person as well', async () => {
    const { name, access, refresh: first } = await givenTokens('openid offline_access');
    await service.post('/logout', undefined, { bearer: access });
    service.clock.advanceSeconds(recheckSeconds + 1);
    const second = await refresh(first);
    expect(second.status).toBe(200);
    await directory.removeUser(name);
    service.clock.advanceSeconds(recheckSeconds + 1);
    expect(await refresh(second.body.refresh_token as string)).toMatchObject({ body: { error: 'invalid_grant' } });
  });

  it('a directory that is away for longer than the grace period is 503, and the tokens stay', async () => {
    const { refresh: first } = await givenTokens('openid');
    await proxy.refuse();
    service.clock.advanceSeconds(recheckSeconds + 1);
    const second = await refresh(first);
    expect(second.status).toBe(200);
    service.clock.advanceSeconds(graceSeconds);
    expect(await refresh(second.body.refresh_token as string)).toMatchObject({
      status: 503,
      body: { error: 'temporarily_unavailable' },
    });
    await proxy.forward();
    expect((await refresh(second.body.refresh_token as string)).status).toBe(200);
  });
});
