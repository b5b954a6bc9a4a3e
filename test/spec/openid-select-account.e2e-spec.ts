import { TestService } from '../support/app';
import {
  type Authorization,
  claimsOf,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
} from '../support/openid';

/** docs/spec/extensions.md#j, OpenID Connect Core §3.1.2.1 */
describe('prompt=select_account', () => {
  const prompt = 'select_account';
  let service: TestService;
  let application: GivenApplication;
  const uids: Record<string, string> = {};
  beforeAll(async () => {
    service = await TestService.start(openIdSettings);
    application = await givenApplication(service);
    for (const name of ['ann', 'ben']) uids[name] = (await service.givenUser(name)).uid;
  });
  afterAll(() => service.stop());

  /** A session that began before the sign-in at the application. */
  const sessionOf = async (name: string) => {
    const { access } = await service.session(name);
    service.clock.advanceSeconds(1);
    return access;
  };
  const begin = async (browser: OpenIdBrowser, more: Record<string, string> = {}, one = application) => {
    const { url, verifier } = await browser.authorize(one, { prompt, ...more });
    const uid = url.searchParams.get('interaction') ?? '';
    return {
      describe: async (access: string) => (await browser.describe(uid, access)).body.data,
      finish: (access: string, body: Record<string, unknown> = {}) => browser.finish(uid, access, body),
      goOn: async (access: string, body: Record<string, unknown>): Promise<Authorization> => {
        const answer = await browser.finish(uid, access, body);
        return { url: await browser.follow(String(answer.body.data.redirect_to)), verifier };
      },
    };
  };
  const subjectOf = async (back: Authorization, one = application) =>
    claimsOf((await exchange(service, one, back)).body.id_token as string).sub;
  const errorOf = ({ url }: Authorization) => url.searchParams.get('error');

  it('nobody goes on unasked, also where the provider knows the browser, and the chosen account signs in', async () => {
    const browser = new OpenIdBrowser(service);
    const access = await sessionOf('ann');
    expect(await subjectOf(await browser.signIn(application, access))).toBe(uids.ann);
    const begun = await begin(browser);
    expect(await begun.describe(access)).toMatchObject({ select_account: true, consent: false });
    for (const body of [{}, { select_account: false }, { select_account: null }]) {
      const refused = await begun.finish(access, body);
      expect([refused.status, refused.body.error_code]).toEqual([400, 'APP_400001']);
    }
    expect(await subjectOf(await begun.goOn(access, { select_account: true }))).toBe(uids.ann);
    // The choice is for one sign-in.
    expect(await (await begin(browser)).describe(access)).toMatchObject({ select_account: true });
  });

  it('a sign-in without it asks nobody', async () => {
    const begun = await begin(new OpenIdBrowser(service), { prompt: '' });
    expect(await begun.describe(await sessionOf('ann'))).toMatchObject({ select_account: false });
  });

  it('whoever signs in after the sign-in began has chosen by it: another account goes on without a question', async () => {
    const browser = new OpenIdBrowser(service);
    expect(await subjectOf(await browser.signIn(application, await sessionOf('ann')))).toBe(uids.ann);
    const begun = await begin(browser);
    service.clock.advanceSeconds(1);
    const { access } = await service.session('ben');
    expect(await begun.describe(access)).toMatchObject({ select_account: false });
    expect(await subjectOf(await begun.goOn(access, {}))).toBe(uids.ben);
  });

  it('the answer about consent is a choice as well: its page shows the account', async () => {
    const wiki = await givenApplication(service, { firstParty: false });
    const access = await sessionOf('ann');
    const begun = await begin(new OpenIdBrowser(service), {}, wiki);
    expect(await begun.describe(access)).toMatchObject({ select_account: true, consent: true });
    const refused = await begun.finish(access, { select_account: true });
    expect([refused.status, refused.body.error_code]).toEqual([400, 'APP_400001']);
    expect(await subjectOf(await begun.goOn(access, { consent: true }), wiki)).toBe(uids.ann);
  });

  it('a refusal leads back with access_denied', async () => {
    const access = await sessionOf('ann');
    const begun = await begin(new OpenIdBrowser(service));
    expect(errorOf(await begun.goOn(access, { consent: false }))).toBe('access_denied');
  });

  it('with login, the chosen account is checked again as well', async () => {
    const access = await sessionOf('ann');
    const begun = await begin(new OpenIdBrowser(service), { prompt: 'login select_account' });
    const refused = await begun.finish(access, { select_account: true });
    expect([refused.status, refused.body.error_code]).toEqual([403, 'AUTH_403002']);
  });

  it('with consent, one answer is enough', async () => {
    const access = await sessionOf('ann');
    const begun = await begin(new OpenIdBrowser(service), { prompt: 'select_account consent' });
    expect(await subjectOf(await begun.goOn(access, { consent: true }))).toBe(uids.ann);
  });

  it('a pushed request may ask for it', async () => {
    const body = new URLSearchParams({
      client_id: application.id,
      client_secret: application.secret!,
      response_type: 'code',
      redirect_uri: 'https://app.example.com/callback',
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      prompt,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const pushed = await service.send('POST', '/oidc/request', body.toString(), { headers });
    expect(pushed.status).toBe(201);
    const access = await sessionOf('ann');
    const browser = new OpenIdBrowser(service);
    const query = new URLSearchParams({ client_id: application.id, request_uri: pushed.body.request_uri as string });
    const url = await browser.follow(`http://portal.test/oidc/auth?${query.toString()}`);
    const answer = await browser.describe(url.searchParams.get('interaction')!, access);
    expect(answer.body.data).toMatchObject({ select_account: true });
  });

  it('none beside it, and a word that is no prompt, are refused', async () => {
    for (const wrong of ['none select_account', 'select_account create'])
      expect(errorOf(await new OpenIdBrowser(service).authorize(application, { prompt: wrong }))).toBe(
        'invalid_request',
      );
  });
});
