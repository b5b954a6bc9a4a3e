import type { Page } from 'playwright-core';
import { adminSettings } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { VirtualAuthenticator } from '../support/browser/virtual-authenticator';
import { givenCaller } from '../support/admin';
import { password } from '../support/app';
import { goodPassword, linkIn, newMails, recipients } from '../support/reset';
import { eventually } from '../support/servers/eventually';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const setUp = 'Set up your sign-in';
const chosen = goodPassword('first');
let people = 0;

/** An administrator invites a new colleague, who gets a mail. @returns the login name and the link of the mail */
async function invited(site: PortalSite): Promise<{ name: string; link: URL }> {
  const { bearer } = await givenCaller(site.service, { isAdmin: true });
  const name = `employee${++people}`;
  const body = { login_name: name, email: `${name}@example.com`, nickname: name, invite: true };
  const answer = await site.service.send('POST', '/admin/users', body, { bearer });
  expect(answer.status).toBe(200);
  const mails = await newMails(site.service);
  return { name, link: linkIn(mails.find((mail) => recipients(mail)?.includes(body.email))) };
}

/** A browser whose user has declined no offer. */
async function browser(site: PortalSite, passkeys = true, options = {}): Promise<Page> {
  const page = await site.visitor({ userAgent: firefox, ...options }, { declined: false });
  if (passkeys) await VirtualAuthenticator.add(page);
  return page;
}

/** Opens the login page, and waits until it knows what the service and the browser can do. */
async function atLogin(page: Page): Promise<void> {
  await page.goto('/');
  await on(page).button('Sign in with a passkey').waitFor();
}

const focused = (page: Page, css: string): Promise<void> => page.locator(`${css}:focus`).waitFor();

async function setPassword(page: Page, link: URL, name: string): Promise<void> {
  await page.goto(link.pathname + link.search);
  await on(page).heading('Choose your password').waitFor();
  await page.getByText(`Your user name: ${name}`).waitFor();
  await on(page).field('New password').fill(chosen);
  await on(page).field('Repeat the new password').fill(chosen);
  await on(page).button('Save password').click();
  await page.getByText('Your password is set.').waitFor();
}

/** Signs in with the name, the password and the mailed code. */
async function signIn(site: PortalSite, page: Page, name: string, typed = chosen): Promise<void> {
  await newMails(site.service);
  await on(page).logIn(name, typed);
  await enterMailedCode(site, page, name);
}

/** The mails from before the sign-in must be read, because two mails of one moment have no order. */
async function enterMailedCode(site: PortalSite, page: Page, name: string): Promise<void> {
  await on(page).heading('Enter your code').waitFor();
  await on(page).enterCode(await site.mailedCode(name));
}

async function saveCodes(page: Page): Promise<void> {
  await on(page).heading('Recovery codes').waitFor();
  await on(page).button('Make recovery codes').click();
  await page.locator('.codes code').first().waitFor();
  await on(page).button('I have saved them').click();
}

describe('the first day of an employee, where each sign-in asks for a code', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, MFA_REQUIRED: 'true' }, 'localhost');
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** Signs in with the name that the login page already has, and the mailed code. */
  const signInAs = async (page: Page, name: string): Promise<void> => {
    await becomes(() => on(page).field('User name').inputValue(), name);
    await focused(page, 'input[name=password]');
    await on(page).button('Sign in with a passkey').waitFor();
    await newMails(site.service);
    await page.keyboard.type(chosen);
    await page.keyboard.press('Enter');
    await enterMailedCode(site, page, name);
  };
  const signInAgain = async (page: Page, name: string): Promise<void> => {
    await on(page).signOut();
    // Otherwise the next page could open before this one has ended the session.
    await on(page).heading('Sign in').waitFor();
    site.service.clock.advanceSeconds(61);
    await atLogin(page);
    await signIn(site, page, name);
  };

  it('invitation, first password, sign-in with the name filled in, passkey, recovery codes, account', async () => {
    const { name, link } = await invited(site);
    const page = await browser(site);
    await setPassword(page, link, name);
    await signInAs(page, name);
    await on(page).heading(setUp).waitFor();
    await page.getByText(`You are signed in as ${name}.`).waitFor();
    await on(page).button('Create a passkey').click();
    await page.getByText('The passkey “Firefox on Windows” is ready.').waitFor();
    await saveCodes(page);
    await on(page).heading(`Hello, ${name}`).waitFor();

    // Nothing is missing, so no later sign-in with the password shows the page again.
    await signInAgain(page, name);
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('with an authenticator, without passkeys in the browser, to the page that was wanted first', async () => {
    const { name, link } = await invited(site);
    const page = await browser(site, false);
    await setPassword(page, link, name);
    await page.goto('/?return_to=/outbox');
    await on(page).button('Sign in with a passkey').waitFor();
    await signIn(site, page, name);
    await on(page).heading(setUp).waitFor();
    expect(await on(page).button('Create a passkey').count()).toBe(0);
    // A change of mind leads back here.
    await on(page).link('Set up authenticator').click();
    await on(page).link('Cancel').click();
    await on(page).heading(setUp).waitFor();
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await page.getByText('Your authenticator app is set up.').waitFor();
    await saveCodes(page);
    await on(page).heading('Demo inbox').waitFor();
  });

  it('all skipped, by keyboard alone: each step comes back at the next sign-in, until the browser is told to stop', async () => {
    const { name, link } = await invited(site);
    const page = await browser(site);
    await page.goto(link.pathname + link.search);
    await focused(page, 'input[name=new-password]');
    await page.keyboard.type(chosen);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type(chosen);
    await page.keyboard.press('Enter');
    await page.getByText('Your password is set.').waitFor();
    await signInAs(page, name);
    const press = async (label: string): Promise<void> => {
      await page.locator('h1:focus').waitFor();
      const reached = (): Promise<boolean> => page.evaluate(`document.activeElement.textContent === '${label}'`);
      for (let tabs = 0; tabs < 12 && !(await reached()); tabs++) await page.keyboard.press('Tab');
      expect(await reached()).toBe(true);
      await page.keyboard.press('Enter');
    };
    await on(page).heading(setUp).waitFor();
    await press('Not now');
    await on(page).heading('Recovery codes').waitFor();
    await press('Not now');
    await on(page).heading(`Hello, ${name}`).waitFor();
    // Not before the next sign-in.
    await page.reload();
    await on(page).heading(`Hello, ${name}`).waitFor();

    await signInAgain(page, name);
    await on(page).heading(setUp).waitFor();
    await press('Don’t ask again in this browser');
    await on(page).heading(`Hello, ${name}`).waitFor();
    await signInAgain(page, name);
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('the phone opens the mail and sets the password, and the page says where and as whom to sign in at the desk', async () => {
    const { name, link } = await invited(site);
    const phone = await browser(site, false, { viewport: sizes.phone });
    await phone.goto(link.pathname + link.search);
    await phone.getByText(`Then sign in at ${site.url}, here or on any other device.`).waitFor();
    const hidden = phone.locator('input[autocomplete=username]');
    expect(await hidden.inputValue()).toBe(name);
    await setPassword(phone, link, name);
    await phone.getByText(`On another device, open ${site.url} and sign in as ${name}.`).waitFor();

    const desk = await browser(site);
    await atLogin(desk);
    await signIn(site, desk, name);
    await on(desk).heading(setUp).waitFor();
  });

  it('the wrong account: the page says who is signed in, and leads to the login page for another one', async () => {
    const [wrong, right] = [await site.newUser(), await site.newUser()];
    const page = await browser(site);
    await atLogin(page);
    await signIn(site, page, wrong, password);
    await page.getByText(`You are signed in as ${wrong}.`).waitFor();
    await on(page).button('Use another account').click();
    await on(page).heading('Sign in').waitFor();
    await becomes(() => on(page).field('User name').inputValue(), '');
    await signIn(site, page, right, password);
    await page.getByText(`You are signed in as ${right}.`).waitFor();
  });

  it('a closed prompt is calm, and a sign-in that has become too old is confirmed in place', async () => {
    const name = await site.newUser();
    const page = await site.visitor({ userAgent: firefox }, { declined: false });
    const authenticator = await VirtualAuthenticator.add(page);
    await atLogin(page);
    await signIn(site, page, name, password);
    await authenticator.recognises(false);
    await on(page).button('Create a passkey').click();
    await page.locator('.message.info', { hasText: 'No passkey was made.' }).waitFor();
    site.service.clock.advanceSeconds(600);
    await on(page).button('Create a passkey').click();
    await authenticator.recognises(true);
    await on(page).confirmPassword();
    const code = on(page).fresh().getByLabel('Six-digit code');
    await code.waitFor();
    await code.fill(await site.mailedCode(name));
    await page.getByText('The passkey “Firefox on Windows” is ready.').waitFor();
  });

  it('whose account gets no code by e-mail must not skip: nothing else would open it again', async () => {
    const name = await site.newUser();
    const page = await browser(site);
    await atLogin(page);
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    const code = await site.mailedCode(name);
    // The address is lost between the mail and the page.
    await page.route('**/user/me', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: object };
      await route.fulfill({ response: answer, json: { ...body, data: { ...body.data, email: null } } });
    });
    await on(page).enterCode(code);
    await page.getByText('this cannot be skipped').waitFor();
    expect(await on(page).button('Not now').count()).toBe(0);
    expect(
      await on(page)
        .button(/ask again/)
        .count(),
    ).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await on(page).button('Create a passkey').click();
    await on(page).heading('Recovery codes').waitFor();
  });

  it.each(schemes)(
    'every page is accessible in %s, in each language and size, without sideways scrolling',
    async (colorScheme) => {
      const check = async (page: Page, name: string): Promise<void> => {
        for (const language of ['de', 'zh-CN', 'en']) {
          await page.locator('footer select').first().selectOption(language);
          await page.locator(`html[lang=${language}]`).waitFor();
          for (const [size, viewport] of Object.entries(sizes)) {
            await resize(page, viewport);
            await takePicture(page, `first-day-${name}-${language}-${size}-${colorScheme}`);
            expect([name, language, size, await accessibilityViolations(page)]).toEqual([name, language, size, []]);
            expect([name, language, size, await overflow(page)]).toEqual([name, language, size, 0]);
          }
        }
      };
      const { name, link } = await invited(site);
      const page = await browser(site, true, { colorScheme });
      await page.goto(link.pathname + link.search);
      await on(page).heading('Choose your password').waitFor();
      await check(page, 'password');
      await setPassword(page, link, name);
      await check(page, 'login');
      await on(page).field('Password').focus();
      await signInAs(page, name);
      await on(page).heading(setUp).waitFor();
      await check(page, 'offer');
      await on(page).button('Create a passkey').click();
      await on(page).heading('Recovery codes').waitFor();
      await check(page, 'codes');
      await on(page).button('Make recovery codes').click();
      await page.locator('.codes code').first().waitFor();
      await check(page, 'new-codes');
      await on(page).button('I have saved them').click();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await page.goto(link.pathname + link.search);
      await on(page).heading('This link does not work').waitFor();
      await check(page, 'used');
    },
  );
});

describe('where no sign-in asks for a code', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({}, 'localhost');
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  it('a passkey is offered, and neither an authenticator nor codes that nobody would ask for', async () => {
    const name = await site.newUser();
    const page = await browser(site);
    await atLogin(page);
    await on(page).logIn(name);
    await on(page).heading(setUp).waitFor();
    expect(await on(page).link('Set up authenticator').count()).toBe(0);
    await on(page).button('Create a passkey').click();
    await on(page).heading('You are all set').waitFor();
    await page.getByText('The passkey “Firefox on Windows” is ready.').waitFor();
    await on(page).button('Continue').click();
    await on(page).heading(`Hello, ${name}`).waitFor();
    expect(await page.getByText('so that you are not locked out').count()).toBe(0);

    await on(page).signOut();
    await on(page).button('Sign in with a passkey').click();
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('nothing is offered in a browser that keeps no passkeys, and the next page comes at once', async () => {
    const { name } = { name: await site.newUser() };
    const page = await browser(site, false);
    await atLogin(page);
    await on(page).logIn(name);
    await on(page).heading(`Hello, ${name}`).waitFor();
    await eventually(() => page.evaluate<boolean>(`sessionStorage.getItem('portal.password-login') === null`), {
      what: 'the end of the first steps',
    });
  });
});
