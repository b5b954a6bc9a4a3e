import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { adminSettings } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, overflow, resize, schemes, sizes } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { DirectoryStub } from '../support/directory-stub';
import { eventually } from '../support/servers/eventually';

const logo = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="900"><rect width="300" height="900"/></svg>';
const links = {
  Help: 'mailto:help@example.com',
  Privacy: 'https://example.com/privacy',
  Imprint: 'https://example.com/imprint',
};

describe('the pages show what the service offers, and the brand of the company', () => {
  let site: PortalSite;
  let directory: DirectoryStub;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'brand-'));
    writeFileSync(join(folder, 'logo.svg'), logo);
    directory = await DirectoryStub.start();
    site = await PortalSite.start({
      ...directory.settings,
      BRAND_NAME: 'Example Corp',
      BRAND_DIR: folder,
      BRAND_LOGO_URL: '/brand/logo.svg',
      BRAND_COLOR: '#8a1538',
      SUPPORT_URL: links.Help,
      PRIVACY_URL: links.Privacy,
      IMPRINT_URL: links.Imprint,
    });
  });
  afterAll(async () => {
    await site.stop();
    await directory.stop();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** Opens the login page. The request for `/capabilities` waits until the test answers it. */
  const openBefore = async (options = {}): Promise<{ page: Page; answer: Promise<Route> }> => {
    const page = await site.visitor(options);
    let asked: (route: Route) => void;
    const answer = new Promise<Route>((resolve) => (asked = resolve));
    await page.route('**/capabilities', (route) => asked(route));
    await page.goto('/');
    await on(page).field('Password').waitFor();
    return { page, answer };
  };

  it.each(schemes)('name, logo, colour and links, accessible in the %s theme', async (colorScheme) => {
    const page = await site.visitor({ colorScheme });
    await page.goto('/');
    const image = page.getByRole('img', { name: 'Example Corp' });
    await image.waitFor();
    const height = `document.querySelector('header img').decode().then(() => document.querySelector('header img').naturalHeight)`;
    expect(await page.evaluate<number>(height)).toBe(900);
    await becomes(async () => (await image.boundingBox())?.height, 32);
    const named = async () => (await page.title()) === 'Sign in · Example Corp';
    await eventually(named, { what: 'the name of the company in the title' });
    const colour = `getComputedStyle(document.querySelector('button[type=submit]')).backgroundColor`;
    await becomes(() => page.evaluate<string>(colour), 'rgb(138, 21, 56)');
    for (const [name, url] of Object.entries(links)) {
      expect(await on(page).link(name).getAttribute('href')).toBe(url);
    }
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('when the logo does not load, the name of the company is shown', async () => {
    const page = await site.visitor();
    await page.route('**/brand/logo.svg', (route) => route.fulfill({ status: 404 }));
    await page.goto('/');
    await page.locator('header').getByText('Example Corp').waitFor();
    await page.getByRole('img').waitFor({ state: 'detached' });
  });

  it.each(Object.entries(sizes))('on a %s no field moves when /capabilities is answered', async (_size, viewport) => {
    const { page, answer } = await openBefore({ viewport });
    const places = async () =>
      Promise.all(['User name', 'Password'].map((label) => on(page).field(label).boundingBox()));
    const before = await places();
    await (await answer).continue();
    await page.getByRole('img', { name: 'Example Corp' }).waitFor();
    expect(await places()).toEqual(before);
  });

  it('a login does not need /capabilities: the form is there before the answer, and works without it', async () => {
    const page = await site.visitor();
    let fail = (): void => undefined;
    const held = new Promise<void>((resolve) => (fail = resolve));
    await page.route('**/capabilities', async (route) => {
      await held;
      await route.fulfill({ status: 503, body: 'down' });
    });
    await page.goto('/');
    await on(page).field('Password').waitFor();
    fail();
    const loginName = await site.newUser();
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
    await page.locator('header').getByText('Portal').waitFor();
    // The browser writes a status of 5xx to the console, and no more after the end of the page.
    await page.context().close();
    expect(site.takeComplaints().filter((one) => !one.includes('503'))).toEqual([]);
  });

  it('features that the service does not offer are not shown: no password reset, no sign-in by address, no links', async () => {
    const { page, answer } = await openBefore();
    await on(page).link('Forgot password?').waitFor();
    const route = await answer;
    const { data } = (await (await route.fetch()).json()) as { data: Record<string, unknown> };
    const brand = {
      name: null,
      logo_url: null,
      color: '#2457c5',
      support_url: null,
      privacy_url: null,
      imprint_url: null,
    };
    const json = {
      status: true,
      data: { ...data, providers: ['password'], login_by_email: false, password_reset: false, brand },
    };
    await route.fulfill({ json });
    await on(page).link('Forgot password?').waitFor({ state: 'detached' });
    await page.locator('header').getByText('Portal').waitFor();
    await on(page).field('User name').waitFor();
    await page.getByLabel('User name or e-mail address').waitFor({ state: 'detached' });
    for (const name of Object.keys(links)) await on(page).link(name).waitFor({ state: 'detached' });
  });
});

describe('a brand that is hard to place', () => {
  const name = 'The Very Long Name of a Company of Companies and Sons Ltd. & Co.'.padEnd(64, '.');
  let site: PortalSite;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'brand-'));
    for (const file of ['logo.svg', 'white.svg', 'icon.svg']) writeFileSync(join(folder, file), logo);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    const complaints = site.takeComplaints();
    await site.stop();
    expect(complaints).toEqual([]);
  });

  const images = (selector: string): string =>
    `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((image) => image.checkVisibility())
      .map((image) => new URL(image.src).pathname + ' on ' + getComputedStyle(image).backgroundColor)`;

  it('a name of 64 characters leaves the login form its width, in every width of the window', async () => {
    site = await PortalSite.start({ BRAND_NAME: name });
    const page = await site.visitor();
    await page.goto('/');
    await page.locator('header').getByText(name).waitFor();
    for (const width of [375, 959, 960, 1024, 1137, 1280]) {
      await resize(page, { width, height: 800 });
      expect([width, await overflow(page)]).toEqual([width, 0]);
      expect((await on(page).field('Password').boundingBox())!.width).toBeGreaterThan(280);
      const words = (await page.locator('.brand-name span').boundingBox())!;
      expect(words.x + words.width).toBeLessThanOrEqual(width);
    }
  });

  it('a single logo stands on the brand colour in the console, and where the system forces its colours', async () => {
    const settings = { BRAND_NAME: 'Example Corp', BRAND_DIR: folder, BRAND_COLOR: '#8a1538' };
    site = await PortalSite.start({ ...settings, ...adminSettings, BRAND_LOGO_URL: '/brand/white.svg' });
    const page = await site.signIn(await site.newUser({ isAdmin: true }));
    await page.goto('/admin');
    await on(page).heading('Overview').waitFor();
    const plate = ['/brand/white.svg on rgb(138, 21, 56)'];
    await becomes(() => page.evaluate(images('.side img')), plate);
    await page.emulateMedia({ forcedColors: 'active' });
    await becomes(() => page.evaluate(images('.side img')), plate);
    await page.goto('/account');
    await page.locator('.brand img').waitFor();
    await becomes(() => page.evaluate(images('.brand img')), plate);
  });

  it('with two logos the theme decides in the console, and the tab has the icon of the company', async () => {
    const urls = { BRAND_LOGO_URL: '/brand/logo.svg', BRAND_LOGO_DARK_URL: '/brand/white.svg' };
    const settings = { BRAND_DIR: folder, BRAND_FAVICON_URL: '/brand/icon.svg', ...urls };
    site = await PortalSite.start({ ...settings, ...adminSettings });
    const page = await site.signIn(await site.newUser({ isAdmin: true }));
    const none = 'on rgba(0, 0, 0, 0)';
    await becomes(() => page.evaluate(images('.brand img')), [`/brand/white.svg ${none}`]);
    await becomes(() => page.locator('link[rel=icon]').getAttribute('href'), `${site.url}/brand/icon.svg`);
    await page.goto('/admin');
    await on(page).heading('Overview').waitFor();
    await becomes(() => page.evaluate(images('.side img')), [`/brand/logo.svg ${none}`]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await becomes(() => page.evaluate(images('.side img')), [`/brand/white.svg ${none}`]);
  });
});
