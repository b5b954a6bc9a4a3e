import { LocalCounters } from './local-counters';

const minute = 60_000;

describe('the counters in the memory of one process', () => {
  let now: number;
  let counters: LocalCounters;

  beforeEach(() => {
    now = 1000;
    counters = new LocalCounters({ now: () => now });
  });

  const hit = (key = 'a', name = 'address') => counters.increment(key, minute, 3, minute, name);
  const hits = async (count: number) => {
    for (let n = 0; n < count; n++) await hit();
  };

  it('block hit N+1 for a minute, and further hits do not prolong the block', async () => {
    await hits(2);
    expect(await hit()).toEqual({ totalHits: 3, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
    now += 30_000;
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 60 });
    now += 59_001;
    expect(await hit()).toMatchObject({ totalHits: 4, isBlocked: true, timeToBlockExpire: 1 });
    now += 999;
    expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false, timeToExpire: 60 });
  });

  it('end a window a minute after its first hit, not after its last hit', async () => {
    await hits(3);
    now += minute - 1;
    expect(await hit()).toMatchObject({ isBlocked: true });
    counters = new LocalCounters({ now: () => now });
    await hits(3);
    now += minute;
    expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('count each key and each throttler separately', async () => {
    await hits(4);
    expect(await hit('b')).toMatchObject({ totalHits: 1 });
    expect(await hit('a', 'target')).toMatchObject({ totalHits: 1 });
  });

  it('drop keys whose window and block have ended when new keys come, so that many addresses do not fill the memory', async () => {
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < 1000; n++) await hit(`round ${round}, address ${n}`);
      now += minute;
    }
    // A key lives for at most two minutes (window and block). It is dropped with its generation, which spans two
    // minutes.
    expect(counters.size).toBeLessThanOrEqual(4000);
    await hit('third 0');
    expect(await hit('third 0')).toMatchObject({ totalHits: 2 });
  });

  describe('in a flood of keys, with a capacity of ten', () => {
    beforeEach(() => {
      counters = new LocalCounters({ now: () => now, capacity: 10 });
    });

    it('keep a bounded number of keys within one window', async () => {
      for (let n = 0; n < 1000; n++) await hit(`junk ${n}`);
      expect(counters.size).toBeLessThanOrEqual(10);
      for (let n = 0; n < 2000; n++) await hit(`again ${n >> 1}`);
      expect(counters.size).toBeLessThanOrEqual(20);
    });

    it('keep counts and blocks when many keys are seen once', async () => {
      await hits(2);
      for (let n = 0; n < 4; n++) await hit('blocked');
      for (let n = 0; n < 1000; n++) await hit(`junk ${n}`);
      expect(await hit()).toMatchObject({ totalHits: 3, isBlocked: false });
      expect(await hit('blocked')).toMatchObject({ totalHits: 4, isBlocked: true });
    });

    it('evict the oldest of the keys that were hit again, not the newest', async () => {
      for (let n = 0; n < 11; n++) await hit(`pair ${n}`).then(() => hit(`pair ${n}`));
      for (const n of [6, 7, 8, 9, 10]) expect(await hit(`pair ${n}`)).toMatchObject({ totalHits: 3 });
      expect(await hit('pair 0')).toMatchObject({ totalHits: 1 });
    });
  });

  it('keep a block after the window in which it began has ended, also if other keys come', async () => {
    await hits(3);
    now += minute - 1;
    await hit();
    now += 2;
    for (let n = 0; n < 10; n++) await hit(`other ${n}`);
    expect(await hit()).toMatchObject({ isBlocked: true });
  });
});
