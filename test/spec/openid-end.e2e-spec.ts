import { generateKeyPairSync } from 'node:crypto';
import { signedJwt } from '../../src/platform/crypto/signed-jwt';
import { type Answer, TestService } from '../support/app';
import {
  askForTokens,
  claimsOf,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
} from '../support/openid';

interface Held {
  readonly application: GivenApplication;
  readonly browser: OpenIdBrowser;
  readonly access: string;
  readonly uid: string;
  /** The tokens of the application. */
  readonly tokens: Readonly<Record<'access_token' | 'refresh_token', string>>;
}

/** One end for everything (docs/spec/extensions.md#j). */
describe('the end of a session ends what applications have of it', () => {
  let service: TestService;
  beforeAll(async () => (service = await TestService.start(openIdSettings)));
  afterAll(() => service.stop());

  async function held(name: string, more: Record<string, string> = {}): Promise<Held> {
    const { uid } = await service.givenUser(name);
    const application = await givenApplication(service);
    const { access } = await service.session(name);
    const browser = new OpenIdBrowser(service);
    const authorization = await browser.signIn(application, access, more, more.prompt === undefined ? undefined : true);
    const { body } = await exchange(service, application, authorization);
    return { application, browser, access, uid, tokens: body as Held['tokens'] };
  }

  const me = async ({ tokens }: Held) => (await service.get('/oidc/me', { bearer: tokens.access_token })).status;
  const refresh = ({ application, tokens }: Held): Promise<Answer> =>
    askForTokens(service, application, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });

  async function expectNothingLives(one: Held): Promise<void> {
    expect(await me(one)).toBe(401);
    expect((await refresh(one)).body.error).toBe('invalid_grant');
    const { url } = await one.browser.authorize(one.application, { prompt: 'none' });
    expect(url.searchParams.get('error')).toBe('login_required');
  }

  it.each<[string, (one: Held) => Promise<unknown>]>([
    ['a log-out', ({ access }) => service.post('/logout', undefined, { bearer: access })],
    [
      'the end of the session by its owner',
      ({ access }) =>
        service.send('DELETE', `/user/sessions/${String(claimsOf(access).sid)}`, undefined, { bearer: access }),
    ],
    ['disabling', ({ uid }) => service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [uid])],
    [
      'a new password',
      ({ uid }) =>
        service.database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [uid]),
    ],
  ])('%s: access tokens, refresh tokens and the session of the browser', async (what, end) => {
    const one = await held(`end-${what.replace(/\W/g, '')}`);
    expect(await me(one)).toBe(200);
    await end(one);
    await expectNothingLives(one);
  });

  it('a code that was issued before the end is worth nothing after it', async () => {
    const { access, browser, application } = await held('code');
    const authorization = await browser.signIn(application, access);
    await service.post('/logout', undefined, { bearer: access });
    expect((await exchange(service, application, authorization)).body.error).toBe('invalid_grant');
  });

  it('with offline_access a grant outlives the log-out, and ends with the password', async () => {
    const one = await held('offline', { scope: 'openid offline_access', prompt: 'consent' });
    await service.post('/logout', undefined, { bearer: one.access });
    const answer = await refresh(one);
    expect(answer.status).toBe(200);
    const tokens = answer.body as Held['tokens'];
    expect(await me({ ...one, tokens })).toBe(200);
    await service.database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [
      one.uid,
    ]);
    expect(await me({ ...one, tokens })).toBe(401);
    expect((await refresh({ ...one, tokens })).body.error).toBe('invalid_grant');
  });

  it('a log-out at an application ends the session of the service, after a question or with the hint of this session', async () => {
    const one = await held('away');
    const { body } = await exchange(service, one.application, await one.browser.signIn(one.application, one.access));
    const hint = await one.browser.request(
      'GET',
      `/oidc/session/end?id_token_hint=${body.id_token}&post_logout_redirect_uri=${encodeURIComponent('https://app.example.com/')}&state=x`,
    );
    expect(hint.raw.toString()).toContain('document.forms[0].submit()');
    const done = await one.browser.submit(hint);
    expect(done.headers.location).toBe('https://app.example.com/?state=x');
    expect((await service.get('/user/me', { bearer: one.access })).body.error_code).toBe('AUTH_401004');
    await expectNothingLives(one);
  });

  it('the hint of a former key, also of another algorithm, signs out and names the user; the hint of a stranger does not', async () => {
    const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const [former, stranger] = [rsa(), rsa()];
    const OIDC_PREVIOUS_KEYS = former.export({ type: 'pkcs8', format: 'pem' }).toString();
    const rotated = await TestService.start({ ...openIdSettings, OIDC_PREVIOUS_KEYS });
    try {
      await rotated.givenUser('rotated');
      const application = await givenApplication(rotated);
      const browser = new OpenIdBrowser(rotated);
      const signedIn = await browser.signIn(application, (await rotated.session('rotated')).access);
      const { body } = await exchange(rotated, application, signedIn);
      const hintOf = (key: typeof former) =>
        signedJwt('JWT', claimsOf(body.id_token as string), { algorithm: 'RS256', key });
      const end = (hint: string) => browser.request('GET', `/oidc/session/end?id_token_hint=${hint}`);

      expect((await end(hintOf(stranger))).status).toBe(400);
      const asked = { prompt: 'none', id_token_hint: hintOf(former) };
      expect((await browser.authorize(application, asked)).url.searchParams.get('code')).not.toBeNull();
      expect((await end(hintOf(former))).raw.toString()).toContain('document.forms[0].submit()');
    } finally {
      await rotated.stop();
    }
  });

  it('T479 a page that leads a browser to the log-out does not end its session without a question', async () => {
    const [one, other] = [await held('kept'), await held('stranger')];
    const { body } = await exchange(
      service,
      other.application,
      await other.browser.signIn(other.application, other.access),
    );
    for (const query of ['', `?client_id=${one.application.id}`, `?id_token_hint=${body.id_token}`]) {
      const asked = await one.browser.request('GET', `/oidc/session/end${query}`);
      expect([asked.status, asked.raw.toString().includes('<script>')]).toEqual([200, false]);
    }
    const forged = await one.browser.request('POST', '/oidc/session/end/confirm', {
      form: { logout: 'yes', xsrf: 'x' },
    });
    expect(forged.status).toBe(400);
    expect(await me(one)).toBe(200);
    expect((await service.get('/user/me', { bearer: one.access })).status).toBe(200);
  });
});
