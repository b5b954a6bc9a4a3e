import { LogoutTokens } from '../../src/applications/logout-tokens';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { LogoutReceiver } from '../support/applications/logout-receiver';
import {
  askForTokens,
  type Authorization,
  claimsOf,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
} from '../support/openid';

/** docs/spec/extensions.md#j: the provider's sessions, codes and tokens end with the session, and the applications are told. */
describe('the end of a session that has signed in to applications', () => {
  let service: TestService;
  let receiver: LogoutReceiver;
  let admin: AdminClient;
  let users = 0;

  beforeAll(async () => {
    receiver = await LogoutReceiver.start();
    service = await TestService.start({ ...adminSettings, OIDC: 'on' });
    admin = await AdminClient.of(service, 'root-admin');
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });
  beforeEach(() => receiver.seen.splice(0));

  async function givenSession() {
    const name = `olga-${++users}`;
    const { uid } = await service.givenUser(name);
    const { access } = await service.session(name);
    return { name, uid, access, sid: String(claimsOf(access).sid), browser: new OpenIdBrowser(service) };
  }
  const refreshed = async (application: GivenApplication, token: unknown) =>
    (await askForTokens(service, application, { grant_type: 'refresh_token', refresh_token: String(token) })).status;
  const sendDue = () => service.app.get(LogoutTokens, { strict: false }).sendDue();
  const receipts = async (uid: string, query = '') => {
    const { status, body } = await admin.get(`users/${uid}/logouts${query}`);
    expect(status).toBe(200);
    return body.data as { logouts: Record<string, any>[]; next: string | null };
  };
  const told = (path: string) => receiver.seen.filter((logout) => logout.path === path);

  it('a log-out ends codes, tokens and the browser session, each application is told once, and the receipt proves it', async () => {
    const wiki = await givenApplication(service, { name: 'Wiki', backchannelLogoutUri: receiver.uri('/wiki') });
    const mail = await givenApplication(service, { name: 'Mail' });
    const { uid, access, sid, browser } = await givenSession();
    const tokens = (await exchange(service, wiki, await browser.signIn(wiki, access))).body;
    const code = await browser.signIn(mail, access);
    expect(claimsOf(tokens.id_token as string).sid).toBe(sid);
    await service.post('/logout', undefined, { bearer: access });
    expect(await receipts(uid)).toMatchObject({
      logouts: expect.arrayContaining([
        expect.objectContaining({ sid, status: 'waiting', attempts: 0, answered_at: null, answer: null }),
        expect.objectContaining({ sid, status: 'not_offered', application: { id: mail.id, name: 'Mail' } }),
      ]),
      next: null,
    });
    await sendDue();
    expect(told('/wiki').map(({ claims }) => [claims.sub, claims.sid, claims.aud])).toEqual([[uid, sid, wiki.id]]);
    expect((await receipts(uid)).logouts.find(({ application }) => application.id === wiki.id)).toMatchObject({
      ...{ id: told('/wiki')[0]!.claims.jti, status: 'told', attempts: 1, answer: 'status 200' },
      answered_at: service.clock.now().toISOString(),
    });
    expect((await exchange(service, mail, code)).status).toBe(400);
    expect(await refreshed(wiki, tokens.refresh_token)).toBe(400);
    expect((await service.get('/oidc/me', { bearer: tokens.access_token as string })).status).toBe(401);
    const { url } = await browser.authorize(wiki, { prompt: 'none' });
    expect(url.searchParams.get('error')).toBe('login_required');
  });

  it('a log-out that an application asks for ends our session, and the package sends no token beside ours', async () => {
    const wiki = await givenApplication(service, { backchannelLogoutUri: receiver.uri('/rp') });
    const { uid, access, browser } = await givenSession();
    const tokens = (await exchange(service, wiki, await browser.signIn(wiki, access))).body;
    const end = await browser.request(
      'GET',
      `/oidc/session/end?${new URLSearchParams({
        id_token_hint: tokens.id_token as string,
        post_logout_redirect_uri: 'https://app.example.com/',
      }).toString()}`,
    );
    const page = end.raw.toString();
    const fields = [...page.matchAll(/<input[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)];
    const action = /<form[^>]*action="([^"]*)"/.exec(page)![1]!;
    const form = Object.fromEntries(fields.map(([, name, value]) => [name!, value!]));
    const { status, headers } = await browser.request('POST', action, { form });
    expect([status, headers.location]).toEqual([303, 'https://app.example.com/']);
    expect((await service.get('/user/me', { bearer: access })).status).toBe(401);
    await sendDue();
    await sendDue();
    expect(told('/rp')).toHaveLength(1);
    expect((await receipts(uid)).logouts).toMatchObject([{ status: 'told', attempts: 1 }]);
  });

  it('with offline_access a grant outlives the log-out, and ends with the password', async () => {
    const cloud = await givenApplication(service, { backchannelLogoutUri: receiver.uri('/cloud') });
    const { name, uid, access, browser } = await givenSession();
    const asked = { scope: 'openid offline_access', prompt: 'consent' };
    const signedIn = await browser.signIn(cloud, access, asked, true);
    const first = (await exchange(service, cloud, signedIn)).body;
    await service.post('/logout', undefined, { bearer: access });
    await sendDue();
    expect(told('/cloud')).toHaveLength(1);
    const next = await askForTokens(service, cloud, {
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token as string,
    });
    expect(next.status).toBe(200);
    await service.session(name);
    expect(outcomeOf(await admin.send('POST', `users/${uid}/revoke-sessions`))).toBe('success');
    expect(await refreshed(cloud, next.body.refresh_token)).toBe(400);
  });

  it('the receipts of a user go on page by page, and another tenant or a wrong cursor gets an error', async () => {
    const wiki = await givenApplication(service, { backchannelLogoutUri: receiver.uri('/pages') });
    const { uid, name } = await givenSession();
    for (let n = 0; n < 3; n++) {
      const { access } = await service.session(name);
      await new OpenIdBrowser(service).signIn(wiki, access);
      await service.post('/logout', undefined, { bearer: access });
      service.clock.advanceSeconds(1);
    }
    const first = await receipts(uid, '?limit=2');
    expect(first.logouts).toHaveLength(2);
    const second = await receipts(uid, `?limit=2&cursor=${first.next}`);
    expect(second.next).toBeNull();
    const ids = [...first.logouts, ...second.logouts].map(({ id }) => String(id));
    expect(new Set(ids).size).toBe(3);
    const times = [...first.logouts, ...second.logouts].map(({ created_at }) => String(created_at));
    expect(times).toEqual([...times].sort().reverse());
    const wrong = await admin.get(`users/${uid}/logouts?cursor=x`);
    expect([wrong.status, wrong.body.data.fields]).toEqual([400, { cursor: [expect.any(String)] }]);
    expect(outcomeOf(await admin.get('users/00000000-0000-4000-8000-000000000000/logouts'))).toBe('USER_404001');
  });

  it('the owner sees what third parties may do, and ends it with its codes and tokens', async () => {
    const shop = await givenApplication(service, { name: 'Shop', firstParty: false });
    const own = await givenApplication(service, { name: 'Own' });
    const { uid, access, browser } = await givenSession();
    const stranger = await givenSession();
    const bearer = { bearer: access };
    const grants = async (by = bearer) => (await service.get('/user/grants', by)).body.data.grants as { id: string }[];
    const tokens = (await exchange(service, shop, await browser.signIn(shop, access, {}, true))).body;
    await browser.signIn(own, access);
    const [grant] = await grants();
    expect(await grants()).toEqual([
      {
        id: expect.any(String),
        application: { id: shop.id, name: 'Shop', logo_url: null, uri: 'https://app.example.com/' },
        scopes: ['openid', 'profile', 'email'],
        created_at: service.clock.now().toISOString(),
      },
    ]);
    const end = async (by: string) =>
      outcomeOf(await service.send('DELETE', `/user/grants/${grant!.id}`, undefined, { bearer: by }));
    expect(await grants({ bearer: stranger.access })).toEqual([]);
    expect(await end(stranger.access)).toBe('USER_404001');
    expect((await service.get('/oidc/me', { bearer: tokens.access_token as string })).status).toBe(200);
    const pending: Authorization = await browser.authorize(shop);
    expect(pending.url.searchParams.get('code')).toEqual(expect.any(String));
    expect(await end(access)).toBe('success');
    expect(await end(access)).toBe('USER_404001');
    expect(await grants()).toEqual([]);
    expect((await service.get('/oidc/me', { bearer: tokens.access_token as string })).status).toBe(401);
    expect(await refreshed(shop, tokens.refresh_token)).toBe(400);
    expect((await exchange(service, shop, pending)).status).toBe(400);
    // The session goes on, and the application has to ask again.
    expect((await service.get('/user/me', bearer)).status).toBe(200);
    expect((await browser.authorize(shop)).url.searchParams.has('interaction')).toBe(true);
    const audit = await service.database.rows<{ detail: string }>(
      "SELECT detail FROM audit_logs WHERE event = 'GRANT_REVOKED' AND user_id = ?",
      [uid],
    );
    expect(audit.map(({ detail }) => JSON.parse(detail) as unknown)).toEqual([{ application: shop.id }]);
  });
});
