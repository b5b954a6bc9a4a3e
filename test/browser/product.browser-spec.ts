import type { Page } from 'playwright-core';
import { on, PortalSite } from '../support/browser/portal-site';
import { DirectoryStub } from '../support/directory-stub';
import { eventually } from '../support/servers/eventually';

describe('the pages of the portal', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const signedIn = async (): Promise<Page> => (await site.signedIn()).page;

  it('the account page shows no tokens and no identifiers, and describes the account correctly', async () => {
    const page = await signedIn();
    await page.getByText('You signed in with your password.').waitFor();
    await page.getByText('No authenticator app is set up for your account.').waitFor();
    const text = await page.locator('main').innerText();
    expect(text).not.toMatch(/token|session|tenant|one-time code|e-mail\./i);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    // Times are in the words of the user's language, not as the service sends them.
    expect(text).not.toMatch(/\d{4}-\d\d-\d\d/);
  });

  it('the brand is beside the form of the login page and above the account page', async () => {
    const page = await site.visitor({ viewport: { width: 1280, height: 800 } });
    await page.goto('/');
    const brand = async () => (await page.locator('header.brand').boundingBox())!;
    expect((await brand()).height).toBe(800);
    const loginName = await site.newUser();
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
    expect((await brand()).height).toBeLessThan(100);
    expect((await brand()).width).toBe(1280);
  });

  it('the captcha is solved once, without a visible element', async () => {
    const page = await site.visitor();
    let challenges = 0;
    page.on('request', (request) => (request.url().endsWith('/captcha/challenge') ? challenges++ : 0));
    await page.goto('/');
    await on(page).heading('Sign in').waitFor();
    await eventually(() => challenges === 1, { what: 'the request for the challenge' });
    await on(page).field('Password').focus();
    await on(page).field('User name').focus();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toMatch(/robot|security check|captcha/i);
    const loginName = await site.newUser();
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
    expect(challenges).toBe(1);
  });

  it('an expired captcha is solved again without the user', async () => {
    const loginName = await site.newUser();
    const page = await site.visitor();
    const issued = page.waitForResponse('**/captcha/challenge');
    await page.goto('/');
    await issued;
    site.service.clock.advanceSeconds(301);
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
  });

  it.each([
    ['/', 'User name'],
    ['/forgot-password', 'E-mail address'],
  ])('the first field of %s has the focus', async (path, label) => {
    const page = await site.visitor();
    await page.goto(path);
    await on(page).field(label).waitFor();
    const focused = async () =>
      (await page.evaluate<string>(`document.activeElement.labels?.[0]?.textContent ?? ''`)) === label;
    await eventually(focused, { what: `the focus to be on ${label}` });
  });

  it('a time is local and names its time zone', async () => {
    const loginName = await site.newUser();
    const page = await site.visitor({ timezoneId: 'Asia/Shanghai' });
    await page.goto('/forgot-password');
    await on(page).field('E-mail address').fill(`${loginName}@example.com`);
    await on(page).button('Send link').click();
    await on(page).heading('Check your inbox').waitFor();
    const expires = new Date(site.service.clock.now().getTime() + 30 * 60_000);
    const time = new Intl.DateTimeFormat('en', { timeZone: 'Asia/Shanghai', hour: 'numeric', minute: '2-digit' });
    // The clock of the service does not move in this test.
    await page.getByText(`until ${time.format(expires).replace('\u202f', ' ')} GMT+8`).waitFor();
  });

  it('an account type is offered only when a directory is configured', async () => {
    const page = await site.visitor();
    await page.goto('/');
    await on(page).field('User name').waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
  });
});

describe('with a directory', () => {
  it('a user can choose the directory as the account type', async () => {
    const directory = await DirectoryStub.start();
    const site = await PortalSite.start(directory.settings);
    try {
      const page = await site.visitor();
      await page.goto('/');
      await page.getByLabel('Company', { exact: true }).check();
      const request = page.waitForRequest('**/login');
      await on(page).logIn('alice');
      expect((await request).postDataJSON()).toMatchObject({ provider: 'ldap' });
      await on(page).alert().waitFor();
    } finally {
      await site.stop();
      await directory.stop();
    }
  });
});
