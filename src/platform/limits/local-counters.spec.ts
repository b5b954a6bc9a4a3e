import { LocalCounters } from './local-counters';

const minute = 60_000;

describe('the counters of one process', () => {
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

  it('hit N+1 is blocked, for a minute from then on, and further hits do not prolong it', async () => {
    await hits(2);
    expect(await hit()).toEqual({ totalHits: 3, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
    now += 30_000;
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 60 });
    now += 59_001;
    expect(await hit()).toMatchObject({ totalHits: 4, isBlocked: true, timeToBlockExpire: 1 });
    now += 999;
    expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false, timeToExpire: 60 });
  });

  it('a window ends a minute after its first hit, not after its last', async () => {
    await hits(3);
    now += minute - 1;
    expect(await hit()).toMatchObject({ isBlocked: true });
    counters = new LocalCounters({ now: () => now });
    await hits(3);
    now += minute;
    expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('keys and throttlers are counted apart', async () => {
    await hits(4);
    expect(await hit('b')).toMatchObject({ totalHits: 1 });
    expect(await hit('a', 'target')).toMatchObject({ totalHits: 1 });
  });

  it('addresses without end do not fill the memory: what is over goes as new ones come', async () => {
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < 1000; n++) await hit(`round ${round}, address ${n}`);
      now += minute;
    }
    // A key lives for two minutes at most, its window and its block, and goes with those that came in the same two minutes.
    expect(counters.size).toBeLessThanOrEqual(4000);
    await hit('third 0');
    expect(await hit('third 0')).toMatchObject({ totalHits: 2 });
  });

  describe('in a flood of keys, which has room for ten of each kind', () => {
    beforeEach(() => {
      counters = new LocalCounters({ now: () => now, capacity: 10 });
    });

    it('the memory stays bounded within one window', async () => {
      for (let n = 0; n < 1000; n++) await hit(`junk ${n}`);
      expect(counters.size).toBeLessThanOrEqual(10);
      for (let n = 0; n < 2000; n++) await hit(`again ${n >> 1}`);
      expect(counters.size).toBeLessThanOrEqual(20);
    });

    it('keys that are seen once push out neither a count nor a block', async () => {
      await hits(2);
      for (let n = 0; n < 4; n++) await hit('blocked');
      for (let n = 0; n < 1000; n++) await hit(`junk ${n}`);
      expect(await hit()).toMatchObject({ totalHits: 3, isBlocked: false });
      expect(await hit('blocked')).toMatchObject({ totalHits: 4, isBlocked: true });
    });

    it('of the keys that come again the oldest is pushed out, not the newest', async () => {
      for (let n = 0; n < 11; n++) await hit(`pair ${n}`).then(() => hit(`pair ${n}`));
      for (const n of [6, 7, 8, 9, 10]) expect(await hit(`pair ${n}`)).toMatchObject({ totalHits: 3 });
      expect(await hit('pair 0')).toMatchObject({ totalHits: 1 });
    });
  });

  it('a block outlives the window that it began in, also when others come and go', async () => {
    await hits(3);
    now += minute - 1;
    await hit();
    now += 2;
    for (let n = 0; n < 10; n++) await hit(`other ${n}`);
    expect(await hit()).toMatchObject({ isBlocked: true });
  });
});
