import { MemoryBudget } from './memory-budget';

/** Starts works that end when the test says so, and lists the names of those that run. */
function given(limit: number) {
  const budget = new MemoryBudget(limit);
  const running = new Map<string, (failed?: Error) => void>();
  const results: Promise<unknown>[] = [];
  const start = (name: string, bytes: number) =>
    results.push(
      budget.run(
        bytes,
        () => new Promise<void>((end, fail) => running.set(name, (failed) => (failed ? fail(failed) : end()))),
      ),
    );
  const end = async (name: string, failed?: Error) => {
    running.get(name)?.(failed);
    running.delete(name);
    await Promise.allSettled([results.shift()]);
  };
  return { start, end, running: () => [...running.keys()] };
}

describe('the memory of hashes that run at the same time', () => {
  it('stays within the limit: the rest waits in its order, also behind a large one that does not fit yet', async () => {
    const { start, end, running } = given(100);
    for (const [name, bytes] of Object.entries({ a: 60, b: 40, c: 100, d: 10, free: 0 })) start(name, bytes);
    expect(running()).toEqual(['a', 'b']);
    await end('a');
    expect(running()).toEqual(['b']);
    await end('b');
    expect(running()).toEqual(['c']);
    await end('c');
    expect(running()).toEqual(['d', 'free']);
  });

  it('is given back by a work that fails', async () => {
    const { start, end, running } = given(100);
    start('a', 100);
    start('b', 100);
    await end('a', new Error('the thread died'));
    expect(running()).toEqual(['b']);
  });
});
