import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { password } from '../support/app';
import { becomes } from '../support/browser/becomes';
import { overflow, sizes, takePicture } from '../support/browser/pictures';
import { PortalSite } from '../support/browser/portal-site';
import { RelyingParty } from '../support/browser/relying-party';
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

describe('text of twice the size on a phone of 375 × 667 (WCAG 1.4.4)', () => {
  let site: PortalSite;
  let wiki: RelyingParty;
  beforeAll(async () => {
    site = await PortalSite.start({ OIDC: 'on', MFA_TRUSTED_DEVICE_DAYS: '30' }, 'localhost');
    wiki = await RelyingParty.start(site, { name: 'Wiki', firstParty: false });
  });
  afterAll(async () => {
    await wiki.stop();
    await site.stop();
  });

  it.each(languages)(
    'is whole, without sideways scrolling, on each page of the account and of the consent in %s',
    async (locale) => {
      const page = await site.visitor({ locale, viewport: sizes.phone });
      await page.goto('/');
      await page.locator('[name=username]').fill(await site.newUser());
      await page.locator('[name=password]').fill(password);
      await page.locator('form [type=submit]').click();
      for (const path of ['', '/security', '/devices', '/activity', '/authenticator']) {
        if (path !== '') await page.goto(`/account${path}`);
        await page
          .locator(path === '/authenticator' ? '.qr img' : '.panel h2')
          .first()
          .waitFor();
        await page.evaluate('document.documentElement.style.fontSize = "200%"');
        await takePicture(page, `account${path.replace('/', '-')}-large-text-${locale}`);
        expect([path, await overflow(page)]).toEqual([path, 0]);
        await becomes(() => page.evaluate<string[]>(cutNames), []);
      }
      await page.goto(wiki.start());
      await page.locator('.scopes').waitFor();
      await page.evaluate('document.documentElement.style.fontSize = "200%"');
      await takePicture(page, `consent-large-text-${locale}`);
      expect(await overflow(page)).toBe(0);
      await page.context().close();
    },
  );
});

/** The sections in the navigation whose name is wider than its place. */
const cutNames = `[...document.querySelectorAll('.account nav a span')]
  .filter((name) => name.getBoundingClientRect().width > name.parentElement.clientWidth).map((name) => name.textContent)`;

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
