import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { sizes, takePicture } from '../support/browser/pictures';
import { PortalSite } from '../support/browser/portal-site';
import { DirectoryStub } from '../support/directory-stub';

const languages = ['en', 'de', 'zh-CN'];

/** Pixels by which the page is higher than the window. */
const hidden = (page: Page): Promise<number> =>
  page.evaluate<number>('Math.max(0, document.documentElement.scrollHeight - innerHeight)');

describe('the login page on a phone of 375 × 667', () => {
  let site: PortalSite;
  let directory: DirectoryStub;
  beforeAll(async () => {
    directory = await DirectoryStub.start();
    site = await PortalSite.start(directory.settings, 'localhost');
  });
  afterAll(async () => {
    await site.stop();
    await directory.stop();
  });

  it.each(languages)(
    'fits into the window in %s, with the name or address and the button for passkeys',
    async (locale) => {
      const page = await site.visitor({ locale, viewport: sizes.phone });
      await page.goto('/');
      await page.locator('button[type=button].with-icon').waitFor();
      await page.locator('footer').waitFor();
      await takePicture(page, `login-directory-phone-${locale}`);
      await becomes(() => hidden(page), 0);
      await page.context().close();
    },
  );
});

// Features on which no page may depend: they are newer than Chrome 111, Firefox 115 and Safari 16.2 (portal/README.md).
const newStyles = /light-dark\(|:has\(|@scope|@starting-style|@container|anchor\(|&\s|text-box|@property/;
const newScripts =
  /AbortSignal\.any\(|withResolvers\(|\.groupBy\(|\bIterator\.|URL\.canParse\(|fromAsync\(|\.toSorted\([^)]*\)\.values|RegExp\.escape|\.isWellFormed\(|Symbol\.dispose|\bnew URLPattern/;

describe('the built pages', () => {
  const folder = join(__dirname, '../../portal/dist/assets');
  const filesOf = (ending: string): [string, string][] =>
    readdirSync(folder)
      .filter((file) => file.endsWith(ending))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]);

  it('use no style that is newer than the supported browsers', () => {
    const styles = filesOf('.css');
    expect(styles.length).toBeGreaterThan(0);
    for (const [file, text] of styles) expect([file, newStyles.exec(text)?.[0]]).toEqual([file, undefined]);
  });

  it('use no function that is newer than the supported browsers', () => {
    const scripts = filesOf('.js');
    expect(scripts.length).toBeGreaterThan(0);
    for (const [file, text] of scripts) expect([file, newScripts.exec(text)?.[0]]).toEqual([file, undefined]);
  });
});
