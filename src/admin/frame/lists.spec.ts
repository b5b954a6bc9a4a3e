import { StreamableFile } from '@nestjs/common';
import { listed, type Reader, type Rows } from './lists';

const reader: Reader = {
  csv: false,
  unreadMs: 30_000,
  enter: () => () => undefined,
  record: () => Promise.resolve(),
  isAdmitted: () => Promise.resolve(true),
};

/** A list of `total` numbers that counts how often it is read. */
function numbers(total: number) {
  const counts = { reads: 0 };
  const read = (limit: number, after: readonly (string | number)[] | undefined): Promise<Rows<{ n: number }>> => {
    counts.reads++;
    const from = Number(after?.[0] ?? 0);
    const items = Array.from({ length: Math.min(limit, total - from) }, (_, i) => ({ n: from + i + 1 }));
    const last = from + items.length;
    return Promise.resolve({ items, next: last < total ? [last] : null });
  };
  return { counts, read };
}

const linesOf = async (file: StreamableFile): Promise<string[]> => {
  let text = '';
  for await (const chunk of file.getStream()) text += String(chunk);
  return text.split('\n').slice(0, -1);
};

describe('a list of the administration', () => {
  it('is paged by cursors, each of which continues where the page before ended', async () => {
    const { read } = numbers(120);
    const seen: number[] = [];
    let after: string | null | undefined;
    do {
      const page = (await listed({ after: after ?? undefined }, undefined, ['number'], read)) as {
        items: { n: number }[];
        next: string | null;
      };
      seen.push(...page.items.map(({ n }) => n));
      after = page.next;
    } while (after !== null);
    expect(seen).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
  });

  it('is streamed whole, one item in JSON per line', async () => {
    const { counts, read } = numbers(2500);
    const lines = await linesOf((await listed({ limit: '1' }, reader, ['number'], read)) as StreamableFile);
    expect(lines).toHaveLength(2500);
    expect([lines[0], lines.at(-1)]).toEqual(['{"n":1}', '{"n":2500}']);
    expect(counts.reads).toBe(3);
  });

  it('is read no further than its client reads, and no more after the client has gone', async () => {
    const { counts, read } = numbers(1_000_000);
    const stream = ((await listed({}, reader, ['number'], read)) as StreamableFile).getStream();
    await new Promise((resolve) => stream.once('readable', resolve));
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    const before = counts.reads;
    expect(before).toBeLessThan(20);
    stream.destroy();
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    expect(counts.reads).toBe(before);
  });

  it('is cut off, and read no further, when its reader is not admitted any more', async () => {
    const { counts, read } = numbers(10_000);
    const until: Reader = { ...reader, isAdmitted: () => Promise.resolve(counts.reads < 3) };
    const file = (await listed({}, until, ['number'], read)) as StreamableFile;
    await expect(linesOf(file)).rejects.toMatchObject({ entry: { code: 'AUTH_401004' } });
    expect(counts.reads).toBe(3);
  });

  describe('when nobody reads the export for 30 seconds', () => {
    beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
    afterEach(() => jest.useRealTimers());

    it.each([
      ['from its first piece on', 0],
      ['after some pieces', 3],
    ])('it is cut off and gives back its place: %s', async (_what, pieces) => {
      let places = 1;
      const enter = () => {
        places -= 1;
        return () => (places += 1);
      };
      const file = (await listed({}, { ...reader, enter }, ['number'], numbers(100_000).read)) as StreamableFile;
      const stream = file.getStream();
      const closed = new Promise((resolve) => stream.once('error', resolve));
      for (let n = 0; n < pieces; n++) {
        if (stream.read() === null) await new Promise((resolve) => stream.once('readable', resolve));
        // A reader that is slow, and reads.
        jest.advanceTimersByTime(29_000);
      }
      expect([stream.destroyed, places]).toEqual([false, 0]);
      jest.advanceTimersByTime(31_000);
      expect(await closed).toMatchObject({ message: 'unread' });
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
      expect(places).toBe(1);
    });
  });

  it('gives back its place when the first rows cannot be read, and leaves no audit row', async () => {
    const leave = jest.fn();
    const record = jest.fn(() => Promise.resolve());
    const away = () => Promise.reject(new Error('the database is away'));
    await expect(listed({}, { ...reader, enter: () => leave, record }, ['number'], away)).rejects.toThrow('away');
    expect([leave.mock.calls.length, record.mock.calls.length]).toEqual([1, 0]);
  });

  it.each(['', 'AAAA', 'W10', 'WyJhIl0', 'WzEuNV0', 'WzFlOTld'])(
    'refuses the forged cursor %j (T317)',
    async (after) => {
      await expect(listed({ after }, undefined, ['number'], numbers(3).read)).rejects.toMatchObject({
        entry: { code: 'COMMON_400001' },
      });
    },
  );

  it.each([8.64e15, 9_007_199_254_740_991, -1, -6.3e13])(
    'refuses the time %d, which no database stores',
    async (at) => {
      const after = Buffer.from(JSON.stringify([at])).toString('base64url');
      await expect(listed({ after }, undefined, ['time'], numbers(3).read)).rejects.toMatchObject({
        entry: { code: 'COMMON_400001' },
      });
    },
  );
});
