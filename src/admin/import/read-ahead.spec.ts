import { readAhead } from './read-ahead';

/** Items whose work ends when the test says so. */
function given(width: number, count: number) {
  const ends = new Map<number, (failed?: Error) => void>();
  let most = 0;
  const items = async function* () {
    for (let item = 1; item <= count; item++) yield await Promise.resolve(item);
  };
  const work = (item: number) =>
    new Promise<number>((end, fail) => {
      ends.set(item, (failed) => (failed ? fail(failed) : end(item * 10)));
      most = Math.max(most, ends.size);
    });
  const end = (item: number, failed?: Error) => {
    ends.get(item)?.(failed);
    ends.delete(item);
  };
  return { results: readAhead(items(), width, work), end, running: () => [...ends.keys()], most: () => most };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('reading ahead', () => {
  it('works on as many rows as there are hash threads, and yields the results in the order of the rows', async () => {
    const { results, end, running, most } = given(3, 5);
    const first = results.next();
    await turn();
    expect(running()).toEqual([1, 2, 3]);
    end(2);
    end(3);
    await turn();
    expect(running()).toEqual([1]);
    end(1);
    expect((await first).value).toBe(10);
    const rest: Promise<unknown>[] = [results.next(), results.next(), results.next(), results.next()];
    for (const item of [4, 5]) {
      await turn();
      end(item);
    }
    expect((await Promise.all(rest)).map((result) => (result as IteratorResult<number>).value)).toEqual([
      20, 30, 40, 50,
    ]);
    expect(most()).toBe(3);
    expect((await results.next()).done).toBe(true);
  });

  it('throws the failure of a row in its turn, and a failure behind the end of the reading ends nothing', async () => {
    const { results, end } = given(2, 3);
    const first = results.next();
    await turn();
    end(2, new Error('second'));
    end(1);
    expect((await first).value).toBe(10);
    const second = results.next();
    await turn();
    await expect(second).rejects.toThrow('second');
    end(3, new Error('nobody waits for it'));
    await turn();
  });
});
