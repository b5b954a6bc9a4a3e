import { DataSource } from 'typeorm';
import { TestService } from '../support/app';
import { listStatements } from '../support/count-statements';
import { FakeClock } from '../support/fakes';
import {
  askForTokens,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
} from '../support/openid';

/** Parallel requests go to two replicas in turn. SQLite deployments have one replica. */
describe('races at the OpenID provider (docs/spec/extensions.md#j)', () => {
  let services: [TestService, TestService];
  let application: GivenApplication;
  beforeAll(async () => {
    const clock = new FakeClock();
    const settings = { ...openIdSettings, RATE_LIMIT: 'off' };
    const first = await TestService.start(settings, { clock });
    const second = __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, { clock, store: first.store });
    services = [first, second];
    application = await givenApplication(first);
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const at = (n: number): TestService => services[n % 2]!;
  let users = 0;
  const given = async () => {
    const name = `openid${++users}`;
    const { uid } = await at(0).givenUser(name);
    const { access } = await at(0).session(name);
    const browser = new OpenIdBrowser(at(0));
    return { uid, access, authorization: await browser.signIn(application, access) };
  };
  const refresh = (token: unknown, n = 0) =>
    askForTokens(at(n), application, { grant_type: 'refresh_token', refresh_token: String(token) });
  const expectDead = async (tokens: Record<string, unknown>) => {
    expect((await at(1).get('/oidc/me', { bearer: String(tokens.access_token) })).status).toBe(401);
    expect((await refresh(tokens.refresh_token, 1)).body.error).toBe('invalid_grant');
  };

  it('T477 of 20 uses of one code at once, one gets tokens, and none of them lives', async () => {
    const { authorization } = await given();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => exchange(at(n), application, authorization)),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error as string))).toEqual(
      new Set(['invalid_grant']),
    );
    await expectDead(won[0]!.body as Record<string, unknown>);
  });

  it('T486 disabling during the exchange of a code: no token lives, whichever comes first', async () => {
    for (let round = 0; round < 8; round++) {
      const { uid, authorization } = await given();
      const [answer] = await Promise.all([
        exchange(at(0), application, authorization),
        at(1).database.affected('UPDATE users SET status = -1 WHERE uid = ?', [uid]),
      ]);
      if (answer.status === 200) await expectDead(answer.body as Record<string, unknown>);
      else expect(answer.body.error).toBe('invalid_grant');
    }
  });

  it('T486 the end of the session during a refresh: no token lives, whichever comes first', async () => {
    for (let round = 0; round < 8; round++) {
      const { access, authorization } = await given();
      const { body } = await exchange(at(0), application, authorization);
      const [answer] = await Promise.all([
        refresh(body.refresh_token),
        at(1).post('/logout', undefined, { bearer: access }),
      ]);
      if (answer.status === 200) await expectDead(answer.body as Record<string, unknown>);
      else expect(answer.body.error).toBe('invalid_grant');
    }
  });

  it('userinfo and a refresh read each row once', async () => {
    const { authorization } = await given();
    const { body } = await exchange(at(0), application, authorization);
    const statements = listStatements(at(0).app.get(DataSource));
    const reads = ['SELECT', 'SELECT', 'SELECT', 'SELECT', 'SELECT'];
    // The token, its grant, session, user and application.
    expect(await statements(() => at(0).get('/oidc/me', { bearer: String(body.access_token) }))).toEqual(reads);
    // The code or token that is used up, and the two tokens that replace it.
    expect(await statements(() => refresh(body.refresh_token))).toEqual([...reads, 'UPDATE', 'INSERT', 'INSERT']);
  });
});
