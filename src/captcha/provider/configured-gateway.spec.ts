import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { SystemRandom } from '../../shared/random';
import { KeyRing } from '../../platform/crypto/key-ring';
import { SettingsProblem } from '../../platform/config/settings-reader';
import { captureLog, settings, type Store, temporaryStore } from '../../../test/support/captcha/harness';
import { FakeClock } from '../../../test/support/fakes';
import { hang, json, reset, SiteverifyStub, text } from '../../../test/support/captcha/siteverify-stub';
import { AltchaChallenges } from './altcha-challenges';
import { configuredGateway } from './configured-gateway';
import type { FailoverGateway } from './failover-gateway';
import { SiteverifyProvider } from './siteverify-provider';

const ip = '203.0.113.7';
/** Longer than the stub needs to answer on a busy machine. */
const timeoutMs = 20_000;
const yes = json({ success: true });
const no = json({ success: false, 'error-codes': ['invalid-input-response'] });
const broken = text('', 500);

class EasyRandom extends SystemRandom {
  override bytes(count: number): Buffer {
    return Buffer.alloc(count, 0);
  }
}

describe('the configured captcha gateway', () => {
  let store: Store;
  let clock: FakeClock;
  let altcha: AltchaChallenges;
  let turnstile: SiteverifyStub;
  let hcaptcha: SiteverifyStub;
  let log: ReturnType<typeof captureLog>;
  let serial = 0;

  beforeAll(async () => {
    store = await temporaryStore();
  });
  afterAll(() => store.close());

  beforeEach(async () => {
    log = captureLog();
    clock = new FakeClock(new Date());
    const random = new EasyRandom();
    altcha = new AltchaChallenges(new KeyRing(settings(), random), clock, random);
    [turnstile, hcaptcha] = [new SiteverifyStub(), new SiteverifyStub()];
    await Promise.all([turnstile.listen(), hcaptcha.listen()]);
  });
  afterEach(() => Promise.all([turnstile.close(), hcaptcha.close()]));

  function gatewayFor(providers: string, more: Record<string, string> = {}): FailoverGateway {
    const config = settings({
      CAPTCHA_PROVIDER: providers,
      CAPTCHA_TURNSTILE_SECRET: 'turnstile-secret',
      CAPTCHA_TURNSTILE_VERIFY_URL: turnstile.url,
      CAPTCHA_HCAPTCHA_SECRET: 'hcaptcha-secret',
      CAPTCHA_HCAPTCHA_VERIFY_URL: hcaptcha.url,
      CAPTCHA_TIMEOUT_MS: String(timeoutMs),
      ...more,
    });
    return configuredGateway(config.captcha, altcha, store.receipts(clock), clock);
  }

  const newToken = () => `token-${++serial}`;

  async function solution(): Promise<string> {
    const challenge = await altcha.issue();
    const solved = await solveChallenge({ challenge, deriveKey });
    return Buffer.from(JSON.stringify({ challenge, solution: solved })).toString('base64');
  }

  describe('one siteverify provider', () => {
    it('T034 T035 is asked once about a token, and a second use of the token is refused without a request', async () => {
      const gateway = gatewayFor('turnstile');
      const token = newToken();
      expect(await gateway.judge(token, ip)).toBe('accepted');
      expect(await gateway.judge(token, ip)).toBe('rejected');
      expect(turnstile.asked).toEqual([{ secret: 'turnstile-secret', response: token, remoteip: ip }]);
    });

    it('T036 lets one of 20 parallel logins with one token pass and asks the provider once', async () => {
      const gateway = gatewayFor('turnstile');
      const token = newToken();
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => gateway.judge(token, ip)));
      expect(verdicts.sort()).toEqual(['accepted', ...Array.from({ length: 19 }, () => 'rejected')]);
      expect(turnstile.asked).toHaveLength(1);
    });

    it('a token that the provider refused stays refused without asking again', async () => {
      turnstile.behaviour = no;
      const gateway = gatewayFor('turnstile');
      const token = newToken();
      expect(await gateway.judge(token, ip)).toBe('rejected');
      turnstile.behaviour = yes;
      expect(await gateway.judge(token, ip)).toBe('rejected');
      expect(turnstile.asked).toHaveLength(1);
    });

    it('a token that the provider could not judge is not spent and is still good for exactly one login', async () => {
      const gateway = gatewayFor('turnstile');
      const token = newToken();
      turnstile.behaviour = broken;
      expect(await gateway.judge(token, ip)).toBe('unavailable');
      turnstile.behaviour = yes;
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => gateway.judge(token, ip)));
      expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(1);
    });

    it('a single provider has no circuit breaker and is always asked', async () => {
      turnstile.behaviour = broken;
      const gateway = gatewayFor('turnstile');
      for (let i = 0; i < 12; i++) expect(await gateway.judge(newToken(), ip)).toBe('unavailable');
      expect(turnstile.asked).toHaveLength(12);
      turnstile.behaviour = yes;
      expect(await gateway.judge(newToken(), ip)).toBe('accepted');
    });

    it('T040 refuses 200 logins at once when the provider hangs, and does not block the database', async () => {
      turnstile.behaviour = hcaptcha.behaviour = hang;
      const judge200 = (gateway: FailoverGateway) => Array.from({ length: 200 }, () => gateway.judge(newToken(), ip));
      const patient = gatewayFor('turnstile', { CAPTCHA_TIMEOUT_MS: '30000' });
      const impatient = gatewayFor('hcaptcha', { CAPTCHA_TIMEOUT_MS: '1000' });
      let answered = 0;
      const hanging = judge200(patient);
      for (const one of hanging) void one.finally(() => answered++);
      for (let i = 0; i < 10; i++) await store.database.rows('SELECT 1 AS one');
      // The statements waited for none of the logins.
      expect(answered).toBe(0);
      await turnstile.close();
      expect(new Set(await Promise.all(hanging))).toEqual(new Set(['unavailable']));

      const started = performance.now();
      expect(new Set(await Promise.all(judge200(impatient)))).toEqual(new Set(['unavailable']));
      // One after the other, 200 time-outs of 1 s would take more than three minutes.
      expect(performance.now() - started).toBeLessThan(60_000);
    });

    it('T043 refuses a token that the provider accepted for another hostname or action', async () => {
      turnstile.behaviour = json({ success: true, hostname: 'evil.example', action: 'login' });
      const hostname = gatewayFor('turnstile', { CAPTCHA_EXPECTED_HOSTNAME: 'portal.example' });
      expect(await hostname.judge(newToken(), ip)).toBe('rejected');
      const action = gatewayFor('turnstile', { CAPTCHA_EXPECTED_ACTION: 'signup' });
      expect(await action.judge(newToken(), ip)).toBe('rejected');
    });

    it('does not accept altcha solutions when altcha is not configured', async () => {
      turnstile.behaviour = no;
      expect(await gatewayFor('turnstile').judge(await solution(), ip)).toBe('rejected');
    });

    it.each([
      ['turnstile', 'CAPTCHA_SECRET', { CAPTCHA_TURNSTILE_SECRET: '' }],
      ['turnstile,hcaptcha', 'CAPTCHA_HCAPTCHA_SECRET', { CAPTCHA_HCAPTCHA_SECRET: '' }],
    ])(
      'T044 %s without its secret is refused at start with one line that names the setting',
      (providers, key, less) => {
        expect(() => gatewayFor(providers, less)).toThrow(SettingsProblem);
        expect(() => gatewayFor(providers, less)).toThrow(new RegExp(`^${key} is required[^\\n]*$`));
      },
    );
  });

  describe('the self-hosted challenge', () => {
    it('a solution is accepted once, whatever its encoding', async () => {
      const gateway = gatewayFor('altcha');
      const token = await solution();
      expect(await gateway.judge(token, ip)).toBe('accepted');
      expect(await gateway.judge(token, ip)).toBe('rejected');
      const payload = JSON.parse(Buffer.from(token, 'base64').toString()) as { solution: object };
      const respelled = { ...payload, solution: { ...payload.solution, time: 7 } };
      expect(await gateway.judge(Buffer.from(JSON.stringify(respelled)).toString('base64'), ip)).toBe('rejected');
    });

    it('lets one of 20 parallel logins with one solution pass', async () => {
      const gateway = gatewayFor('altcha');
      const token = await solution();
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => gateway.judge(token, ip)));
      expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(1);
    });

    it('refuses an unsolved or expired challenge and any other token, and stores no receipt for them', async () => {
      const gateway = gatewayFor('altcha');
      const count = () => store.database.row<{ n: number }>('SELECT COUNT(*) AS n FROM captcha_receipts');
      const before = await count();
      const expired = await solution();
      clock.advanceSeconds(300);
      const forged = Buffer.from(
        JSON.stringify({ challenge: await altcha.issue(), solution: { counter: 1, derivedKey: '00' } }),
      );
      for (const token of [expired, forged.toString('base64'), newToken()]) {
        expect(await gateway.judge(token, ip)).toBe('rejected');
      }
      expect(await count()).toEqual(before);
    });
  });

  describe('several providers', () => {
    it('a later provider is asked only when the earlier one cannot judge', async () => {
      const gateway = gatewayFor('turnstile,hcaptcha');
      expect(await gateway.judge(newToken(), ip)).toBe('accepted');
      turnstile.behaviour = no;
      expect(await gateway.judge(newToken(), ip)).toBe('rejected');
      expect(hcaptcha.asked).toEqual([]);
      turnstile.behaviour = reset;
      const token = newToken();
      expect(await gateway.judge(token, ip)).toBe('accepted');
      expect(hcaptcha.asked).toEqual([{ secret: 'hcaptcha-secret', response: token, remoteip: ip }]);
      expect(await gateway.judge(token, ip)).toBe('rejected');
    });

    it('a refusal by a later provider does not count while an earlier one cannot be asked', async () => {
      const gateway = gatewayFor('turnstile,hcaptcha');
      turnstile.behaviour = broken;
      hcaptcha.behaviour = no;
      const token = newToken();
      expect(await gateway.judge(token, ip)).toBe('unavailable');
      turnstile.behaviour = yes;
      expect(await gateway.judge(token, ip)).toBe('accepted');
    });

    it('T039 several hanging providers take no longer than one', async () => {
      turnstile.behaviour = hcaptcha.behaviour = hang;
      const asked = jest.spyOn(SiteverifyProvider.prototype, 'judge');
      const gateway = gatewayFor('turnstile,hcaptcha', { CAPTCHA_TIMEOUT_MS: '300' });
      expect(await gateway.judge(newToken(), ip)).toBe('unavailable');
      // Each of the two gets its share of the time.
      expect(asked.mock.calls.map(([, , ms]) => ms)).toEqual([150, 150]);
      asked.mockRestore();
    });

    it('the circuit breaker protects the first provider, and the last provider is always asked', async () => {
      turnstile.behaviour = hcaptcha.behaviour = broken;
      const gateway = gatewayFor('turnstile,hcaptcha');
      for (let i = 0; i < 12; i++) expect(await gateway.judge(newToken(), ip)).toBe('unavailable');
      expect(turnstile.asked).toHaveLength(5);
      expect(hcaptcha.asked).toHaveLength(12);
    });

    it('a provider before altcha is not asked while it is down, and altcha solutions are accepted', async () => {
      turnstile.behaviour = broken;
      const gateway = gatewayFor('turnstile,altcha');
      for (let i = 0; i < 8; i++) expect(await gateway.judge(newToken(), ip)).toBe('unavailable');
      expect(turnstile.asked).toHaveLength(5);
      expect(await gateway.judge(await solution(), ip)).toBe('accepted');
      expect(turnstile.asked).toHaveLength(5);
    });

    it('a provider after altcha is the last one and is always asked', async () => {
      turnstile.behaviour = broken;
      const gateway = gatewayFor('altcha,turnstile');
      for (let i = 0; i < 8; i++) expect(await gateway.judge(newToken(), ip)).toBe('unavailable');
      expect(turnstile.asked).toHaveLength(8);
    });
  });

  describe('the log', () => {
    it('names the provider and the reason, and never a secret or a token', async () => {
      const gateway = gatewayFor('turnstile');
      turnstile.behaviour = json({ success: false, 'error-codes': ['invalid-input-secret'] });
      await gateway.judge('log-token', ip);
      turnstile.behaviour = broken;
      await gateway.judge('log-token', ip);
      turnstile.behaviour = no;
      await gateway.judge('log-token', ip);
      expect(log.lines.map(({ level }) => level)).toEqual(['error', 'warn']);
      expect(log.lines[0]?.line).toMatch(/"turnstile".*"invalid-input-secret"/);
      expect(log.lines[1]?.line).toMatch(/"turnstile".*"status 500"/);
      expect(JSON.stringify(log.lines)).not.toMatch(/log-token|turnstile-secret/);
    });
  });
});
