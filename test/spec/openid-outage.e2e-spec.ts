import { TestService } from '../support/app';
import { exchange, givenApplication, OpenIdBrowser } from '../support/openid';

/** When the store is away, the provider refuses and says so, as every other route. */
describe('the OpenID provider without its store', () => {
  it('answers 503 with retry-after, as JSON and as a page, and the code is still good afterwards', async () => {
    const service = await TestService.start({ OIDC: 'on' });
    await service.givenUser('olga');
    const { access } = await service.session('olga');
    const application = await givenApplication(service);
    const browser = new OpenIdBrowser(service);
    const code = await browser.signIn(application, access);
    await service.database.affected('ALTER TABLE oidc_records RENAME TO oidc_records_away');
    const refused = await exchange(service, application, code);
    expect(refused).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
    expect(refused.headers['retry-after']).toBe('2');
    const page = await service.get('/oidc/device', { headers: { accept: 'text/html' } });
    expect([page.status, String(page.raw)]).toEqual([503, expect.stringContaining('cannot answer at the moment')]);
    await service.database.affected('ALTER TABLE oidc_records_away RENAME TO oidc_records');
    expect((await exchange(service, application, code)).status).toBe(200);
    await service.stop();
  });
});
