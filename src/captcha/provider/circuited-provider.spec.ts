import { captureLog } from '../../../test/support/captcha/harness';
import { CircuitedProvider } from './circuited-provider';
import { accepted, type CaptchaProvider, type Judgement, rejected, unavailable } from './judgement';

describe('CircuitedProvider', () => {
  let answer: Judgement;
  let asked: number;
  let now: number;
  let provider: CircuitedProvider;
  let log: ReturnType<typeof captureLog>;

  beforeEach(() => {
    log = captureLog();
    asked = 0;
    now = Date.now();
    // cockatiel reads the system clock.
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    const inner: CaptchaProvider = { name: 'turnstile', judge: () => (asked++, Promise.resolve(answer)) };
    provider = new CircuitedProvider(inner);
  });
  afterEach(() => jest.restoreAllMocks());

  const judge = () => provider.judge('t', '203.0.113.7', 100);
  const times = async (count: number) => {
    for (let i = 0; i < count; i++) await judge();
  };

  it('stops asking the provider after five failures in a row and sends one probe after 10 s', async () => {
    answer = unavailable('timeout');
    await times(4);
    expect(await judge()).toEqual(answer);
    expect(asked).toBe(5);
    expect(await judge()).toEqual({ verdict: 'unavailable' });
    expect(asked).toBe(5);
    now += 10_001;
    await Promise.all(Array.from({ length: 20 }, judge));
    expect(asked).toBe(6);
    answer = accepted;
    now += 10_001;
    expect(await judge()).toEqual(accepted);
    expect(await judge()).toEqual(accepted);
    expect(asked).toBe(8);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'log']);
    expect(log.lines[0]?.line).toContain('turnstile');
  });

  it('restarts the count of failures after any verdict, accepted or rejected', async () => {
    for (const verdict of [accepted, rejected, accepted]) {
      answer = unavailable('status 500');
      await times(4);
      answer = verdict;
      expect(await judge()).toEqual(verdict);
    }
    expect(asked).toBe(15);
  });

  it('keeps the circuit closed when a client sends tokens that the provider answers with bad-request', async () => {
    answer = { ...unavailable('bad-request'), blameless: true };
    await times(30);
    expect(asked).toBe(30);
  });
});
