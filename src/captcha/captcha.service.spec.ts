import { DomainError } from '../shared/errors/domain-error';
import { captchaRejected, captchaUnavailable, type CatalogueEntry } from '../shared/errors/error-catalogue';
import { SystemRandom } from '../shared/random';
import { KeyRing } from '../platform/crypto/key-ring';
import { settings, type Store, temporaryStore } from '../../test/support/captcha/harness';
import { FakeClock } from '../../test/support/fakes';
import { CaptchaGateway, type CaptchaVerdict } from './captcha-gateway';
import { CaptchaService } from './captcha.service';
import { CaptchaPasses } from './captcha-passes';
import { AltchaChallenges } from './provider/altcha-challenges';

const ip = '203.0.113.7';

class FakeGateway extends CaptchaGateway {
  readonly asked: [string, string][] = [];
  verdict: CaptchaVerdict = 'accepted';

  judge(token: string, from: string): Promise<CaptchaVerdict> {
    this.asked.push([token, from]);
    return Promise.resolve(this.verdict);
  }
}

describe('CaptchaService', () => {
  let store: Store;
  let gateway: FakeGateway;

  beforeAll(async () => {
    store = await temporaryStore();
  });
  afterAll(() => store.close());
  beforeEach(() => {
    gateway = new FakeGateway();
  });

  function serviceWith(environment: Record<string, string> = {}): CaptchaService {
    const config = settings(environment);
    const [clock, random] = [new FakeClock(new Date()), new SystemRandom()];
    const keys = new KeyRing(config, random);
    const passes = new CaptchaPasses(keys, store.receipts(clock), clock, random);
    return new CaptchaService(gateway, passes, new AltchaChallenges(keys, clock, random), config.captcha);
  }

  async function expectRefusal(attempt: Promise<unknown>, entry: CatalogueEntry): Promise<void> {
    const error = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(DomainError);
    expect((error as DomainError).entry).toBe(entry);
  }

  it.each([
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['blank', '   '],
    ['a number', 42],
    ['a boolean', true],
    ['an array', ['token']],
    ['an object', { toString: () => 'token' }],
    ['2049 characters', 'x'.repeat(2049)],
    ['1,000,000 characters', 'x'.repeat(1_000_000)],
    ['with a line break', 'token\n'],
    ['with a space', 'to ken'],
    ['with NUL', 'to\0ken'],
    ['not ASCII', 'tök€n'],
  ])('T031 T038 a token that is %s is answered with CAPTCHA_401001 and reaches no provider', async (_case, token) => {
    const service = serviceWith();
    await expectRefusal(service.assertHuman(token, ip), captchaRejected);
    await expectRefusal(service.verify(token, ip), captchaRejected);
    expect(gateway.asked).toEqual([]);
  });

  it('T034 T038 a token of 2048 characters reaches the provider with the client address', async () => {
    const token = 'x'.repeat(2048);
    await serviceWith().assertHuman(token, ip);
    expect(gateway.asked).toEqual([[token, ip]]);
  });

  it.each([
    ['rejected', captchaRejected],
    ['unavailable', captchaUnavailable],
  ] as const)('the verdict "%s" has its own error code, at the login and at the exchange', async (verdict, entry) => {
    gateway.verdict = verdict;
    await expectRefusal(serviceWith().assertHuman('token', ip), entry);
    await expectRefusal(serviceWith().verify('token', ip), entry);
  });

  it('T037 a pass is good for one login from the same address, without asking the provider', async () => {
    const service = serviceWith();
    const pass = await service.verify('token', ip);
    expect(gateway.asked).toHaveLength(1);
    await expectRefusal(service.assertHuman(pass, '203.0.113.8'), captchaRejected);
    await service.assertHuman(pass, ip);
    await expectRefusal(service.assertHuman(pass, ip), captchaRejected);
    expect(gateway.asked).toHaveLength(1);
  });

  it('a pass cannot be exchanged for a new pass, and the attempt does not spend it', async () => {
    const service = serviceWith();
    const pass = await service.verify('token', ip);
    await expectRefusal(service.verify(pass, ip), captchaRejected);
    await service.assertHuman(pass, ip);
  });

  it('the test token is always valid, is never spent, and can be exchanged for a pass', async () => {
    const service = serviceWith({ CAPTCHA_TEST_TOKEN: 'dev-captcha-token' });
    gateway.verdict = 'unavailable';
    for (let i = 0; i < 3; i++) await service.assertHuman('dev-captcha-token', ip);
    await service.assertHuman(await service.verify('dev-captcha-token', ip), ip);
    expect(gateway.asked).toEqual([]);
  });

  it('without CAPTCHA_TEST_TOKEN no token is always valid', async () => {
    gateway.verdict = 'rejected';
    const service = serviceWith();
    await expectRefusal(service.assertHuman('dev-captcha-token', ip), captchaRejected);
    await expectRefusal(service.assertHuman('undefined', ip), captchaRejected);
  });
});
