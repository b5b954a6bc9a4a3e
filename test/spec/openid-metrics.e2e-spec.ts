import { TestService } from '../support/app';
import { askForTokens, claimsOf, exchange, givenApplication, OpenIdBrowser } from '../support/openid';
import { freePort } from '../support/servers/free-port';

/** docs/spec/extensions.md#j: who signs in where, and what fails. */
describe('what operators and auditors see of sign-ins at applications', () => {
  let service: TestService;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    service = await TestService.start({ OIDC: 'on', METRICS_PORT: `${port}` });
  });
  afterAll(() => service.stop());

  const series = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return text.split('\n').filter((line) => line.startsWith('auth_openid_answers_total'));
  };

  it('counts sign-ins and grants by their result, and no label has a value that a client chose', async () => {
    await service.givenUser('mara');
    const { access } = await service.session('mara');
    const application = await givenApplication(service);
    const browser = new OpenIdBrowser(service);
    const code = await browser.signIn(application, access);
    expect((await exchange(service, application, code)).status).toBe(200);
    expect((await exchange(service, application, code)).status).toBe(400);
    const made_up = { grant_type: 'a-made-up-grant"}', code: 'x' };
    expect((await askForTokens(service, application, made_up)).status).toBe(400);
    const counted = await series();
    expect(counted).toEqual(
      expect.arrayContaining([
        'auth_openid_answers_total{kind="authorization",result="success"} 1',
        'auth_openid_answers_total{kind="authorization_code",result="success"} 1',
        'auth_openid_answers_total{kind="authorization_code",result="invalid_grant"} 1',
      ]),
    );
    expect(counted.join('\n')).not.toContain('made-up');
  });

  it('audits the first sign-in of a session at an application, with the client of the user', async () => {
    const { uid } = await service.givenUser('nils');
    const { access } = await service.session('nils');
    const [wiki, chat] = [await givenApplication(service), await givenApplication(service)];
    const browser = new OpenIdBrowser(service);
    for (const application of [wiki, wiki, chat]) await browser.signIn(application, access);
    const rows = await service.database.rows<{ detail: string; ip: string | null }>(
      `SELECT detail, ip FROM audit_logs WHERE event = 'APPLICATION_SIGNED_IN' AND user_id = ? ORDER BY id`,
      [uid],
    );
    const { sid } = claimsOf(access);
    expect(rows.map(({ detail }) => JSON.parse(detail) as unknown)).toEqual([
      { application: wiki.id, sid },
      { application: chat.id, sid },
    ]);
    for (const { ip } of rows) expect(ip).toEqual(expect.any(String));
  });
});
