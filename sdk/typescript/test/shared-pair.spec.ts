import { SharedPair, type Tokens } from '../dist/shared-pair.js';
import type { KeyValueStorage } from '../dist/storage.js';
import { ended, markOf, type Successors, successorsIn } from '../dist/successors.js';
import { fakeLocks, FakeClock, settled } from './world';

const first: Tokens = { access: 'access-1', refresh: 'refresh-1' };
const second: Tokens = { access: 'access-2', refresh: 'refresh-2' };

/** One browser. Each tab has its own view of the storage, and sees what the others wrote when the test says so. */
class Browser {
  readonly clock = new FakeClock();
  readonly leftovers: Tokens[] = [];
  private readonly locks = fakeLocks();
  private readonly table = new Map<string, string>();

  readonly successors: Successors = {
    of: (access) => Promise.resolve(this.table.get(access)),
    set: (access, next, former) => {
      const won = this.table.get(access) === former;
      if (won) this.table.set(access, next);
      return Promise.resolve(won);
    },
  };

  tab(): { pair: SharedPair; sees: (tokens: Tokens | undefined) => void } {
    const view = new Map<string, string>();
    const storage: KeyValueStorage = {
      getItem: (key) => view.get(key) ?? null,
      setItem: (key, value) => void view.set(key, value),
      removeItem: (key) => void view.delete(key),
    };
    const exclusive = { run: <T>(work: () => Promise<T>) => this.locks.request('lock', work) };
    const ports = { exclusive, successors: this.successors, clock: this.clock };
    const pair = new SharedPair(storage, 'pair', ports, (tokens) => this.leftovers.push(tokens));
    return {
      pair,
      sees: (tokens) => (tokens ? storage.setItem('pair', JSON.stringify(tokens)) : storage.removeItem('pair')),
    };
  }
}

describe('the pair of all tabs, where a tab sees a change late', () => {
  it('a tab that still sees a replaced pair waits for the new one', async () => {
    const browser = new Browser();
    const [one, other] = [browser.tab(), browser.tab()];
    for (const tab of [one, other]) tab.sees(first);
    expect(await one.pair.replace((await one.pair.newest())!, second)).toBe(true);

    let newest: Tokens | undefined;
    const waiting = other.pair.newest().then((seen) => (newest = seen?.tokens));
    await browser.clock.pass(0.01);
    expect(newest).toBeUndefined();
    other.sees(second);
    await browser.clock.pass(1);
    await waiting;
    expect(newest).toEqual(second);
  });

  it('a sign-out wins over a tab that still sees the pair and renews it', async () => {
    const browser = new Browser();
    const [one, other] = [browser.tab(), browser.tab()];
    for (const tab of [one, other]) tab.sees(first);
    const seen = (await other.pair.newest())!;
    one.pair.close();
    expect(await other.pair.replace(seen, second)).toBe(false);
    expect(other.pair.tokens).toEqual(first);
    // The tab that asks now has not seen the sign-out either.
    const newest = other.pair.newest();
    await browser.clock.pass(0.01);
    other.sees(undefined);
    await browser.clock.pass(1);
    expect(await newest).toBeUndefined();
  });

  it('a pair that another tab stores after the sign-out is removed, and its session is ended', async () => {
    const browser = new Browser();
    const [one, other] = [browser.tab(), browser.tab()];
    for (const tab of [one, other]) tab.sees(first);
    await other.pair.replace((await other.pair.newest())!, second);
    one.pair.close();
    await settled();
    one.sees(second);
    await browser.clock.pass(3);
    expect(one.pair.tokens).toBeUndefined();
    expect(browser.leftovers).toEqual([second]);
    expect(await browser.successors.of(second.access)).toBe(ended);
  });

  it('the sign-in after a sign-out stays', async () => {
    const browser = new Browser();
    const [one, other] = [browser.tab(), browser.tab()];
    for (const tab of [one, other]) tab.sees(first);
    await other.pair.replace((await other.pair.newest())!, second);
    one.pair.close();
    const third = { access: 'access-3', refresh: 'refresh-3' };
    one.pair.open(third);
    await browser.clock.pass(3);
    expect(one.pair.tokens).toEqual(third);
    expect(browser.leftovers).toEqual([]);
  });

  it('the former pair is used again when the tab that replaced it was closed before it stored the new pair', async () => {
    const browser = new Browser();
    const tab = browser.tab();
    tab.sees(first);
    await browser.successors.set(first.access, markOf(second.access));
    const newest = tab.pair.newest();
    await browser.clock.pass(3);
    const seen = (await newest)!;
    expect(seen.tokens).toEqual(first);
    expect(await tab.pair.replace(seen, second)).toBe(true);
    expect((await tab.pair.newest())?.tokens).toEqual(second);
  });

  it('a session that has ended does not come back in a tab that was closed before it removed the pair', async () => {
    const browser = new Browser();
    const tab = browser.tab();
    tab.sees(first);
    await browser.successors.set(first.access, ended);
    const newest = tab.pair.newest();
    await browser.clock.pass(3);
    expect(await newest).toBeUndefined();
    expect(tab.pair.tokens).toBeUndefined();
  });

  it.each([
    ['does not answer', { open: () => ({}) }],
    [
      'is forbidden',
      {
        open: () => {
          throw new Error('SecurityError');
        },
      },
    ],
  ])('a database that %s delays a tab by two seconds at most', async (_case, indexedDB) => {
    Object.assign(globalThis, { indexedDB });
    try {
      const clock = new FakeClock();
      const successors = successorsIn('test', clock);
      const answers = Promise.all([successors.of('access-1'), successors.set('access-1', ended)]);
      await clock.pass(2);
      expect(await answers).toEqual([undefined, true]);
    } finally {
      Reflect.deleteProperty(globalThis, 'indexedDB');
    }
  });

  it('a mark tells pairs apart and contains no part of the token', () => {
    const marks = Array.from({ length: 1000 }, (_, i) => markOf(`header.payload.signature-${i}`));
    expect(new Set(marks).size).toBe(1000);
    expect(marks.filter((mark) => !/^[0-9a-z]{1,7}-[0-9a-z]{1,7}$/.test(mark))).toEqual([]);
  });
});
