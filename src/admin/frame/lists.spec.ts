import { StreamableFile } from '@nestjs/common';
import { listed, type Rows } from './lists';

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
      const page = (await listed({ after: after ?? undefined }, false, ['number'], read)) as {
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
    const lines = await linesOf((await listed({ limit: '1' }, true, ['number'], read)) as StreamableFile);
    expect(lines).toHaveLength(2500);
    expect([lines[0], lines.at(-1)]).toEqual(['{"n":1}', '{"n":2500}']);
    expect(counts.reads).toBe(3);
  });

  it('is read no further than its client reads, and no more after the client has gone', async () => {
    const { counts, read } = numbers(1_000_000);
    const stream = ((await listed({}, true, ['number'], read)) as StreamableFile).getStream();
    await new Promise((resolve) => stream.once('readable', resolve));
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    const before = counts.reads;
    expect(before).toBeLessThan(20);
    stream.destroy();
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    expect(counts.reads).toBe(before);
  });

  it.each(['', 'AAAA', 'W10', 'WyJhIl0', 'WzEuNV0', 'WzFlOTld'])('refuses the forged cursor %j', async (after) => {
    await expect(listed({ after }, false, ['number'], numbers(3).read)).rejects.toMatchObject({
      entry: { code: 'COMMON_400001' },
    });
  });

  it('refuses a time that no database can store', async () => {
    const after = Buffer.from(JSON.stringify([8.64e15])).toString('base64url');
    await expect(listed({ after }, false, ['time'], numbers(3).read)).rejects.toMatchObject({
      entry: { code: 'COMMON_400001' },
    });
  });
});
