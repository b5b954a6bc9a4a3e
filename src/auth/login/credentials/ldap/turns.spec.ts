import { Turns } from './turns';

const far = () => performance.now() + 60_000;
const many = () => Promise.resolve(100);

/** Work that ends when told to. */
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

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('turns at the directory', () => {
  it('a few at a time for one user, the others in the order of arrival', async () => {
    const turns = new Turns({ perKey: 2, total: 10, waiting: 10 });
    const tasks = [task(), task(), task(), task()];
    const all = tasks.map(({ work }) => turns.take('a', far(), many, work));
    await settle();
    expect(tasks.map(({ started }) => started)).toEqual([true, true, false, false]);
    tasks[1]!.end();
    await all[1];
    await settle();
    expect(tasks.map(({ started }) => started)).toEqual([true, true, true, false]);
    tasks.forEach(({ end }) => end());
    await Promise.all(all);
  });

  it('one user does not hold up another, a few over all do', async () => {
    const turns = new Turns({ perKey: 1, total: 2, waiting: 10 });
    const tasks = [task(), task(), task(), task()];
    const all = tasks.map(({ work }, n) => turns.take(['a', 'a', 'b', 'c'][n]!, far(), many, work));
    await settle();
    expect(tasks.map(({ started }) => started)).toEqual([true, false, true, false]);
    tasks[0]!.end();
    await all[0];
    await settle();
    expect(tasks.filter(({ started }) => started)).toHaveLength(3);
    tasks.forEach(({ end }) => end());
    await Promise.all(all);
  });

  it('no more under way than guesses are left, read afresh after each of them was recorded', async () => {
    let recorded = 0;
    let underWay = 0;
    let begun = 0;
    const turns = new Turns({ perKey: 3, total: 10, waiting: 200 });
    const guess = () =>
      turns.take(
        'a',
        far(),
        async () => {
          const left = 3 - recorded;
          await settle();
          if (left <= 0) throw new Error('locked');
          return left;
        },
        async () => {
          begun++;
          underWay++;
          expect(underWay + recorded).toBeLessThanOrEqual(3);
          await settle();
          underWay--;
          recorded++;
        },
      );
    const results = await Promise.allSettled(Array.from({ length: 100 }, guess));
    expect(begun).toBe(3);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(97);
  });

  it('who waits too long is turned away, and its place is free for the next', async () => {
    const turns = new Turns({ perKey: 1, total: 10, waiting: 10 });
    const first = task();
    const holding = turns.take('a', far(), many, first.work);
    const late = turns.take('a', performance.now() + 20, many, () => Promise.resolve('late'));
    const patient = turns.take('a', far(), many, () => Promise.resolve('patient'));
    await expect(late).rejects.toMatchObject({ entry: { code: 'LOGIN_503001' } });
    first.end();
    await holding;
    expect(await patient).toBe('patient');
  });

  it('too many waiting are turned away at once', async () => {
    const turns = new Turns({ perKey: 1, total: 10, waiting: 1 });
    const first = task();
    const holding = turns.take('a', far(), many, first.work);
    await settle();
    const waiting = turns.take('a', far(), many, () => Promise.resolve());
    await expect(turns.take('b', far(), many, () => Promise.resolve())).rejects.toMatchObject({
      entry: { code: 'LOGIN_503001' },
    });
    first.end();
    await Promise.all([holding, waiting]);
  });

  it('work that fails gives its turn back', async () => {
    const turns = new Turns({ perKey: 1, total: 1, waiting: 10 });
    await expect(turns.take('a', far(), many, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await turns.take('a', far(), many, () => Promise.resolve('next'))).toBe('next');
  });
});
