import type { Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { sizes } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { password } from '../support/app';
import { DirectoryStub } from '../support/directory-stub';
import { FakeClock } from '../support/fakes';
import { eventually } from '../support/servers/eventually';

/** Keeps the body of the login. The browser does not show the body of a request that was made of another one. */
const keepsLogin = `const send = window.fetch;
window.fetch = async (input, init) => {
  const request = new Request(input, init);
  if (request.url.endsWith('/login')) window.sentLogin = await request.clone().json();
  return send(request);
};`;

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
    const sections = [
      ['Profile', 'User name'],
      ['Security', 'You have no recovery codes.'],
      ['Devices', 'You are signed in nowhere else.'],
      ['Activity', 'Successful'],
    ] as const;
    for (const [section, loaded] of sections) {
      await on(page).section(section);
      await page.getByText(loaded).waitFor();
      const text = await page.locator('main').innerText();
      expect(text).not.toMatch(/token|session|tenant|one-time code|e-mail\./i);
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
      // Times are in the words of the user's language, not as the service sends them.
      expect(text).not.toMatch(/\d{4}-\d\d-\d\d/);
    }
    await on(page).section('Security');
    await page.getByText('You signed in with your password.').waitFor();
    await page.getByText('No authenticator app is set up for your account.').waitFor();
  });

  it('the brand is beside the form of the login page and above the account page', async () => {
    const page = await site.visitor({ viewport: { width: 1280, height: 800 } });
    await page.goto('/');
    const brand = () => page.locator('header.brand').boundingBox();
    await becomes(brand, expect.objectContaining({ height: 800 }));
    const loginName = await site.newUser();
    await on(page).logIn(loginName);
    await on(page).heading(`Hello, ${loginName}`).waitFor();
    await becomes(async () => ((await brand())?.height ?? Infinity) < 100, true);
    await becomes(brand, expect.objectContaining({ width: 1280 }));
  });

  it('the captcha is solved once, without a visible element', async () => {
    const page = await site.visitor();
    let challenges = 0;
    page.on('request', (request) => (request.url().endsWith('/captcha/challenge') ? challenges++ : 0));
    await site.withLongCaptcha(async () => {
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
    });
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
    ['/', 'User name or e-mail address'],
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
    // With the name of the zone, an hour before ten has two digits.
    const time = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Asia/Shanghai',
      hour: 'numeric',
      minute: '2-digit',
      timeZoneName: 'short',
    });
    // The clock of the service does not move in this test.
    await page.getByText(`until ${time.format(expires)}`).waitFor();
  });

  it.each([
    ['en-US', 'America/New_York', 'Mar 4, 2026'],
    ['en-GB', 'Europe/London', '4 Mar 2026'],
    ['de-DE', 'Europe/Berlin', '4 Mar 2026'],
  ])(
    'a date of an English page is written as in the region of the browser: %s',
    async (locale, timezoneId, written) => {
      const page = await site.visitor({ locale, timezoneId });
      await page.goto('/?lang=en');
      await page.route('**/user/sessions', async (route) => {
        const answer = await route.fetch();
        const { data } = (await answer.json()) as { data: { sessions: object[] } };
        const sessions = data.sessions.map((one) => ({ ...one, created_at: '2026-03-04T12:00:00.000Z' }));
        await route.fulfill({ json: { status: true, data: { sessions } } });
      });
      const loginName = await site.newUser();
      await on(page).logIn(loginName);
      await on(page).section('Devices');
      await page.locator('section[aria-labelledby=sessions]').getByText(written).first().waitFor();
    },
  );

  it.each(['en-GB', 'zh-CN', 'de-DE'])('the buttons beside the name have one line on a phone (%s)', async (locale) => {
    const page = await site.visitor({ locale, viewport: sizes.phone });
    await page.goto('/');
    const loginName = await site.newUser({ isAdmin: true });
    await page.locator('input[name=username]').fill(loginName);
    await page.locator('input[name=password]').fill(password);
    await page.locator('form button[type=submit]').click();
    const buttons = '.who button, .heading .actions > *';
    await page.locator(buttons).nth(1).waitFor();
    const heights = () =>
      page.evaluate<number[]>(`[...document.querySelectorAll('${buttons}')].map((one) => one.offsetHeight)`);
    const found = async () => {
      const all = await heights();
      return { several: all.length > 1, tall: all.filter((height) => height >= 40) };
    };
    await becomes(found, { several: true, tall: [] });
  });

  it('nothing of the account page moves when the account arrives', async () => {
    const page = await site.signIn(await site.newUser({ isAdmin: true }), { viewport: sizes.phone });
    await page.addInitScript(`{
      window.moved = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.moved += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
    }`);
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/user/me', async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByText('One moment…').first().waitFor();
    // The browser counts a shift between two frames that it has drawn.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    answer();
    await on(page).link('Administration').waitFor();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await page.evaluate<number>('window.moved')).toBeLessThan(0.02);
  });

  it('no kind of account is asked for, and a login of local accounts alone names its kind', async () => {
    const page = await site.visitor();
    await page.addInitScript(keepsLogin);
    await page.goto('/');
    await on(page).logIn('nobody');
    await on(page).alert().waitFor();
    expect(await page.evaluate<{ provider: string }>('window.sentLogin')).toMatchObject({ provider: 'password' });
    expect(await page.getByRole('radio').count()).toBe(0);
  });
});

it('a sign-in works however long ago the service of the test was started', async () => {
  const site = await PortalSite.start({}, undefined, undefined, new FakeClock(new Date(Date.now() - 400_000)));
  try {
    await site.signedIn();
    expect(site.takeComplaints()).toEqual([]);
  } finally {
    await site.stop();
  }
});

describe('with a directory', () => {
  it('the page asks for no kind of account: the name tells it', async () => {
    const directory = await DirectoryStub.start();
    const site = await PortalSite.start(directory.settings);
    try {
      const page = await site.visitor();
      await page.addInitScript(keepsLogin);
      await page.goto('/');
      await on(page).logIn('alice');
      await on(page).alert().waitFor();
      expect(await page.evaluate<{ provider: string }>('window.sentLogin')).toMatchObject({ provider: 'auto' });
      expect(await page.getByRole('radio').count()).toBe(0);
      const local = await site.newUser();
      await on(page).logIn(`${local}@example.com`);
      await on(page).heading(`Hello, ${local}`).waitFor();
    } finally {
      await site.stop();
      await directory.stop();
    }
  });
});
