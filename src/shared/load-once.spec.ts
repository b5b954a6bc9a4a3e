import { loadOnce } from './load-once';

describe('loadOnce', () => {
  it('parallel and later callers share one load', async () => {
    let loads = 0;
    const load = loadOnce(() => Promise.resolve(++loads));
    expect(await Promise.all([load(), load()])).toEqual([1, 1]);
    expect(await load()).toBe(1);
  });

  it('after a failed load the next caller tries again', async () => {
    let loads = 0;
    const load = loadOnce(() => {
      if (++loads === 1) return Promise.reject(new Error('EMFILE'));
      return Promise.resolve(loads);
    });
    const first = await Promise.allSettled([load(), load()]);
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await load()).toBe(2);
  });
});
