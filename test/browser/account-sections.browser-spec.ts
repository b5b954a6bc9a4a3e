import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { password } from '../support/app';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { goodPassword } from '../support/reset';
import { eventually } from '../support/servers/eventually';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

const sections = ['Profile', 'Security', 'Devices', 'Activity'] as const;
const pathOf = {
  Profile: '/account',
  Security: '/account/security',
  Devices: '/account/devices',
  Activity: '/account/activity',
};

const section = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Your account' }).getByRole('link', { name });
const card = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
const dialog = (page: Page): Locator => page.getByRole('dialog');
const focusIsOn = (page: Page, selector: string): Promise<void> => page.locator(`${selector}:focus`).waitFor();
const pathIs = (page: Page, path: string): Promise<void> => page.waitForURL((url) => url.pathname === path);

/** Answers a question of the page with other values in the data of the service. */
async function answered(page: Page, path: string, change: (data: never) => object): Promise<void> {
  await page.route(`**${path}`, async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data?: never };
    // A first proof can be refused, because the tests move the clock of the service. The page asks again.
    if (data === undefined) return route.fulfill({ response });
    await route.fulfill({ json: { status: true, data: { ...(data as object), ...change(data) } } });
  });
}

describe('the account page', () => {
  let site: PortalSite;

  beforeAll(async () => {
    // The tests change what the service offers, so that the welcome page could offer something.
    site = await PortalSite.start({}, '127.0.0.1', true);
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  describe('has sections', () => {
    it('with an address each: Back, Forward and a reload stay on them, and the navigation names the present one', async () => {
      const { page, name } = await site.signedIn();
      for (const one of sections.slice(1)) {
        await section(page, one).click();
        await on(page).heading(one).waitFor();
        await pathIs(page, pathOf[one]);
        await focusIsOn(page, 'main h1');
        await becomes(() => page.title(), `${one} · Portal`);
        await becomes(() => page.locator('nav [aria-current=page]').allInnerTexts(), [one]);
      }
      await page.reload();
      await on(page).heading('Activity').waitFor();
      await page.goBack();
      await on(page).heading('Devices').waitFor();
      await page.goBack();
      await page.goForward();
      await on(page).heading('Devices').waitFor();
      await pathIs(page, '/account/devices');
      await section(page, 'Profile').click();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await pathIs(page, '/account');
    });

    it('that the keyboard alone reaches', async () => {
      const { page } = await site.signedIn();
      await on(page).button('Sign out').focus();
      for (const one of sections) {
        await page.keyboard.press('Tab');
        await becomes(() => page.locator(':focus').innerText(), one);
      }
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      await on(page).heading('Devices').waitFor();
      await focusIsOn(page, 'main h1');
    });

    it.each(['/account/devices', '/?return_to=/account/devices'])(
      'that a sign-in leads to, when the user asked for %s',
      async (path) => {
        const page = await site.visitor();
        await page.goto(path);
        await on(page).heading('Sign in').waitFor();
        await on(page).logIn(await site.newUser());
        await on(page).heading('Devices').waitFor();
        await card(page, 'Where you are signed in').getByText('This browser').waitFor();
        await pathIs(page, '/account/devices');
      },
    );

    it.each([
      ['recovery-codes', '/account/security'],
      ['passkeys', '/account'],
      ['sessions', '/account/devices'],
      ['logins', '/account/activity'],
    ])('where the former address #%s of a card leads to, signed in or not', async (id, path) => {
      const name = await site.newUser();
      const page = await site.visitor();
      // This service has no passkeys, so their card is missing.
      const there = id === 'passkeys' ? '/account/security' : path;
      const arrived = async (): Promise<void> => {
        await pathIs(page, there);
        if (id !== 'passkeys') await focusIsOn(page, `h2#${id}`);
      };
      await page.goto(`/account#${id}`);
      await on(page).logIn(name);
      await arrived();
      await page.goto('/account');
      await on(page).heading(`Hello, ${name}`).waitFor();
      await page.goto(`/account?again#${id}`);
      await arrived();
    });

    it('that load only what they show, and the account once', async () => {
      const { page, name } = await site.signedIn();
      const asked: string[] = [];
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (!/^\/(assets|account|favicon)/.test(pathname)) asked.push(pathname);
      });
      const loads = async (one: (typeof sections)[number], shown: Locator, paths: string[]): Promise<void> => {
        await section(page, one).click();
        await shown.waitFor();
        expect([one, asked.splice(0)]).toEqual([one, paths]);
      };
      await loads('Devices', page.getByText('This browser', { exact: true }), ['/user/sessions']);
      await loads('Activity', page.getByText('Successful'), ['/user/login-history']);
      await loads('Security', page.getByText('You have no recovery codes.'), ['/recovery-codes']);
      await loads('Profile', page.getByText(`${name}@example.com`), []);
    });

    it('on each of which the user sees who is signed in, and a sign-out does not lead the next user back to it', async () => {
      const name = await site.newUser({ nickname: 'Ann Example' });
      const page = await site.visitor();
      await page.goto('/');
      await on(page).logIn(name);
      await on(page).heading('Hello, Ann Example').waitFor();
      for (const one of sections) {
        await section(page, one).click();
        await page.locator('nav [aria-current=page]', { hasText: one }).waitFor();
        await becomes(
          () => page.locator('.who-name').innerText(),
          expect.stringMatching(new RegExp(`^Ann Example\\s+${name}$`)),
        );
      }
      await on(page).signOut();
      await on(page).heading('Sign in').waitFor();
      // The next user of this tab does not start where this one has left.
      const forgotten = () => page.evaluate<boolean>(`sessionStorage.getItem('portal.target') === null`);
      await eventually(forgotten, { what: 'the tab to forget the section' });
      const other = await site.newUser();
      await on(page).logIn(other);
      await on(page).heading(`Hello, ${other}`).waitFor();
      await pathIs(page, '/account');
    });

    it('and any other address below them is no page', async () => {
      const { page } = await site.signedIn();
      await page.goto('/account/billing');
      await on(page).heading('Page not found').waitFor();
    });
  });

  describe('checks the safety of the account', () => {
    const shown = async (
      capabilities: object,
      me: object = {},
      options: BrowserContextOptions = {},
    ): Promise<{ page: Page; name: string }> => {
      const name = await site.newUser();
      const page = await site.visitor(options);
      await answered(page, '/capabilities', () => capabilities);
      await answered(page, '/user/me', () => me);
      await page.goto('/');
      await on(page).logIn(name);
      await on(page).heading(`Hello, ${name}`).waitFor();
      return { page, name };
    };
    const check = (page: Page): Locator => card(page, 'Security check');

    it('and says in one line that all is well', async () => {
      const { page } = await shown({ mfa: 'never' });
      await check(page).getByText('Everything is in order.').waitFor();
      await section(page, 'Security').click();
      await check(page).getByText('Everything is in order.').waitFor();
      expect(await check(page).getByRole('link').count()).toBe(0);
    });

    it('and leads from the number of things to each of them: the authenticator and the codes', async () => {
      const { page } = await shown({ mfa: 'always', mfa_required: true });
      await check(page).getByText('Things to do: 2.').waitFor();
      await check(page).getByRole('link', { name: 'Review' }).click();
      await on(page).heading('Security').waitFor();
      await check(page).getByText('Your codes come by e-mail only.').waitFor();
      await check(page).getByRole('link', { name: 'Make codes' }).click();
      await focusIsOn(page, 'h2#recovery-codes');
      await on(page).button('Make recovery codes').click();
      await on(page).button('I have saved them').waitFor();
      await page.unroute('**/user/me');
      await on(page).button('I have saved them').click();
      await check(page).getByText('Without recovery codes').waitFor({ state: 'detached' });
      await check(page).getByRole('link', { name: 'Set up app' }).click();
      await on(page).heading('Set up your authenticator app').waitFor();
    });

    it('and names a password that expires soon, with the way to a new one', async () => {
      const days = 5.5 * 24 * 3_600_000;
      const { page } = await shown({}, { password_expires_at: new Date(Date.now() + days).toISOString() });
      await check(page).getByText('There is one thing to do.').waitFor();
      await check(page).getByRole('link', { name: 'Review' }).click();
      await check(page)
        .getByText(/Your password expires in \d days/)
        .waitFor();
      await check(page).getByRole('link', { name: 'Change password' }).click();
      await focusIsOn(page, 'h2#password');
    });

    it('and asks for an authenticator where only those are asked who have one', async () => {
      const { page } = await shown({ mfa: 'enrolled' });
      await section(page, 'Security').click();
      await check(page).getByText('Your password alone opens your account.').waitFor();
    });
  });

  describe('writes times in words', () => {
    const noon = Date.parse('2026-03-04T12:00:00Z');

    /** The sessions that are this many minutes old when it is noon at the service. */
    const withSessions = async (minutes: readonly number[], browserIsAhead: number): Promise<string[]> => {
      const name = await site.newUser();
      const page = await site.visitor({ timezoneId: 'UTC' });
      await page.clock.setFixedTime(noon + browserIsAhead);
      // All answers of the service are of noon.
      await page.route(/\/(user|login|capabilities|captcha)/, async (route) => {
        const answer = await route.fetch();
        const headers = { ...answer.headers(), date: new Date(noon).toUTCString() };
        if (!route.request().url().endsWith('/user/sessions')) return route.fulfill({ response: answer, headers });
        const { data } = (await answer.json()) as { data: { sessions: object[] } };
        const at = (minute: number): string => new Date(noon - minute * 60_000).toISOString();
        const sessions = minutes.map((one, sid) => ({
          ...data.sessions[0],
          sid: `s-${sid}`,
          created_at: at(one),
          last_used_at: at(one),
        }));
        return route.fulfill({ headers, json: { status: true, data: { sessions } } });
      });
      await page.goto('/');
      await on(page).logIn(name);
      await section(page, 'Devices').click();
      const times = page.locator('.entry:first-child time, .entry ~ .entry time');
      await times.nth(minutes.length * 2 - 1).waitFor();
      const texts = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.facts li:first-child time')].map((time) => time.firstChild.textContent + ' | ' + time.title)`,
      );
      await page.context().close();
      return texts;
    };

    it('from minutes to a week, then as a date, and has the exact time as the tooltip', async () => {
      expect(await withSessions([0, 3, 130, 26 * 60, 5 * 24 * 60, 20 * 24 * 60], 0)).toEqual([
        'just now | 4 Mar 2026, 12:00',
        '3 minutes ago | 4 Mar 2026, 11:57',
        '2 hours ago | 4 Mar 2026, 09:50',
        'yesterday | 3 Mar 2026, 10:00',
        '5 days ago | 27 Feb 2026, 12:00',
        'on 12 Feb 2026, 12:00 | 12 Feb 2026, 12:00',
      ]);
    });

    it.each([7, -7])('by the clock of the service, when that of the browser is %d minutes off', async (minutes) => {
      expect(await withSessions([0, 3], minutes * 60_000)).toEqual([
        'just now | 4 Mar 2026, 12:00',
        '3 minutes ago | 4 Mar 2026, 11:57',
      ]);
    });

    it('and never as a moment to come, when the service has made it in this second', async () => {
      expect(await withSessions([-0.4], 0)).toEqual(['just now | 4 Mar 2026, 12:00']);
    });
  });

  describe('"This was not me"', () => {
    const twoBrowsers = async (): Promise<{ page: Page; other: Page; name: string }> => {
      const name = await site.newUser();
      const other = await site.signIn(name, { userAgent: iphone });
      return { page: await site.signIn(name, { userAgent: firefox }), other, name };
    };
    const setPassword = async (page: Page): Promise<void> => {
      await on(page).field('Current password').fill(password);
      await on(page).field('New password').fill(goodPassword(1));
      await on(page).field('Repeat the new password').fill(goodPassword(1));
      await on(page).button('Save password').click();
    };
    const isSignedOut = async (page: Page): Promise<void> => {
      await page.reload();
      await on(page).heading('Sign in').waitFor();
    };

    it('at a session ends all others and leads to a new password, in one dialog', async () => {
      const { page, other, name } = await twoBrowsers();
      await section(page, 'Devices').click();
      await on(page).button('This was not me: Safari on iOS').click();
      await dialog(page).getByText('Safari on iOS').waitFor();
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByText('All other devices are signed out: 1.').waitFor();
      await isSignedOut(other);
      await setPassword(page);
      await dialog(page).waitFor({ state: 'detached' });
      await page.locator('.message.success:focus', { hasText: 'Your password has been changed.' }).waitFor();
      await page.getByText('You are signed in nowhere else.').waitFor();
      await page.reload();
      await on(page).heading('Devices').waitFor();
      await on(other).logIn(name, goodPassword(1));
      await on(other)
        .heading(/Hello|Devices/)
        .waitFor();
    });

    it('changes nothing when the user closes the dialog, and gives the focus back', async () => {
      const { page, other, name } = await twoBrowsers();
      await section(page, 'Devices').click();
      await on(page).button('This was not me: Safari on iOS').click();
      await dialog(page).waitFor();
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await page.locator('[aria-label="This was not me: Safari on iOS"]:focus').waitFor();
      await other.reload();
      await on(other).heading(`Hello, ${name}`).waitFor();
    });

    it('says that the password is still the old one when the user puts it off, and leads to it', async () => {
      const { page } = await twoBrowsers();
      await section(page, 'Activity').click();
      await on(page).button('This was not me: Safari on iOS').click();
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByRole('button', { name: 'Later' }).click();
      await page.locator('.message.warning', { hasText: 'Your password is still the old one.' }).waitFor();
      await on(page).link('Change password').click();
      await focusIsOn(page, 'h2#password');
      await pathIs(page, '/account/security');
    });

    it.each([
      ['LOGIN_401001', 'Nobody got in with this attempt.'],
      ['MFA_401001', 'Then somebody knows your password: only the code was wrong.'],
      ['success', 'Then somebody else is signed in as you, or was.'],
    ])('tells of a sign-in with the outcome %s: %s', async (outcome, text) => {
      const { page } = await site.signedIn();
      await answered(page, '/user/login-history*', ({ logins }: { logins: object[] }) => ({
        logins: logins.map((one) => ({ ...one, outcome })),
      }));
      await section(page, 'Activity').click();
      await on(page)
        .button(/^This was not me/)
        .click();
      await dialog(page).getByText(text).waitFor();
      expect(await page.locator('dialog .entry').count()).toBe(1);
    });

    it('ends no session and loses nothing when the service does not answer, and works at the second try', async () => {
      const { page, other } = await twoBrowsers();
      await section(page, 'Devices').click();
      await on(page).button('This was not me: Safari on iOS').click();
      await page.route('**/user/sessions', (route) => route.abort());
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByRole('alert').getByText('The service is not responding.').waitFor();
      await page.unroute('**/user/sessions');
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByText('All other devices are signed out: 1.').waitFor();
      await isSignedOut(other);
      expect(site.takeComplaints()).toEqual([expect.stringContaining('net::ERR_FAILED')]);
    });

    it('leads somebody who does not know the password to a link by e-mail', async () => {
      const { page } = await twoBrowsers();
      await section(page, 'Devices').click();
      await on(page).button('This was not me: Safari on iOS').click();
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByRole('link', { name: 'Request a link' }).click();
      await on(page).heading('Forgot your password?').waitFor();
    });

    it('ends the trust in all devices too, because a trusted device needs no code', async () => {
      const { page } = await twoBrowsers();
      await answered(page, '/capabilities', () => ({ mfa: 'always', trusted_device_days: 30 }));
      const removed: string[] = [];
      await page.route('**/user/devices*/**', async (route) => {
        removed.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
        await route.fulfill({ json: { status: true, data: { result: true } } });
      });
      const at = new Date().toISOString();
      const device = { id: 'd-1', created_at: at, last_used_at: at, ip: '192.0.2.1', user_agent: iphone };
      await page.route('**/user/devices', (route) =>
        route.fulfill({ json: { status: true, data: { devices: [device, { ...device, id: 'd-2' }] } } }),
      );
      await page.goto('/account/devices');
      await on(page).button('This was not me: Safari on iOS').click();
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByText('All other devices are signed out').waitFor();
      expect(removed).toEqual(['DELETE /user/devices/d-1', 'DELETE /user/devices/d-2']);
    });
  });

  describe('shows only what matters here', () => {
    it('no trusted devices where no code is asked, and that nothing asks for the authenticator', async () => {
      const { page } = await site.signedIn();
      await answered(page, '/capabilities', () => ({ mfa: 'never', trusted_device_days: 30 }));
      await page.goto('/account/devices');
      await page.getByText('You are signed in nowhere else.').waitFor();
      expect(await card(page, 'Trusted devices').count()).toBe(0);
      await section(page, 'Security').click();
      await card(page, 'Authenticator app').getByText('Signing in here does not ask for it.').waitFor();
      await card(page, 'Recovery codes').getByText('Signing in here asks for no code at the moment.').waitFor();
      expect(await page.locator('.message.warning').count()).toBe(0);
    });

    it('that the authenticator is asked for because it is set up, where only those are asked', async () => {
      const { page } = await site.signedIn();
      await answered(page, '/capabilities', () => ({ mfa: 'enrolled' }));
      await answered(page, '/user/me', () => ({ mfa_type: 'totp' }));
      await page.goto('/account/security');
      await card(page, 'Authenticator app').getByText('because it is set up').waitFor();
    });

    it('a sentence in place of the password of a company account, and who keeps its details', async () => {
      const { page } = await site.signedIn();
      await answered(page, '/capabilities', (data: { brand: object }) => ({
        providers: ['password', 'ldap'],
        brand: { ...data.brand, support_url: 'https://help.example.com/' },
      }));
      await answered(page, '/user/me', () => ({ password_expires_at: null }));
      await answered(page, '/user/login-history*', ({ logins }: { logins: object[] }) => ({
        logins: logins.map((one) => ({ ...one, provider: 'ldap' })),
      }));
      await page.goto('/account');
      await card(page, 'Your details').getByText('Company account', { exact: true }).waitFor();
      await card(page, 'Your details').getByText('These details come from your company account.').waitFor();
      expect(await on(page).link('Get help').getAttribute('href')).toBe('https://help.example.com/');
      await section(page, 'Security').click();
      await card(page, 'Password').getByText('Your password belongs to your company account.').waitFor();
      expect(await on(page).button('Change password').count()).toBe(0);
      await section(page, 'Activity').click();
      await on(page)
        .button(/^This was not me/)
        .click();
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByText('cannot be changed here').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).click();
      await page.getByText('Change the password of your company account now.').waitFor();
    });

    it('the way on to the work, where there is one', async () => {
      const { page } = await site.signedIn();
      expect(
        await on(page)
          .link(/Continue/)
          .count(),
      ).toBe(0);
      await answered(page, '/capabilities', (data: { brand: object }) => ({
        home_url: '/reports',
        brand: { ...data.brand, name: 'Example Corp' },
      }));
      await page.route('**/reports', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Reports</title><h1>Reports</h1>' }),
      );
      await page.reload();
      await on(page).link('Continue to Example Corp').click();
      await on(page).heading('Reports').waitFor();
    });
  });

  describe.each(schemes)('in %s', (colorScheme) => {
    const check = async (page: Page, name: string): Promise<void> => {
      for (const [size, viewport] of Object.entries(sizes)) {
        await resize(page, viewport);
        await takePicture(page, `sections-${name}-${size}-${colorScheme}`);
        expect([name, size, await accessibilityViolations(page)]).toEqual([name, size, []]);
        expect([name, size, await overflow(page)]).toEqual([name, size, 0]);
      }
    };
    const inEachLanguage = async (page: Page, name: string): Promise<void> => {
      for (const language of ['de', 'zh-CN', 'en']) {
        await page.locator('footer select').first().selectOption(language);
        await page.locator(`html[lang=${language}]`).waitFor();
        await check(page, `${name}-${language}`);
      }
    };

    it('every section and every step of the dialog is accessible, without sideways scrolling', async () => {
      const name = await site.newUser({ nickname: 'Alice Example', isAdmin: true });
      const other = await site.visitor({ userAgent: iphone });
      await other.goto('/');
      await on(other).logIn(name);
      await on(other).heading(/Hello/).waitFor();
      const page = await site.visitor({ colorScheme, userAgent: firefox });
      await answered(page, '/capabilities', (data: { brand: object }) => ({
        mfa: 'always',
        trusted_device_days: 30,
        home_url: '/reports',
        brand: { ...data.brand, support_url: 'https://help.example.com/' },
      }));
      const soon = new Date(Date.now() + 9.5 * 24 * 3_600_000).toISOString();
      await answered(page, '/user/me', () => ({ password_expires_at: soon }));
      await page.goto('/account');
      await on(page).logIn(name, 'Wrong-Horse-7');
      await on(page).alert().waitFor();
      await on(page).logIn(name);
      await page.getByText('Things to do: 3.').waitFor();
      await inEachLanguage(page, 'profile');
      await section(page, 'Security').click();
      await page.getByText('Make new codes, so that').waitFor();
      await inEachLanguage(page, 'security');
      await section(page, 'Devices').click();
      await page.getByText('You trust no device.').waitFor();
      await inEachLanguage(page, 'devices');
      await section(page, 'Activity').click();
      await page.getByText('Wrong password').waitFor();
      await inEachLanguage(page, 'activity');
      await on(page).button('This was not me: Safari on iOS').click();
      await dialog(page).waitFor();
      await check(page, 'not-me');
      await dialog(page).getByRole('button', { name: 'Sign out all others' }).click();
      await dialog(page).getByRole('button', { name: 'Save password' }).click();
      await page.locator('.field-error').first().waitFor();
      await check(page, 'not-me-password');
      await dialog(page).getByRole('button', { name: 'Later' }).click();
      await page.locator('.message.warning').waitFor();
      await check(page, 'not-me-done');
    });
  });
});
