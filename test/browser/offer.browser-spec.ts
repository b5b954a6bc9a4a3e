import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { accessibilityViolations, schemes, sizes } from '../support/browser/pictures';
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
    expect((await image.boundingBox())!.height).toBe(32);
    const named = async () => (await page.title()) === 'Sign in · Example Corp';
    await eventually(named, { what: 'the name of the company in the title' });
    const colour = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('button[type=submit]')).backgroundColor`,
    );
    expect(colour).toBe('rgb(138, 21, 56)');
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
    expect(await page.getByRole('img').count()).toBe(0);
  });

  it.each(Object.entries(sizes))('on a %s no field moves when /capabilities is answered', async (_size, viewport) => {
    const { page, answer } = await openBefore({ viewport });
    const places = async () =>
      Promise.all(['User name', 'Password'].map((label) => on(page).field(label).boundingBox()));
    expect(await page.getByRole('radio').count()).toBe(0);
    const before = await places();
    await (await answer).continue();
    await on(page).field('Company').waitFor();
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

  it('features that the service does not offer are not shown: no password reset, no directory, no links', async () => {
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
    const json = { status: true, data: { ...data, providers: ['password'], password_reset: false, brand } };
    await route.fulfill({ json });
    await on(page).link('Forgot password?').waitFor({ state: 'detached' });
    await page.locator('header').getByText('Portal').waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
    for (const name of Object.keys(links)) expect(await on(page).link(name).count()).toBe(0);
  });
});
