import type { BrowserContextOptions, Page } from 'playwright-core';
import { PortalSite } from '../support/browser/portal-site';

describe('the language of the pages', () => {
  let site: PortalSite;
  /** The languages whose files the last page has loaded. */
  let loaded: string[];

  beforeAll(async () => {
    site = await PortalSite.start();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const open = async (path: string, options: BrowserContextOptions): Promise<Page> => {
    const page = await site.visitor(options);
    loaded = [];
    page.on('request', (request) => {
      const language = /\/assets\/(en|de|zh-CN)-[\w-]+\.js$/.exec(request.url())?.[1];
      if (language !== undefined) loaded.push(language);
    });
    await page.addInitScript(`
      globalThis.headings = new Set();
      new MutationObserver(() => {
        const heading = document.querySelector('h1')?.textContent;
        if (heading !== undefined) headings.add(heading);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    `);
    await page.goto(path);
    await page.locator('h1').waitFor();
    return page;
  };
  const headings = (page: Page): Promise<string[]> => page.evaluate<string[]>('[...headings]');

  it.each([
    ['en-GB', 'en', 'Sign in'],
    ['de-AT', 'de', 'Anmelden'],
    ['zh-CN', 'zh-CN', '登录'],
    ['fr-FR', 'en', 'Sign in'],
  ])('a browser in %s loads and shows the texts of %s alone', async (locale, language, heading) => {
    const page = await open('/', { locale });
    expect(await headings(page)).toEqual([heading]);
    // The page says its language a moment after it has drawn its heading.
    await page.locator(`html[lang=${language}]`).waitFor();
    expect(loaded).toEqual([language]);
    await page.context().close();
  });

  it('is that of a mailed link, until the user chooses another', async () => {
    const page = await open('/forgot-password?lang=de', { locale: 'zh-CN' });
    expect(await headings(page)).toEqual(['Passwort vergessen?']);
    await page.getByLabel('Sprache').selectOption({ label: 'English' });
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
    expect(loaded).toEqual(['de', 'en']);
    await page.reload();
    await page.locator('h1').waitFor();
    expect(await headings(page)).toEqual(['Forgot your password?']);
    await page.context().close();
  });

  it('can be chosen by its own name', async () => {
    const page = await open('/', {});
    const names = await page.getByLabel('Language').locator('option').allTextContents();
    expect(names).toEqual(['English', 'Deutsch', '中文']);
    await page.context().close();
  });

  it('stays as it is when the file of another language cannot be loaded', async () => {
    const page = await open('/', {});
    await page.route('**/assets/de-*.js', (route) => route.abort());
    await page.getByLabel('Language').selectOption('de');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '登录' }).waitFor();
    expect(await headings(page)).toEqual(['Sign in', '登录']);
    await page.context().close();
    // The browser logs the aborted request to the console.
    site.takeComplaints();
  });
});
