import { dataOf } from '../support/passkeys';
import type { Answer } from '../support/app';
import {
  applicationRow,
  askForTokens,
  callback,
  exchange,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
  postForm,
  proofs,
  sendTo,
} from '../support/openid';
import { Replicas } from '../support/replicas';
import { generateKeyPairSync } from 'node:crypto';

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const rounds = 100;

/** Each use is sent to two processes at once, so only the database can keep these guarantees (docs/spec/extensions.md#j). */
describe('what is used once, over two processes on MariaDB, 100 rounds each', () => {
  let replicas: Replicas;
  let application: GivenApplication;
  let device: GivenApplication;
  let access: string;
  let browser: OpenIdBrowser;
  beforeAll(async () => {
    replicas = await Replicas.start({ ...openIdSettings, OIDC_PRIVATE_KEY: String(key), RATE_LIMIT: 'off' });
    const [web, native] = [{}, { type: 'native' as const, redirectUris: [] }].map((more) =>
      applicationRow(new Date(), more),
    );
    for (const { statement, values } of [web!, native!]) await replicas.rows(statement, values);
    [application, device] = [web!.application, native!.application];
    await replicas.givenUser('racer');
    access = dataOf(await replicas.login('racer')).data.access_token as string;
    browser = new OpenIdBrowser(at(0));
    await browser.signIn(application, access);
  });
  afterAll(() => replicas.stop());

  const at = (n: number) => sendTo(replicas.services[n % 2]!.url);
  const both = (ask: (n: number) => Promise<Answer>) => Promise.all([ask(0), ask(1)]);
  const live = async ({ body }: Answer) =>
    (await at(1).send('GET', '/oidc/me', undefined, { bearer: String(body.access_token) })).status === 200;
  /** One of the two got tokens, the other one was refused, and the second use has ended what the first one got. */
  async function expectUsedOnce(answers: readonly Answer[]): Promise<void> {
    expect(answers.map(({ body }) => (body.error as string | undefined) ?? 'tokens').sort()).toEqual([
      'invalid_grant',
      'tokens',
    ]);
    const winner = answers.find(({ status }) => status === 200)!;
    expect(await live(winner)).toBe(false);
    const refresh = { grant_type: 'refresh_token', refresh_token: String(winner.body.refresh_token) };
    expect((await askForTokens(at(0), application, refresh)).status).toBe(400);
  }

  it('a code', async () => {
    for (let n = 0; n < rounds; n++) {
      const authorization = await browser.signIn(application, access);
      await expectUsedOnce(await both((replica) => exchange(at(replica), application, authorization)));
    }
  });

  it('a refresh token', async () => {
    for (let n = 0; n < rounds; n++) {
      const { body } = await exchange(at(n), application, await browser.signIn(application, access));
      const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
      await expectUsedOnce(await both((replica) => askForTokens(at(replica), application, refresh)));
    }
  });

  it('a device code', async () => {
    for (let n = 0; n < rounds; n++) {
      const { body } = await postForm(at(n), '/oidc/device/auth', device, { scope: 'openid' });
      const typed = await browser.request('GET', `/oidc/device?user_code=${body.user_code}`);
      const { headers } = await browser.submit(await browser.submit(typed));
      const interaction = new URL(String(headers.location)).searchParams.get('interaction')!;
      const finished = await browser.finish(interaction, access, { consent: true });
      await browser.follow(String(finished.body.data.redirect_to));
      const form = {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: String(body.device_code),
      };
      const answers = await both((replica) => askForTokens(at(replica), device, form));
      // The package looks at the grant after it has used the code, so the second use may come before the first one's tokens.
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners.length).toBeLessThan(2);
      for (const winner of winners) expect(await live(winner)).toBe(false);
      for (const { body } of answers) expect([undefined, 'invalid_grant']).toContain(body.error);
    }
  });

  it('a proof of possession', async () => {
    const prove = proofs();
    const authorization = await browser.signIn(application, access);
    const form = {
      grant_type: 'authorization_code',
      code: authorization.url.searchParams.get('code')!,
      redirect_uri: callback,
      code_verifier: authorization.verifier,
    };
    const dpop = { dpop: prove('POST', 'http://portal.test/oidc/token') };
    const { body } = await askForTokens(at(0), application, form, dpop);
    const token = String(body.access_token);
    for (let n = 0; n < rounds; n++) {
      const proof = prove('GET', 'http://portal.test/oidc/me', token);
      const headers = { authorization: `DPoP ${token}`, dpop: proof };
      const answers = await both((replica) => at(replica).send('GET', '/oidc/me', undefined, { headers }));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    }
  });
});
