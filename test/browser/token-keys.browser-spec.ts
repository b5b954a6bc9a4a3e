import { join, resolve } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { Chromium } from '../support/servers/chromium';

const sdk = resolve(__dirname, '../../sdk/typescript/dist');
/** No server: the test answers for it. Browsers have keys at `localhost` without https. */
const origin = 'http://localhost:9';

describe('two tabs of one browser that sign in for the first time', () => {
  let chromium: Chromium;
  let visitor: BrowserContext;
  let tabs: Page[];

  beforeAll(async () => {
    chromium = await Chromium.start();
    visitor = await chromium.newVisitor();
    await visitor.route(`${origin}/**`, (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/')
        return route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>tab</title>' });
      return route.fulfill({ path: join(sdk, pathname), contentType: 'text/javascript' });
    });
    tabs = await Promise.all([1, 2].map(() => visitor.newPage()));
    await Promise.all(tabs.map((tab) => tab.goto(origin)));
  });
  // It is missing when the browser does not start.
  afterAll(() => chromium?.stop());

  /** @returns the public key of the proof that the sign-in of this tab carries */
  const keyOf = (tab: Page) =>
    tab.evaluate<string>(`(async () => {
      const { PortalAuth } = await import('/index.js');
      let key;
      const auth = new PortalAuth({
        baseUrl: '',
        fetch: async ({ headers }) => {
          key = atob(headers.get('dpop').split('.')[0].replaceAll('-', '+').replaceAll('_', '/'));
          throw new TypeError('no answer');
        },
      });
      await auth.login({ username: 'ann', password: 'x', captchaToken: 'x' }).catch(() => undefined);
      auth.dispose();
      return key;
    })()`);

  it('use one key, whichever of them was first, in each of 30 rounds', async () => {
    const keys = new Set<string>();
    for (let round = 1; round <= 30; round++) {
      await tabs[0]!.evaluate(`new Promise((done, failed) => {
        Object.assign(indexedDB.deleteDatabase('portal-auth.key'), { onsuccess: done, onerror: failed });
      })`);
      const [one, other] = await Promise.all(tabs.map(keyOf));
      expect([round, other]).toEqual([round, one]);
      expect(await keyOf(tabs[1]!)).toBe(one);
      keys.add(one!);
    }
    expect(keys.size).toBe(30);
  });
});
