import { type Store, temporaryStore } from '../../test/support/captcha/harness';
import { FakeClock } from '../../test/support/fakes';
import type { CaptchaReceipts } from './captcha-receipt.repository';

describe('CaptchaReceipts', () => {
  let store: Store;
  let clock: FakeClock;
  let receipts: CaptchaReceipts;

  beforeAll(async () => {
    store = await temporaryStore();
  });
  afterAll(() => store.close());

  beforeEach(async () => {
    await store.database.affected('DELETE FROM captcha_receipts');
    clock = new FakeClock(new Date());
    receipts = store.receipts(clock);
  });

  const rows = () => store.database.rows<{ token_hash: string }>('SELECT token_hash FROM captcha_receipts');

  it('lets exactly one of 50 parallel claims of one token win', async () => {
    const claims = await Promise.all(Array.from({ length: 50 }, () => receipts.claim('t', clock.secondsFromNow(300))));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('stores only a hash of the token', async () => {
    await receipts.claim('a-token', clock.secondsFromNow(300));
    expect(await rows()).toEqual([{ token_hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(JSON.stringify(await store.database.rows('SELECT * FROM captcha_receipts'))).not.toContain('a-token');
  });

  it('lets a released token be claimed exactly once more', async () => {
    await receipts.claim('t', clock.secondsFromNow(300));
    await receipts.release('t');
    expect(await receipts.claim('t', clock.secondsFromNow(300))).toBe(true);
    expect(await receipts.claim('t', clock.secondsFromNow(300))).toBe(false);
  });

  it('does not report an unrelated database error as an already spent token', async () => {
    const broken = store.receipts(
      clock,
      Object.assign(Object.create(store.database) as typeof store.database, {
        written: () => Promise.reject(new Error('some other failure')),
      }),
    );
    await expect(broken.claim('t', clock.now())).rejects.toThrow('some other failure');
  });

  it('purges in bounded batches and keeps every receipt whose token could still be replayed', async () => {
    for (const token of ['a', 'b', 'c']) await receipts.claim(token, clock.secondsFromNow(300));
    clock.advanceSeconds(301);
    await receipts.claim('late', clock.secondsFromNow(300));
    // A replica whose clock is behind may still accept these tokens.
    expect(await receipts.purgeExpired(10)).toBe(0);
    clock.advanceSeconds(60);
    expect(await receipts.purgeExpired(2)).toBe(2);
    expect(await receipts.purgeExpired(2)).toBe(1);
    expect(await receipts.purgeExpired(2)).toBe(0);
    expect(await receipts.claim('late', clock.secondsFromNow(300))).toBe(false);
  });

  it.each([0, -1, 1.5, 1001, Number.NaN])('refuses the batch size %p before any SQL statement runs', async (limit) => {
    await expect(receipts.purgeExpired(limit)).rejects.toThrow(RangeError);
  });
});
