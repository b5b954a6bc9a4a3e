import { TestService } from '../support/app';
import { givenGroup } from '../support/groups';
import {
  askForTokens,
  claimsOf,
  exchange,
  givenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
} from '../support/openid';

const scope = 'openid profile groups offline_access';
const scopes = scope.split(' ');
const api = 'https://api.example.com';

/** docs/spec/extensions.md#l: what applications learn of groups, and whom they admit. */
describe('groups at applications', () => {
  let service: TestService;
  beforeAll(async () => (service = await TestService.start(openIdSettings)));
  afterAll(() => service.stop());

  async function signedIn(name: string) {
    const { uid } = await service.givenUser(name);
    return { uid, access: (await service.session(name)).access, browser: new OpenIdBrowser(service) };
  }
  const leave = (group: string, uid: string) =>
    service.database.affected('DELETE FROM user_group_members WHERE group_id = ? AND user_id = ?', [group, uid]);
  const userinfo = async (bearer: unknown) =>
    (await service.get('/oidc/me', { bearer: bearer as string })).body as Record<string, unknown>;

  it('the scope `groups` shows the names, and an application without the scope sees none', async () => {
    const { uid, access, browser } = await signedIn('shown');
    for (const name of ['Sales, EMEA', 'Berlin']) await givenGroup(service, name, { members: [uid] });
    const application = await givenApplication(service, { scopes });
    const { body } = await exchange(service, application, await browser.signIn(application, access, { scope }));
    expect(await userinfo(body.access_token)).toMatchObject({ sub: uid, groups: ['Berlin', 'Sales, EMEA'] });
    const without = await exchange(
      service,
      application,
      await browser.signIn(application, access, { scope: 'openid' }),
    );
    expect(Object.keys(await userinfo(without.body.access_token))).toEqual(['sub']);
    const discovery = (await service.get('/oidc/.well-known/openid-configuration')).body;
    expect(discovery.scopes_supported).toContain('groups');
    expect(discovery.claims_supported).toContain('groups');
  });

  it('a user outside `allowed_groups` gets access_denied and a page that says so, and a member gets in (T566)', async () => {
    const [member, outsider] = [await signedIn('member'), await signedIn('outsider')];
    const group = await givenGroup(service, 'Allowed', { members: [member.uid] });
    const other = await givenGroup(service, 'Another', { members: [outsider.uid] });
    const application = await givenApplication(service, { scopes, allowedGroups: [crypto.randomUUID(), group] });
    const interaction = (await outsider.browser.authorize(application, { scope })).url.searchParams.get('interaction')!;
    const refused = await outsider.browser.finish(interaction, outsider.access);
    expect(refused).toMatchObject({ status: 403, body: { error_code: 'APP_403001' } });
    const back = await outsider.browser.follow(refused.body.data.redirect_to as string);
    expect(back.searchParams.get('error')).toBe('access_denied');
    const tiles = async (bearer: string) =>
      (await service.get('/user/applications', { bearer })).body.data.applications.map(({ id }: { id: string }) => id);
    expect(await tiles(member.access)).toContain(application.id);
    expect(await tiles(outsider.access)).not.toContain(application.id);
    const { status } = await exchange(
      service,
      application,
      await member.browser.signIn(application, member.access, { scope }),
    );
    expect(status).toBe(200);
    expect(other).not.toBe(group);
  });

  it('who leaves the group is refused at the next request: code, refresh, userinfo, introspection, sign-in (T566)', async () => {
    const { uid, access, browser } = await signedIn('leaver');
    const group = await givenGroup(service, 'Left', { members: [uid] });
    const application = await givenApplication(service, { scopes, allowedGroups: [group] });
    const { body } = await exchange(service, application, await browser.signIn(application, access, { scope }));
    const waiting = await browser.signIn(application, access, { scope });
    const about = async () =>
      (await postForm(service, '/oidc/token/introspection', application, { token: String(body.access_token) })).body
        .active as boolean;
    expect(await about()).toBe(true);
    await leave(group, uid);
    expect((await exchange(service, application, waiting)).body.error).toBe('invalid_grant');
    expect(await userinfo(body.access_token)).not.toHaveProperty('sub');
    expect(await about()).toBe(false);
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
    expect((await askForTokens(service, application, refresh)).body.error).toBe('invalid_grant');
    const { url } = await browser.authorize(application, { prompt: 'none', scope });
    expect(url.searchParams.get('error')).toBe('access_denied');
  });

  it('a JWT for a resource carries no list of groups; it is good until it expires, as docs/without-the-guard.md says (T567)', async () => {
    const { uid, access, browser } = await signedIn('reader');
    const group = await givenGroup(service, 'Readers', { members: [uid] });
    const application = await givenApplication(service, {
      ...{ scopes: [...scopes, 'orders:read'], audience: [api], allowedGroups: [group] },
    });
    const asked = { scope: 'openid groups orders:read', resource: api };
    const { body } = await exchange(service, application, await browser.signIn(application, access, asked));
    const token = claimsOf(body.access_token as string);
    expect(token).toMatchObject({ aud: api, sub: uid });
    expect(JSON.stringify(token)).not.toContain('Readers');
    expect(token).not.toHaveProperty('groups');
    expect(Number(token.exp) - Number(token.iat)).toBe(900);
  });
});
