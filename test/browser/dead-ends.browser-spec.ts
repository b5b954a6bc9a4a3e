import { decodeJwt } from 'jose';
import type { Page } from 'playwright-core';
import { UserSessions } from '../../src/sessions/user-sessions';
import { password } from '../support/app';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { goodPassword, mailedToken } from '../support/reset';
import { eventually } from '../support/servers/eventually';

const noAnswer = 'The service is not responding. Check your connection and try again.';

describe('a user of the pages always finds a way on', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const open = async (path = '/'): Promise<Page> => {
    const page = await site.visitor();
    await page.goto(path);
    return page;
  };
  const sessionOf = async (page: Page): Promise<{ sub: string; sid: string }> => {
    const stored = await page.evaluate<string>(`localStorage.getItem('portal-auth.session')`);
    const { sub, sid } = decodeJwt((JSON.parse(stored) as { access: string }).access);
    return { sub: String(sub), sid: String(sid) };
  };
  /** The tokens are bound to the key of the page, so the test cannot ask with them. */
  const isOpen = async ({ sub, sid }: { sub: string; sid: string }): Promise<boolean> =>
    (await site.service.app.get(UserSessions).list(sub)).some((session) => session.sid === sid);
  /**
   * Forgets the console errors of requests that the test made fail. Closes the browser context before, because the page
   * prepares the next captcha after a refusal, and this request fails as well.
   */
  const expectNetworkErrors = async (page: Page): Promise<void> => {
    await page.context().close();
    expect(site.takeComplaints().filter((one) => !one.includes('net::ERR'))).toEqual([]);
  };

  describe('at the password form', () => {
    const openForm = async (): Promise<{ page: Page; sent: () => number }> => {
      const page = await open(
        `/reset-password?uid=${await mailedToken(site.service, `${await site.newUser()}@example.com`)}`,
      );
      let sent = 0;
      page.on('request', (request) => (request.url().endsWith('/user/change-pwd-by-req') ? sent++ : 0));
      await on(page).heading('Choose a new password').waitFor();
      return { page, sent: () => sent };
    };
    const save = async (page: Page, typed: string, repeated = typed): Promise<void> => {
      await on(page).field('New password').fill(typed);
      await on(page).field('Repeat the new password').fill(repeated);
      await on(page).button('Save password').click();
    };

    it('no password that breaks a rule of the policy is sent, and the field says which rule', async () => {
      const { page, sent } = await openForm();
      for (const [typed, complaint] of [
        ['', 'at least 12 characters, an upper-case letter, a lower-case letter, and a digit'],
        ['abc', 'at least 12 characters, an upper-case letter, and a digit'],
        ['Correct-Horse', 'a digit'],
        ['correct-horse-7', 'an upper-case letter'],
        ['CORRECT-HORSE-7', 'a lower-case letter'],
        [`Correct-Horse-7${'x'.repeat(60)}`, 'fewer characters: it is too long'],
      ] as const) {
        await save(page, typed);
        await page.getByText(`Your password needs ${complaint}.`, { exact: true }).waitFor();
        const field = on(page).field('New password');
        await becomes(() => field.getAttribute('aria-invalid'), 'true');
        await becomes(
          () => describedText(page, 'New password'),
          expect.stringContaining(`Your password needs ${complaint}.`),
        );
        await becomes(() => focusedLabel(page), 'New password');
      }
      expect(sent()).toBe(0);
    });

    it('a replica of 1.0.0, which does not name the user, ends in no error: the login page follows', async () => {
      const loginName = await site.newUser();
      const page = await site.visitor();
      await page.route('**/user/change-pwd-req/*', async (route) => {
        const { data } = (await (await route.fetch()).json()) as { data: Record<string, unknown> };
        const former = Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'login_name'));
        await route.fulfill({ json: { status: true, data: former } });
      });
      await page.goto(`/reset-password?uid=${await mailedToken(site.service, `${loginName}@example.com`)}`);
      await on(page).heading('Choose a new password').waitFor();
      expect(await page.getByText('{name}').count()).toBe(0);
      await save(page, goodPassword(1));
      await on(page).logIn(loginName, goodPassword(1));
      await on(page).heading(`Hello, ${loginName}`).waitFor({ timeout: 30_000 });
    });

    it('two passwords that differ are not sent, and the second field says so', async () => {
      const { page, sent } = await openForm();
      await save(page, goodPassword(1), goodPassword(2));
      await page.getByText('The passwords do not match. Enter the same one twice.').waitFor();
      await becomes(
        () => describedText(page, 'Repeat the new password'),
        'The passwords do not match. Enter the same one twice.',
      );
      await becomes(() => focusedLabel(page), 'Repeat the new password');
      expect(sent()).toBe(0);
      await save(page, goodPassword(1));
      await page.getByText('Your password has been changed.').waitFor();
    });

    it('a link that expires while its form is open leads to the page for a new link', async () => {
      const { page } = await openForm();
      site.service.clock.advanceSeconds(31 * 60);
      await save(page, goodPassword(1));
      await on(page).heading('This link does not work').waitFor();
      expect(await on(page).alert().textContent()).toContain('This link has expired.');
      await on(page).link('Request a new link').click();
      await on(page).heading('Forgot your password?').waitFor();
    });

    it('a password manager finds the name of the account', async () => {
      const name = await site.newUser({ temporary: true });
      const page = await open();
      await on(page).logIn(name);
      await on(page).heading('Set your password').waitFor();
      const hidden = page.locator('input[autocomplete=username]');
      expect(await hidden.inputValue()).toBe(name);
      expect(await hidden.isVisible()).toBe(false);
    });
  });

  describe('when the service is unavailable', () => {
    it('a captcha challenge that hangs is given up after 10 s, and the login can be tried again', async () => {
      const name = await site.newUser();
      const page = await site.visitor();
      await page.clock.install({ time: site.service.clock.now() });
      await page.route('**/captcha/challenge', () => undefined);
      const asked = page.waitForRequest('**/captcha/challenge');
      await page.goto('/');
      await on(page).logIn(name);
      await on(page).button('Signing in…').waitFor();
      await asked;
      await page.clock.fastForward(10_000);
      expect(await on(page).alert().textContent()).toContain(noAnswer);
      await page.unroute('**/captcha/challenge');
      await on(page).button('Sign in').click();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await expectNetworkErrors(page);
    });

    it('the login page shows the error, as the other pages do, and nothing covers its button', async () => {
      const page = await site.visitor();
      await page.route(/captcha|login$/, (route) => route.abort());
      await page.goto('/');
      await on(page).logIn(await site.newUser());
      expect(await on(page).alert().textContent()).toContain(noAnswer);
      const covered = await page.evaluate<boolean>(`(() => {
        const button = document.querySelector('form button[type=submit]');
        const { left, top, width, height } = button.getBoundingClientRect();
        return [0.1, 0.5, 0.9].some((part) => document.elementFromPoint(left + width * part, top + height / 2) !== button);
      })()`);
      expect(covered).toBe(false);
      await expectNetworkErrors(page);
    });

    it('a sign-out says that the session is still open, and ends it when the browser is online again', async () => {
      const { page } = await site.signedIn();
      const session = await sessionOf(page);
      await page.context().setOffline(true);
      await on(page).signOut();
      await on(page).heading('Sign in').waitFor();
      await page.getByText('You are signed out on this device, but the service could not be reached.').waitFor();
      expect(await isOpen(session)).toBe(true);
      await page.context().setOffline(false);
      // If the event comes before the network is back, the page tries again after 30 s.
      await page.getByText('The service has now ended your session too.').waitFor({ timeout: 90_000 });
      expect(await isOpen(session)).toBe(false);
      await expectNetworkErrors(page);
    });

    it('a sign-out that did not reach the service is sent again when the pages are opened the next time', async () => {
      const { page } = await site.signedIn();
      const session = await sessionOf(page);
      await page.context().route('**/logout', (route) => route.abort());
      await on(page).signOut();
      await page.getByText('the service could not be reached').waitFor();
      await page.close();
      await page.context().unroute('**/logout');
      expect(await isOpen(session)).toBe(true);
      await (await page.context().newPage()).goto('/forgot-password');
      await eventually(async () => !(await isOpen(session)), { what: 'the session to end' });
      await expectNetworkErrors(page);
    });
  });

  describe('when the browser stores nothing', () => {
    const full = `for (let size = 1 << 23; size >= 1; size >>= 1) {
      try {
        for (let i = 0; ; i++) localStorage.setItem('filler-' + size + '-' + i, 'x'.repeat(size));
      } catch {}
    }`;
    const forbidden = `for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`;

    it.each([
      ['full', full],
      ['forbidden', forbidden],
    ])('because its storage is %s, a login works in this tab only, and the page says so', async (_case, script) => {
      const name = await site.newUser();
      const page = await site.visitor();
      await page.addInitScript(script);
      await page.goto('/');
      await on(page).logIn(name);
      await on(page).heading(`Hello, ${name}`).waitFor();
      await page.getByText('It ends when you reload or close this tab').waitFor();
      await page.reload();
      await on(page).heading('Sign in').waitFor();
    });
  });

  it('a deep link that was opened signed out is shown after the login, and only then', async () => {
    const name = await site.newUser();
    const page = await open('/account/authenticator');
    await on(page).heading('Sign in').waitFor();
    await page.reload();
    await on(page).logIn(name);
    await on(page).heading('Set up your authenticator').waitFor();
    await on(page).link('Cancel').click();
    await on(page).signOut();
    await on(page).logIn(name);
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('after a refused submit the focus is on the first wrong field, which names its error', async () => {
    const name = await site.newUser();
    const page = await open();
    await on(page).button('Sign in').click();
    await page.getByText('Enter your user name.').waitFor();
    const nameField = 'User name or e-mail address';
    await becomes(() => describedText(page, nameField), 'Enter your user name.');
    await becomes(() => describedText(page, 'Password'), 'Enter your password.');
    await becomes(() => focusedLabel(page), nameField);
    await on(page).field('User name').fill(name);
    await on(page).button('Sign in').click();
    await becomes(() => focusedLabel(page), 'Password');
    await becomes(() => on(page).field('User name').getAttribute('aria-invalid'), 'false');

    const focused = (label: string) => becomes(() => focusedLabel(page), label);
    await on(page).logIn(name, 'Wrong-Horse-7');
    await on(page).alert().waitFor();
    await focused('Password');
    await becomes(
      () => describedText(page, 'Password'),
      expect.stringContaining('The user name or password is wrong.'),
    );
    await on(page).logIn('nobody', password);
    await page.getByText('There is no user with this name.').waitFor();
    await focused(nameField);

    await page.goto('/forgot-password');
    await on(page).button('Send link').click();
    await becomes(() => describedText(page, 'E-mail address'), 'Enter a complete e-mail address.');
    await becomes(() => focusedLabel(page), 'E-mail address');
  });

  it('a refusal that concerns no field moves the focus to its message', async () => {
    const page = await site.visitor();
    await page.route('**/login', (route) => route.abort());
    await page.goto('/');
    await on(page).logIn(await site.newUser());
    await on(page).alert().waitFor();
    await eventually(() => page.evaluate<boolean>(`document.activeElement.matches('[role=alert]')`), {
      what: 'the focus to be on the message',
    });
    await expectNetworkErrors(page);
  });

  it('the message about a new authenticator does not return after a reload', async () => {
    const { page } = await site.signedIn();
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])';
    expect(await page.evaluate<string>(stored)).toContain('portal-auth.session');
    expect(await page.evaluate<string>(stored)).not.toContain(secret);
    await on(page).enterCode(site.authenticatorCode(secret));
    await page.getByText('Your authenticator app is set up.').waitFor();
    await page.reload();
    await on(page).heading('Security').waitFor();
    expect(await page.getByText('Your authenticator app is set up.').count()).toBe(0);
  });
});

describe('a user with a second factor', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'true' });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const atCode = async (path = '/'): Promise<{ page: Page; name: string }> => {
    const name = await site.newUser();
    const page = await site.visitor();
    await page.goto(path);
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    return { page, name };
  };

  it('who goes back and logs in again within the cooldown returns to the code page, and the code is still valid', async () => {
    const { page, name } = await atCode();
    const code = await site.mailedCode(name);
    await on(page).button('Back to sign in').click();
    await on(page).heading('Sign in').waitFor();
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    await page.getByText('The code that we sent a moment ago is still valid.').waitFor();
    await on(page).enterCode(code);
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('reaches a deep link after the code', async () => {
    const { page, name } = await atCode('/account/authenticator');
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).heading('Set up your authenticator').waitFor();
  });

  it('needs no button for the code: the sixth digit sends it, also when it is pasted with a space', async () => {
    const { page, name } = await atCode();
    const code = await site.mailedCode(name);
    let sent = 0;
    page.on('request', (request) => (request.url().endsWith('/otp-verify') ? sent++ : 0));
    const field = page.getByLabel('Six-digit code');
    await becomes(() => focusedLabel(page), 'Six-digit code');
    expect(await field.getAttribute('autocomplete')).toBe('one-time-code');
    expect(await field.getAttribute('inputmode')).toBe('numeric');
    await page.keyboard.type(code.slice(0, 5));
    expect(sent).toBe(0);
    await field.fill(`${code.slice(0, 3)} ${code.slice(3)}`);
    await on(page).heading(`Hello, ${name}`).waitFor();
    expect(sent).toBe(1);
  });

  it('sees one message at a time', async () => {
    const { page } = await atCode();
    const messages = page.locator('.message, .field-error');
    await on(page).button('Confirm').click();
    await messages.first().waitFor();
    await becomes(() => messages.allTextContents(), ['Enter all six digits of the code.']);
    await on(page).enterCode('000000');
    await on(page).alert().waitFor();
    // The message before can be an alert as well.
    await becomes(() => messages.allTextContents(), ['The code is wrong or no longer valid. Attempts left: 4.']);
    await becomes(() => describedText(page, 'Six-digit code'), expect.stringContaining('The code is wrong'));
    await becomes(() => focusedLabel(page), 'Six-digit code');
    await page.reload();
    await on(page).heading('Enter your code').waitFor();
    await becomes(() => messages.allTextContents(), ['Attempts left: 4.']);
  });

  it('reads on the account page that codes come by e-mail', async () => {
    const { page, name } = await atCode();
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).section('Security');
    await page.getByText('Your codes come by e-mail.').waitFor();
  });
});

/** The text of the elements that describe a field to a screen reader, without the rules of the password. */
function describedText(page: Page, label: string): Promise<string> {
  return page.evaluate<string>(`(() => {
    const field = [...document.querySelectorAll('label')].find((one) => one.textContent === '${label}').control;
    return (field.getAttribute('aria-describedby') ?? '').split(' ')
      .map((id) => document.getElementById(id)).filter((one) => one !== null && !one.matches('.rules'))
      .map((one) => one.textContent).join(' ').trim();
  })()`);
}

/** The label of the focused field. */
function focusedLabel(page: Page): Promise<string> {
  return page.evaluate<string>(`document.activeElement.labels?.[0]?.textContent ?? ''`);
}
