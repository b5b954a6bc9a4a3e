import { KeyedSemaphore } from './keyed-semaphore';

const distantDeadline = () => performance.now() + 60_000;
const manyPermits = () => Promise.resolve(100);

/** Work that runs until `end` is called. */
function task() {
  let end!: () => void;
  let started = false;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return {
    work: async () => {
      started = true;
      await ended;
    },
    end,
    get started() {
      return started;
    },
  };
}

const eventLoopTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('KeyedSemaphore', () => {
  it('admits as many tasks as the key has permits, and the others in the order of arrival', async () => {
    const semaphore = new KeyedSemaphore({ perKey: 2, total: 10, waiting: 10 });
    const tasks = [task(), task(), task(), task()];
    const all = tasks.map(({ work }) => semaphore.run('a', distantDeadline(), manyPermits, work));
    await eventLoopTurn();
    expect(tasks.map(({ started }) => started)).toEqual([true, true, false, false]);
    tasks[1]!.end();
    await all[1];
    await eventLoopTurn();
    expect(tasks.map(({ started }) => started)).toEqual([true, true, true, false]);
    tasks.forEach(({ end }) => end());
    await Promise.all(all);
  });

  it('a key that is full does not delay another key until the total is reached', async () => {
    const semaphore = new KeyedSemaphore({ perKey: 1, total: 2, waiting: 10 });
    const tasks = [task(), task(), task(), task()];
    const all = tasks.map(({ work }, n) =>
      semaphore.run(['a', 'a', 'b', 'c'][n]!, distantDeadline(), manyPermits, work),
    );
    await eventLoopTurn();
    expect(tasks.map(({ started }) => started)).toEqual([true, false, true, false]);
    tasks[0]!.end();
    await all[0];
    await eventLoopTurn();
    expect(tasks.filter(({ started }) => started)).toHaveLength(3);
    tasks.forEach(({ end }) => end());
    await Promise.all(all);
  });

  it('reads the permits again after each release, so no more guesses start than the lock allows', async () => {
    let recorded = 0;
    let underWay = 0;
    let begun = 0;
    const semaphore = new KeyedSemaphore({ perKey: 3, total: 10, waiting: 200 });
    const guess = () =>
      semaphore.run(
        'a',
        distantDeadline(),
        async () => {
          const left = 3 - recorded;
          await eventLoopTurn();
          if (left <= 0) throw new Error('locked');
          return left;
        },
        async () => {
          begun++;
          underWay++;
          expect(underWay + recorded).toBeLessThanOrEqual(3);
          await eventLoopTurn();
          underWay--;
          recorded++;
        },
      );
    const results = await Promise.allSettled(Array.from({ length: 100 }, guess));
    expect(begun).toBe(3);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(97);
  });

  it('a waiter is rejected with LOGIN_503001 at its deadline, and the next one is admitted in its place', async () => {
    const semaphore = new KeyedSemaphore({ perKey: 1, total: 10, waiting: 10 });
    const first = task();
    const holding = semaphore.run('a', distantDeadline(), manyPermits, first.work);
    const late = semaphore.run('a', performance.now() + 20, manyPermits, () => Promise.resolve('late'));
    const patient = semaphore.run('a', distantDeadline(), manyPermits, () => Promise.resolve('patient'));
    await expect(late).rejects.toMatchObject({ entry: { code: 'LOGIN_503001' } });
    first.end();
    await holding;
    expect(await patient).toBe('patient');
  });

  it('when the queue is full, a further login is rejected with LOGIN_503001 at once', async () => {
    const semaphore = new KeyedSemaphore({ perKey: 1, total: 10, waiting: 1 });
    const first = task();
    const holding = semaphore.run('a', distantDeadline(), manyPermits, first.work);
    await eventLoopTurn();
    const waiting = semaphore.run('a', distantDeadline(), manyPermits, () => Promise.resolve());
    await expect(semaphore.run('b', distantDeadline(), manyPermits, () => Promise.resolve())).rejects.toMatchObject({
      entry: { code: 'LOGIN_503001' },
    });
    first.end();
    await Promise.all([holding, waiting]);
  });

  it('work that fails releases its permits', async () => {
    const semaphore = new KeyedSemaphore({ perKey: 1, total: 1, waiting: 10 });
    await expect(
      semaphore.run('a', distantDeadline(), manyPermits, () => Promise.reject(new Error('broken'))),
    ).rejects.toThrow('broken');
    expect(await semaphore.run('a', distantDeadline(), manyPermits, () => Promise.resolve('next'))).toBe('next');
  });
});
