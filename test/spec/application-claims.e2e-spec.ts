import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { claimsOf, exchange, givenApplication, OpenIdBrowser, openIdSettings } from '../support/openid';
import { foreignId } from '../support/routes';

/** docs/adr/0034 */
describe('what an application would learn about an administrator', () => {
  let service: TestService;
  let root: AdminClient;

  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, ...openIdSettings });
    root = await AdminClient.of(service, 'claims-admin');
    await root.send('POST', 'tenants', { id: 'acme', name: 'Acme' });
  });
  afterAll(() => service.stop());

  const preview = (id: string) => root.get(`applications/${id}/claims`);

  it('is what a sign-in really gives, in the ID token and at userinfo', async () => {
    const scopes = ['openid', 'profile', 'organization', 'offline_access'];
    const application = await givenApplication(service, { scopes });
    const more = { scope: scopes.join(' ') };
    const authorization = await new OpenIdBrowser(service).signIn(application, root.bearer, more);
    const { body } = await exchange(service, application, authorization);
    const { iat, exp, nonce, ...stable } = claimsOf(body.id_token as string);
    expect([iat, exp, nonce]).not.toContain(undefined);
    const userinfo = (await service.get('/oidc/me', { bearer: body.access_token as string })).body as object;
    expect((await preview(application.id)).body.data).toEqual({ allowed: true, claims: stable, userinfo });
  });

  it('says that the administrator may not use it, also while it is disabled', async () => {
    const others = await givenApplication(service, { allowedTenants: ['acme'] });
    const disabled = await givenApplication(service, { enabled: false });
    for (const { id } of [others, disabled]) expect((await preview(id)).body.data.allowed).toBe(false);
  });

  it('issues nothing and stores nothing', async () => {
    const { id } = await givenApplication(service);
    const rows = () =>
      Promise.all(['oidc_records', 'application_sessions', 'audit_logs'].map((one) => service.count(one)));
    const before = await rows();
    expect(outcomeOf(await preview(id))).toBe('success');
    expect(await rows()).toEqual(before);
  });

  it('is refused for a service, which has no users, and for an application that does not exist', async () => {
    const { id } = await givenApplication(service, { type: 'service', redirectUris: [] });
    const { body } = await preview(id);
    expect(body).toMatchObject({ error_code: 'COMMON_400001', data: { fields: { type: [expect.any(String)] } } });
    expect(outcomeOf(await preview(foreignId))).toBe('USER_404001');
  });
});
