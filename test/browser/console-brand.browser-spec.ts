import type { BrowserContext, Dialog, Page } from 'playwright-core';
import { adminSettings, copiedSessions } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { look } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { svgOf } from '../support/images';

const svg = (fill: string) => svgOf(`<path d="M0 0h4v4z" fill="${fill}"/>`, 'width="120" height="40"');
const file = (name: string, mimeType: string, text: string) => ({ name, mimeType, buffer: Buffer.from(text) });
const logo = file('logo.svg', 'image/svg+xml', svg('#123456'));
const colorOf = (selector: string) =>
  `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`;

/** docs/spec/extensions.md#brand, as an administrator and a visitor use it. */
describe('the brand of a tenant in the console and on the pages', () => {
  let site: PortalSite;
  let root: ReturnType<BrowserContext['storageState']>;
  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions, BRAND_NAME: 'Env Corp' });
    await site.service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [
      site.service.clock.now(),
    ]);
    const page = await site.visitor();
    await page.goto('/admin');
    await on(page).logIn(await site.newUser({ isAdmin: true, nickname: 'Olivia Root' }));
    await on(page).heading('Overview').waitFor();
    root = page.context().storageState();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const opened = async (): Promise<Page> => {
    const page = await site.visitor({ storageState: await root });
    await page.goto('/admin#/brand/acme');
    await on(page).heading('Brand').waitFor();
    await on(page).field('Tagline').waitFor();
    return page;
  };

  it('the preview shows the login page, the account and a mail in both themes, before anything is saved', async () => {
    const page = await opened();
    await on(page).field('Name').fill('Acme');
    await on(page).field('Tagline').fill('Everything fast');
    await on(page).field('Colour').fill('#a01030');
    const pictures = page.getByRole('img', { name: /, (Light|Dark)$/ });
    const both = expect.stringMatching(/Acme[^]*Everything fast/) as unknown;
    await becomes(() => pictures.allInnerTexts(), [both, both]);
    await becomes(() => page.evaluate(colorOf('.preview.light .preview-button')), 'rgb(160, 16, 48)');
    expect(await page.evaluate(colorOf('.preview.light'))).not.toBe(await page.evaluate(colorOf('.preview.dark')));
    await page.getByLabel('Logo on dark backgrounds').setInputFiles(logo);
    await page.locator('.preview.dark .preview-name img[src^="blob:"]').waitFor();
    await look(page, 'brand-login');
    for (const name of ['Account', 'Mail']) {
      await on(page).button(name).click();
      await becomes(() => pictures.count(), 2);
      await look(page, `brand-${name.toLowerCase()}`);
    }
    expect(await site.service.count('brands')).toBe(0);
  });

  it('a file that cannot be taken is refused in words, by the page and by the service', async () => {
    const page = await opened();
    const field = page.getByLabel('Logo on light backgrounds');
    await field.setInputFiles(file('logo.gif', 'image/gif', 'GIF89a'));
    await page.getByText('This is no PNG, WebP or SVG image.').waitFor();
    await field.setInputFiles(file('logo.png', 'image/png', 'x'.repeat(256 * 1024 + 1)));
    await page.getByText('This file is larger than 256 KB.').waitFor();
    await field.setInputFiles(file('logo.png', 'image/png', '<html>'));
    await page.getByText('This file cannot be shown as an image.').waitFor();
    await field.setInputFiles(file('logo.svg', 'image/svg+xml', svgOf('<script>alert(1)</script>')));
    await page.locator('.drop-image img[src^="blob:"]').waitFor();
    await on(page).button('Save brand').click();
    await page.getByText('Must have no <script>').waitFor();
    await on(page).field('Colour').fill('#ffff00');
    await page.getByText('White text has a contrast of only 1.07:1 on it').waitFor();
    expect(await site.service.count('brands')).toBe(0);
  });

  it('an image is dropped onto its field, and unsaved work is not lost by a click elsewhere', async () => {
    const page = await opened();
    const data = await page.evaluateHandle(
      `(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(svg('#654321'))}], 'logo.svg', { type: 'image/svg+xml' }));
        return data;
      })()`,
    );
    await page.locator('.drop').first().dispatchEvent('drop', { dataTransfer: data });
    await page.locator('.drop-image img[src^="blob:"]').waitFor();
    const asked: string[] = [];
    page.on('dialog', (question: Dialog) => {
      asked.push(question.message());
      void question.dismiss();
    });
    await page.getByRole('link', { name: 'Users' }).first().click();
    expect(asked).toEqual(['Your changes are not saved. Leave without saving them?']);
    await on(page).heading('Brand').waitFor();
    await on(page).button('Discard changes').click();
    await page.locator('.drop-image img').waitFor({ state: 'detached' });
  });

  it('a browser that has opened /?tenant=ID shows the brand from then on, and ?tenant= forgets it', async () => {
    const page = await opened();
    await on(page).field('Name').fill('Acme');
    await on(page).field('Tagline').fill('Everything fast');
    await on(page).field('Colour').fill('#a01030');
    await page.getByLabel('Icon of the browser tab').setInputFiles(logo);
    await on(page).button('Save brand').click();
    await page.getByText('The brand is saved.').waitFor();
    await page.locator('.drop-image img[src*="/brand/"]').waitFor();

    const visitor = await site.visitor();
    for (const path of ['/?tenant=acme', '/', '/forgot-password']) {
      await visitor.goto(path);
      await visitor.locator('.brand-name').getByText('Acme', { exact: true }).waitFor();
      await visitor.locator('.tagline').getByText('Everything fast', { exact: true }).waitFor();
      await becomes(
        () => visitor.locator('link[rel=icon]').getAttribute('href'),
        expect.stringMatching(/\/brand\/[0-9a-f]{40}\.svg$/),
      );
    }
    await look(visitor, 'brand-of-tenant');
    for (const path of ['/?tenant=%3Cb%3E', '/?tenant=', '/']) {
      await visitor.goto(path);
      await visitor.locator('.brand-name').getByText('Env Corp').waitFor();
      await visitor.getByText('One account for everything you work with.', { exact: true }).waitFor();
    }
  });
});
