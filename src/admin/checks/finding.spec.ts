import type { IdentityProviderAdministration } from '../identity-provider-administration';
import type { ProviderVerification } from '../provider-verification';
import { finding } from './finding';
import { checkIdentityProviders } from './provider-checks';

const explain = (error: unknown) => (error as Error).message;

describe('a check', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('that hangs is a problem after ten seconds, and its signal tells it to ask no further server', async () => {
    let told: AbortSignal | undefined;
    const found = finding(
      'smtp',
      (signal) => {
        told = signal;
        return new Promise(() => undefined);
      },
      explain,
    );
    await jest.advanceTimersByTimeAsync(9_999);
    expect(told?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await found).toEqual({ check: 'smtp', status: 'problem', text: 'no answer within 10 s' });
    expect(told?.aborted).toBe(true);
  });

  it('that throws is a problem with its reason', async () => {
    const found = await finding('smtp', () => Promise.reject(new Error('refused')), explain);
    expect(found).toEqual({ check: 'smtp', status: 'problem', text: 'refused' });
  });

  it('of identity providers asks eight at a time, and none after the time limit', async () => {
    const provider = (n: number) => ({ provider: { id: `p${n}`, enabled: true, clientSecretExpires: null } });
    const rows = Array.from({ length: 20 }, (_, n) => provider(n));
    const asked: (() => void)[] = [];
    const report = () =>
      new Promise((done) =>
        asked.push(() => done({ discovery: 'ok', secret: 'ok', tells_logout: null, problems: [] })),
      );
    const found = checkIdentityProviders(
      { list: () => Promise.resolve(rows) } as unknown as IdentityProviderAdministration,
      { report } as unknown as ProviderVerification,
      new Date(),
      null,
    );
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(8);
    asked.splice(0).forEach((answer) => answer());
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(8);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await found).toMatchObject({ check: 'idp', status: 'problem', text: 'no answer within 10 s' });
    asked.splice(0).forEach((answer) => answer());
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toEqual([]);
  });
});
