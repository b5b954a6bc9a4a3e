import { Logger } from '@nestjs/common';
import type { Database } from '../platform/database/database';
import type { Clock } from '../shared/clock';
import { UserCounts } from './user-counts';

describe('the counts of users', () => {
  let now: number;
  let enabled: number;
  let counted: number;
  let counts: UserCounts;
  beforeEach(() => {
    [now, enabled, counted] = [1_800_000_000_000, 1_000_000, 0];
    const database = {
      row: () => Promise.resolve({ n: 0 }),
      rows: () => {
        counted += 1;
        return Promise.resolve([{ status: 1, n: enabled }]);
      },
    };
    const clock = {
      now: () => new Date(now),
      secondsFromNow: (seconds: number) => new Date(now + 1000 * seconds),
    };
    const settings = { maxCount: 5, windowSeconds: 900 };
    counts = new UserCounts(database as unknown as Database, clock as unknown as Clock, settings as never);
  });
  const shown = async (tenant?: string) => (await counts.of(tenant)).enabled;
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('of a million are counted once in five minutes, and nobody waits for the later counts (T710)', async () => {
    expect(await Promise.all([shown(), shown()])).toEqual([1_000_000, 1_000_000]);
    expect(counted).toBe(1);
    enabled = 1_000_500;
    now += 299_000;
    expect(await shown()).toBe(1_000_000);
    expect(counted).toBe(1);
    now += 2_000;
    expect(await shown()).toBe(1_000_000);
    await settled();
    expect(counted).toBe(2);
    expect(await shown()).toBe(1_000_500);
  });

  it('of one tenant are not those of another one', async () => {
    expect(await shown('a')).toBe(1_000_000);
    enabled = 200_000;
    expect(await shown('b')).toBe(200_000);
    expect(await shown('a')).toBe(1_000_000);
  });

  it('of a usual installation are counted for each reading', async () => {
    for (enabled of [100_000, 99_999, 5]) expect(await shown()).toBe(enabled);
  });

  it('that fail leave the former ones', async () => {
    await shown();
    now += 301_000;
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    jest.spyOn(counts as never, 'count').mockRejectedValue(new Error('no database') as never);
    expect(await shown()).toBe(1_000_000);
    await settled();
    expect(await shown()).toBe(1_000_000);
    expect(warned).toHaveBeenCalled();
    warned.mockRestore();
  });
});
