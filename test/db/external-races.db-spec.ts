import { operatorAuthority } from '../../src/admin/authority';
import { UserChanges } from '../../src/admin/user-changes';
import { UserMove } from '../../src/admin/user-move';
import { UserOffboarding } from '../../src/admin/user-offboarding';
import { ExternalIdentities } from '../../src/identity-providers/external-identities.repository';
import {
  type AnsweredSignIn,
  type BegunSignIn,
  ExternalSignIns,
} from '../../src/identity-providers/external-sign-ins.repository';
import { LoginLock } from '../../src/users/login-lock';
import type { User } from '../../src/users/user.entity';
import { outcomeOf } from '../support/admin-client';
import { type Answer, TestService, tally } from '../support/app';
import { externalSession, freshSignIn, givenBound, signsInAt, tellLogout } from '../support/external-sessions';
import { ExternalSite, PersonsBrowser } from '../support/external-sign-in';
import { FakeClock } from '../support/fakes';
import { HostileProvider } from '../support/hostile-provider';
import type { Person } from '../support/identity-provider';
import { givenIdentityProvider } from '../support/identity-providers';
import { MfaClient, mfaSettings } from '../support/mfa';

const rounds = 100;
const racers = 4;

const person = (name: string, claims: Record<string, unknown> = {}, sub = `sub-of-${name}`): Person => ({
  sub,
  claims: { preferred_username: name, email: `${name}@acme.example`, name, ...claims },
});

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('sign-ins at an identity provider, over two replicas', () => {
  let site: ExternalSite;
  let services: [TestService, TestService];
  beforeAll(async () => {
    const settings = { ADMIN_API: 'on' };
    site = await ExternalSite.start({ jit: true, domains: ['acme.example'], matchClaim: 'employee' }, settings);
    const { clock, store } = site.service;
    const isOne = __DATABASE__ === 'sqlite';
    services = [site.service, isOne ? site.service : await TestService.start(settings, { clock, store })];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await site.stop();
  });

  const at = (n: number): TestService => services[n % 2]!;
  const signIns = (n: number) => at(n).app.get(ExternalSignIns, { strict: false });
  const race = <T>(work: (n: number) => Promise<T>, count = racers): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => work(n)));
  const begun: BegunSignIn = {
    ...{ identityProviderId: 'acme', nonce: 'n', verifier: 'v', scopes: [], acrValues: [], beganAt: 0 },
    ...{ returnTo: undefined, confirms: undefined },
  };
  const answer: AnsweredSignIn = {
    ...{ sub: 's', sid: undefined, mfa: false, askedAt: undefined },
    person: { loginName: null, email: null, nickname: null, externalId: null, groups: null },
  };

  it('one of many takes a state, and one of many redeems a code, in every round (T517)', async () => {
    const user = await site.service.givenUser('redeemer', { password: null });
    for (let round = 0; round < rounds; round++) {
      const [state, code] = [`state-${round}`, `code-${round}`];
      await signIns(0).begin(state, 'browser', begun);
      const taken = await race((n) => signIns(round + n).take(state, 'browser', 'acme'));
      await signIns(0).answer(site.service.database, state, code, user.uid, answer);
      const redeemed = await race((n) => signIns(round + n).redeem(code, 'browser'));
      const count = (results: unknown[]) => results.filter((one) => one !== undefined).length;
      expect([round, count(taken), count(redeemed)]).toEqual([round, 1, 1]);
    }
  });

  /** Everybody is at the door of the callback. @returns the path of the callback */
  async function arrived(who: Person): Promise<{ browser: PersonsBrowser; path: string }> {
    const browser = site.browser(who);
    const { body } = await browser.begin();
    return { browser, path: await browser.visit(body.data.redirect_to as string) };
  }
  async function callback({ browser, path }: { browser: PersonsBrowser; path: string }, n: number): Promise<string> {
    const { headers } = await at(n).get(path, browser.with());
    return String(new URL(String(headers.location)).searchParams.get('error') ?? 'code');
  }

  it('first sign-ins of one person at once make one account (T518)', async () => {
    for (let round = 0; round < 10; round++) {
      const name = `first-${round}`;
      const ready = [];
      for (let n = 0; n < racers; n++) ready.push(await arrived(person(name)));
      const results = await Promise.all(ready.map((one, n) => callback(one, n)));
      expect({ name, results }).toEqual({ name, results: Array<string>(racers).fill('code') });
      expect(await site.service.count('users', 'login_name = ?', [name])).toBe(1);
    }
  });

  it('two people with one login name at once: one account, and the other person is refused (T518)', async () => {
    for (let round = 0; round < 10; round++) {
      const name = `same-${round}`;
      const one = await arrived(person(name, {}, `one-${round}`));
      const two = await arrived(person(name, {}, `two-${round}`));
      const results = await Promise.all([callback(one, 0), callback(two, 1)]);
      expect({ name, results: results.sort() }).toEqual({ name, results: ['LOGIN_404001', 'code'] });
      const owners = 'subject IN (?, ?)';
      expect(await site.service.count('external_identities', owners, [`one-${round}`, `two-${round}`])).toBe(1);
    }
  });

  it('two people with one external id at once: the account belongs to one of them, for ever (T518)', async () => {
    const identities = site.service.app.get(ExternalIdentities, { strict: false });
    for (let round = 0; round < 10; round++) {
      const of = { provider: 'oidc', identityProviderId: site.id, password: null, externalId: `E-${round}` } as const;
      const { uid } = await site.service.givenUser(`made-${round}`, of);
      const ready = [];
      for (const who of ['x', 'y']) {
        ready.push(await arrived(person(`made-${round}`, { employee: `E-${round}` }, `${who}-made-${round}`)));
      }
      const results = await Promise.all(ready.map((one, n) => callback(one, n)));
      expect({ round, results: results.sort() }).toEqual({ round, results: ['LOGIN_404001', 'code'] });
      expect((await identities.ofUser(uid))?.subject).toMatch(/^[xy]-made-/);
    }
  });

  it('a disabling beside the redemption: no session is usable afterwards (T519)', async () => {
    const browser = site.browser(person('leaver'));
    await browser.signIn();
    const disable = (status: number) =>
      site.service.database.affected(
        `UPDATE users SET status = ${status}, credential_version = credential_version + 1 WHERE login_name = 'leaver'`,
      );
    for (let round = 0; round < 20; round++) {
      await disable(1);
      const { external } = await browser.come();
      const redeem = () => at(round).post('/login/external', { code: external }, browser.with());
      const both = round % 2 === 0 ? [redeem(), disable(-1)] : [disable(-1), redeem()];
      const result = (await Promise.all(both)).find((one): one is Answer => typeof one === 'object')!;
      const outcome = Object.keys(tally([result]))[0];
      if (outcome === 'success') {
        const me = await site.service.get('/user/me', { bearer: result.body.data.access_token as string });
        expect(me.body.error_code).toBe('AUTH_401004');
      } else {
        expect(outcome).toBe('LOGIN_401011');
      }
    }
  });

  it('an off-boarding beside the redemption: no session is usable, and the receipt counts the codes that it ended (T661)', async () => {
    const browser = site.browser(person('offboarded'));
    await browser.signIn();
    const [user] = await site.service.database.rows<{ uid: string }>(
      "SELECT uid FROM users WHERE login_name = 'offboarded'",
    );
    const { uid } = user!;
    for (let round = 0; round < 20; round++) {
      const { external } = await browser.come();
      const { external: idle } = await browser.come();
      const redeem = (n: number, code = external) => at(n).post('/login/external', { code }, browser.with());
      const offboard = () =>
        at(round + 1)
          .app.get(UserOffboarding, { strict: false })
          .offboard(operatorAuthority, uid, 'cli');
      const both = round % 2 === 0 ? ([redeem(round), offboard()] as const) : undefined;
      const [answer, receipts] = both
        ? await Promise.all(both)
        : await Promise.all([offboard(), redeem(round)]).then(([left, redeemed]) => [redeemed, left] as const);
      const outcome = outcomeOf(answer);
      if (outcome === 'success') {
        const { access_token: access, refresh_token: refresh } = answer.body.data as Record<string, string>;
        expect((await at(round).get('/user/me', { bearer: access })).status).toBe(401);
        expect((await at(round).post('/refresh', undefined, { bearer: refresh })).status).toBe(401);
      }
      const ended = receipts[0]!.steps.find(({ step }) => step === 'external_sign_ins')!.ended;
      // The code that nobody redeems is ended in each round.
      expect([1, 2]).toContain(ended);
      // Who has ended the code has left nothing to redeem. A redemption that came first is refused by the status, or opens a
      // session that the off-boarding ends.
      expect({ round, outcome }).toEqual({
        ...{ round, outcome: expect.stringMatching(ended === 2 ? /^LOGIN_401013$/ : /^(success|LOGIN_401011)$/) },
      });
      await at(0).app.get(UserChanges, { strict: false }).change(operatorAuthority, uid, { status: 1 });
      for (const code of [external, idle]) expect(outcomeOf(await redeem(round + 1, code))).toBe('LOGIN_401013');
    }
  });
});

describe('a sign-in at an identity provider beside a move of the user, with a second factor', () => {
  let site: ExternalSite;
  beforeAll(async () => {
    site = await ExternalSite.start({ jit: true, domains: ['acme.example'] }, { ...mfaSettings, ADMIN_API: 'on' });
  });
  afterAll(() => site?.stop());

  const away = { provider: 'password', identityProviderId: null } as const;
  const back = { provider: 'oidc', identityProviderId: 'acme' } as const;

  /** In every second round the moves commit after the sign-in has read the row, and before it records its success. */
  it('opens no session, and writes nothing into the account that was moved (T554)', async () => {
    const [mfa, lock] = [new MfaClient(site.service), site.service.app.get(LoginLock, { strict: false })];
    const record = lock.recordSuccess.bind(lock);
    for (let round = 0; round < 20; round++) {
      const [name, isForced] = [`moved-${round}`, round % 2 === 0];
      // Back at the provider the user is bound to nobody, and the person of before is a stranger.
      const places = round % 4 < 2 ? [away] : [away, back];
      await site.browser(person(name)).come();
      const browser = site.browser(person(name, { name: 'Somebody else' }));
      const { external } = await browser.come();
      const [{ uid } = { uid: '' }] = await site.service.database.rows<{ uid: string }>(
        'SELECT uid FROM users WHERE login_name = ?',
        [name],
      );
      const move = async () => {
        const admin = site.service.app.get(UserMove, { strict: false });
        for (const place of places) await admin.move(operatorAuthority, uid, place, 'en');
      };
      const spy = jest.spyOn(lock, 'recordSuccess').mockImplementationOnce(async (...args) => {
        if (isForced) await move();
        return record(...args);
      });
      const [{ status, body }] = await Promise.all([browser.redeem(external), isForced ? undefined : move()]);
      spy.mockRestore();
      if (status === 200) {
        expect(body.data).toMatchObject({ mfa_required: true, access_token: null });
        // A move takes back the mails that are not sent yet.
        const code = await mfa.lastCode({ email: `${name}@acme.example` } as User).catch(() => '000000');
        const opened = await mfa.verify(uid, 'email', code, { mfa_token: body.data.mfa_token as string });
        expect({ round, outcome: outcomeOf(opened) }).toEqual({
          ...{ round, outcome: expect.stringMatching(/^(MFA_401001|LOGIN_401013)$/) },
        });
      } else {
        expect({ round, outcome: body.error_code }).toEqual({
          ...{ round, outcome: expect.stringMatching(/^LOGIN_4010(01|13)$/) },
        });
      }
      if (isForced) {
        expect(await site.service.count('users', 'uid = ? AND nickname = ?', [uid, name])).toBe(1);
      }
      expect(await site.service.count('login_tokens', 'user_identity = ?', [uid])).toBe(0);
    }
  });

  /** A code that came second would prove the new address, and set the former one again. */
  it('a code by mail beside another sign-in that brings a new address: the account has the new one, whichever comes first', async () => {
    const mfa = new MfaClient(site.service);
    await site.change({ trust_mfa: 1 });
    for (let round = 0; round < 20; round++) {
      const [name, email] = [`renamed-${round}`, `renamed-${round}-new@acme.example`];
      const { body } = await site.browser(person(name)).signIn();
      const uid = body.data.user_info.uid as string;
      const code = await mfa.lastCode({ email: `${name}@acme.example` } as User);
      const browser = site.browser({ ...person(name, { email }), amr: ['mfa'] });
      const { external } = await browser.come();
      const verify = () => mfa.verify(uid, 'email', code, { mfa_token: body.data.mfa_token as string });
      const redeem = () => browser.redeem(external);
      const [one, other] = round % 2 === 0 ? [verify(), redeem()] : [redeem(), verify()];
      const outcomes = (await Promise.all([one, other])).map(outcomeOf);
      const [verified, redeemed] = round % 2 === 0 ? outcomes : outcomes.reverse();
      expect({ round, verified, redeemed }).toEqual({
        ...{ round, verified: expect.stringMatching(/^(success|MFA_401001)$/), redeemed: 'success' },
      });
      expect({ round, row: await site.service.userRow(uid) }).toMatchObject({ round, row: { email } });
    }
  });
});

describe('a new sign-in that confirms a session, beside the end of its session at the provider', () => {
  let services: [TestService, TestService];
  let provider: HostileProvider;
  beforeAll(async () => {
    const first = await TestService.start({}, { clock: new FakeClock(new Date()) });
    const { clock, store } = first;
    services = [first, __DATABASE__ === 'sqlite' ? first : await TestService.start({}, { clock, store })];
    provider = await HostileProvider.start(() => clock.now());
    const { clientId, clientSecret: secret, issuer } = provider;
    await givenIdentityProvider(first, { id: 'acme', issuer, clientId, secret });
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
    await provider.stop();
  });

  it('confirms nothing, or the session ends', async () => {
    for (let round = 0; round < 20; round++) {
      const [name, sid] = [`confirms-${round}`, `later-${round}`];
      const user = await givenBound(services[0], name);
      const { access } = await externalSession(services[0], name, `first-${round}`);
      await signsInAt(services[0], user.uid);
      const browser = await freshSignIn(services[0], user, { code: name, sid });
      const confirm = () =>
        services[0].post('/user/reauthenticate', { external: name }, { ...browser, bearer: access });
      const tell = () => tellLogout(services[1], { logout_token: provider.logoutToken({ sub: user.sub, sid }) });
      const [one, other] = round % 2 === 0 ? [confirm(), tell()] : [tell(), confirm()];
      const answers = await Promise.all([one, other]);
      const outcome = outcomeOf(answers[round % 2]!);
      const lives = (await services[0].get('/user/me', { bearer: access })).status === 200;
      expect({ round, outcome, lives }).toEqual({
        ...{ round, outcome: expect.stringMatching(lives ? /^LOGIN_401013$/ : /^(success|AUTH_401004)$/) },
        lives,
      });
    }
  });
});
