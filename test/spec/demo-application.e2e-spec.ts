import { DemoApplication } from '../../src/demo/demo-application';
import { demoGuide } from '../../src/demo/demo-guide';
import { DemoModule } from '../../src/demo/demo.module';
import { Applications } from '../../src/applications/applications.repository';
import { TestService } from '../support/app';

/** The application of `npm start`: the page of examples/openid-page. */
describe('the application of the demo', () => {
  const start = (settings: Record<string, string>, first?: TestService) =>
    TestService.start(
      { OIDC: 'on', SYSTEM_URL: 'http://localhost:3000', ...settings },
      { module: (config) => DemoModule.with(config), ...(first === undefined ? {} : { store: first.store }) },
    );
  let demo: TestService;
  beforeAll(async () => (demo = await start({})));
  afterAll(() => demo.stop());

  it('is registered once, as a public client of another origin, and follows the port of a later start', async () => {
    for (let n = 0; n < 2; n++) await demo.app.get(DemoApplication).register();
    const [application, ...others] = await demo.app.get(Applications).list();
    expect(others).toEqual([]);
    const page = 'http://127.0.0.1:3000/demo/application/';
    expect(application).toMatchObject({
      type: 'spa',
      redirectUris: [page],
      uri: page,
      secretHash: null,
      enabled: true,
    });
    expect(demoGuide(3000, '')).toContain(page);
    const later = await start({ SYSTEM_URL: 'http://localhost:4000' }, demo);
    await later.app.get(DemoApplication).register();
    expect((await demo.app.get(Applications).list()).map(({ id, uri }) => [id, uri])).toEqual([
      [application!.id, 'http://127.0.0.1:4000/demo/application/'],
    ]);
    await later.stop({ keepStore: true });
  });

  it('has its page, whose policy allows the provider, and the id that it is registered with', async () => {
    const page = await demo.get('/demo/application/');
    expect([page.status, page.headers['content-security-policy']]).toEqual([
      200,
      expect.stringContaining("connect-src 'self' http://localhost:3000;"),
    ]);
    for (const file of ['app.js', 'style.css']) expect((await demo.get(`/demo/application/${file}`)).status).toBe(200);
    const [application] = await demo.app.get(Applications).list();
    expect((await demo.get('/demo/application/config.json')).body).toEqual({
      issuer: 'http://localhost:3000/oidc',
      client_id: application!.id,
    });
  });

  it('does not stop the demo: with an address that no application may have, or with OIDC=off, there is none', async () => {
    const others: Record<string, string>[] = [{ SYSTEM_URL: 'http://portal.example.com' }, { OIDC: 'off' }];
    for (const settings of others) {
      const other = await start(settings);
      await other.app.get(DemoApplication).register();
      expect(await other.app.get(Applications).list()).toEqual([]);
      await other.stop();
    }
  });
});
