import type { Page } from 'playwright-core';
import { adminSettings, seedInstallation } from '../support/browser/admin-data';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { VirtualAuthenticator } from '../support/browser/virtual-authenticator';
import { eventually } from '../support/servers/eventually';

const fresh = (page: Page) => on(page).fresh();
const old = (site: PortalSite) => site.service.clock.advanceSeconds(600);
const codes = (page: Page) => page.locator('.codes code').first();
const make = async (page: Page): Promise<void> => {
  await on(page).section('Security');
  await on(page).button('Make recovery codes').click();
};
const isFocused = (page: Page, label: string, what: string) =>
  eventually(
    async () => (await page.evaluate<string>(`document.activeElement.labels?.[0]?.textContent ?? ''`)) === label,
    {
      what,
    },
  );

describe('a session that is too old for a step', () => {
  let site: PortalSite;
  beforeAll(async () => {
    site = await PortalSite.start({ MFA_TRUSTED_DEVICE_DAYS: '30' }, 'localhost');
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  it('is confirmed by keyboard alone, and the password manager is told whose password it is', async () => {
    const { page, name } = await site.signedIn();
    await on(page).section('Security');
    old(site);
    await on(page).button('Make recovery codes').focus();
    await page.keyboard.press('Enter');
    await isFocused(page, 'Password', 'the focus to be on the password');
    expect(await fresh(page).locator('input[autocomplete=username]').inputValue()).toBe(name);
    expect(await fresh(page).getByLabel('Password', { exact: true }).getAttribute('autocomplete')).toBe(
      'current-password',
    );
    await page.keyboard.type('Correct-Horse-7');
    await page.keyboard.press('Enter');
    await codes(page).waitFor();
    await page.locator('h2#recovery-codes:focus').waitFor();
    await fresh(page).waitFor({ state: 'detached' });
    // The session is young now, so the next step asks for nothing.
    await on(page).button('I have saved them').click();
    await on(page).button('Make new codes').click();
    await on(page).button('Make new codes').click();
    await codes(page).waitFor();
  });

  it('a wrong password is said at the field, an empty one too, and nothing is lost', async () => {
    const { page } = await site.signedIn();
    old(site);
    await make(page);
    await fresh(page).getByRole('button', { name: 'Continue' }).click();
    await fresh(page).getByText('Enter your password.').waitFor();
    await on(page).confirmPassword('wrong');
    await fresh(page).getByText('This password is wrong.').waitFor();
    await isFocused(page, 'Password', 'the focus to be on the wrong password');
    await on(page).confirmPassword();
    await codes(page).waitFor();
  });

  it('the third wrong password locks the account, and the dialog says so', async () => {
    const { page } = await site.signedIn();
    old(site);
    await make(page);
    for (let n = 1; n <= 3; n++) {
      // The message about the password before is still there.
      const answer = page.waitForResponse((one) => one.request().method() === 'POST' && one.status() === 401);
      await on(page).confirmPassword(`wrong ${n}`);
      await answer;
      await fresh(page).getByText('This password is wrong.').waitFor();
    }
    await on(page).confirmPassword();
    await fresh(page)
      .getByRole('alert')
      .getByText(/locked/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.reload();
    await on(page).heading('Security').waitFor();
  });

  it('Escape and the button leave everything as it was, say so calmly, and the step can be tried again', async () => {
    const { page } = await site.signedIn();
    old(site);
    const told = page.locator('.message.info', { hasText: 'Nothing was done' });
    await make(page);
    await fresh(page).waitFor();
    await page.keyboard.press('Escape');
    await told.waitFor();
    await page.locator('.message.info:focus').waitFor();
    await make(page);
    await fresh(page).getByRole('button', { name: 'Cancel' }).click();
    await told.waitFor();
    expect(await codes(page).count()).toBe(0);
    await make(page);
    await on(page).confirmPassword();
    await codes(page).waitFor();
    await told.waitFor({ state: 'detached' });
  });

  it('keeps the name of a new passkey, with a confirmation by the password', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    const authenticator = await VirtualAuthenticator.add(page);
    await page.goto('/');
    await on(page).logIn(name);
    await on(page).section('Security');
    await on(page).button('Add a passkey').click();
    await on(page).field('Name of the passkey').fill('Key of Ada');
    old(site);
    await on(page).button('Continue').click();
    await on(page).confirmPassword();
    await on(page).button('Rename: Key of Ada').waitFor();

    // A closed prompt of the browser is no mistake, and the password still works.
    await authenticator.recognises(false);
    old(site);
    await on(page).button('Remove: Key of Ada').click();
    await on(page).button('Remove').click();
    await fresh(page).getByRole('button', { name: 'Use a passkey' }).click();
    await fresh(page).locator('.message.info').waitFor();
    await on(page).confirmPassword();
    await page.getByText('You have no passkeys.').waitFor();
  });

  it('a first authenticator is set up in an old session without a dialog', async () => {
    const { page } = await site.signedIn();
    old(site);
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    await on(page).heading('Set up your authenticator app').waitFor();
    expect(await fresh(page).count()).toBe(0);
  });

  it('an authenticator is replaced in an old session with its code instead of a dialog, and the page says what helps without it', async () => {
    const { page, name } = await site.signedIn();
    const secretOf = async () => ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const former = await secretOf();
    await on(page).enterCode(site.authenticatorCode(former));
    await on(page).link('Replace authenticator').waitFor();
    old(site);
    // A confirmation is no login of the last minutes, so the code of the authenticator is still asked for.
    await make(page);
    await on(page).confirmPassword();
    await codes(page).waitFor();
    await on(page).button('I have saved them').click();
    await on(page).link('Replace authenticator').click();
    await on(page).heading('Confirm it is you').waitFor();
    expect(await fresh(page).count()).toBe(0);
    await page.getByText(/^No longer have the app\? Sign out and sign in again/).waitFor();
    await page.getByLabel('Current code').fill(site.authenticatorCode(former));
    await on(page).heading('Set up your authenticator app').waitFor();
    expect(await secretOf()).not.toBe(former);

    // What the page says holds: after a new sign-in no code is asked for.
    await page.goto('/account');
    await on(page).signOut();
    await on(page).logIn(name);
    await on(page).section('Security');
    await on(page).link('Replace authenticator').click();
    await on(page).heading('Set up your authenticator app').waitFor();
  });

  it('a sign-out in another tab closes the dialog', async () => {
    const { page, name } = await site.signedIn();
    const other = await page.context().newPage();
    await other.goto('/account');
    await on(other).heading(`Hello, ${name}`).waitFor();
    old(site);
    await make(page);
    await fresh(page).waitFor();
    await on(other).signOut();
    await on(page).heading('Sign in').waitFor();
    await fresh(page).waitFor({ state: 'detached' });
  });

  it('the other tab goes on with the new tokens', async () => {
    const { page, name } = await site.signedIn();
    const other = await page.context().newPage();
    await other.goto('/account');
    await on(other).heading(`Hello, ${name}`).waitFor();
    old(site);
    await make(page);
    await on(page).confirmPassword();
    await codes(page).waitFor();
    await on(other).section('Security');
    await on(other).button('Make new codes').or(on(other).button('Make recovery codes')).click();
    await codes(other).or(on(other).button('Make new codes')).first().waitFor();
    expect(await fresh(other).count()).toBe(0);
    // The access token of before has expired, and its refresh token was replaced.
    site.service.clock.advanceSeconds(1000);
    await other.reload();
    await on(other).heading('Security').waitFor();
  });
});

describe('where a login needs a code', () => {
  let site: PortalSite;
  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'true' });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const signedIn = async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    // Before the page is loaded: React reads the clock from the start.
    await page.clock.install({ time: site.service.clock.now() });
    await page.goto('/');
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).heading(`Hello, ${name}`).waitFor();
    old(site);
    return { page, name };
  };

  it('the dialog asks for the mailed code after the password, and a new code can be sent', async () => {
    const { page, name } = await signedIn();
    await make(page);
    await on(page).confirmPassword();
    await fresh(page)
      .getByText(/^We sent a six-digit code to u•••@/)
      .waitFor();
    await isFocused(page, 'Six-digit code', 'the focus to be on the code');
    const right = await site.mailedCode(name);
    await fresh(page)
      .getByLabel('Six-digit code')
      .fill(String((Number(right) + 1) % 1_000_000).padStart(6, '0'));
    await fresh(page).getByRole('alert').getByText('Attempts left: 4.').waitFor();
    await site.pass(page, 61);
    await fresh(page).getByRole('button', { name: 'Send a new code' }).click();
    await fresh(page).getByText('A new code is on its way.').waitFor();
    const resent = await site.mailedCode(name);
    await fresh(page).getByLabel('Six-digit code').fill(resent);
    await codes(page).waitFor();
  });

  it('a recovery code helps without the mail, and a cancelled dialog goes on with its code', async () => {
    const { page, name } = await signedIn();
    await make(page);
    await on(page).confirmPassword();
    await fresh(page).getByLabel('Six-digit code').waitFor();
    await page.keyboard.press('Escape');
    await make(page);
    // The mail of a moment ago is still good.
    await on(page).confirmPassword();
    await fresh(page)
      .getByLabel('Six-digit code')
      .fill(await site.mailedCode(name));
    await codes(page).waitFor();
    const [first] = await page.locator('.codes code').allTextContents();
    await on(page).button('I have saved them').click();
    old(site);
    await on(page).button('Make new codes').click();
    await on(page).button('Make new codes').click();
    await on(page).confirmPassword();
    await fresh(page).getByRole('button', { name: 'No access to your e-mail?' }).click();
    await fresh(page).getByLabel('Recovery code').fill(first!);
    await fresh(page).getByRole('button', { name: 'Confirm' }).click();
    await codes(page).waitFor();
  });

  describe.each(schemes)('in %s', (colorScheme) => {
    it('every state of the dialog is accessible and fits a phone', async () => {
      const { page } = await signedIn();
      await page.emulateMedia({ colorScheme });
      const check = async (name: string): Promise<void> => {
        for (const [size, viewport] of Object.entries(sizes)) {
          await resize(page, viewport);
          await takePicture(page, `fresh-login-${name}-${size}-${colorScheme}`);
          expect([name, size, await accessibilityViolations(page)]).toEqual([name, size, []]);
          expect([name, size, await overflow(page)]).toEqual([name, size, 0]);
        }
      };
      await make(page);
      await fresh(page).waitFor();
      await check('password');
      await on(page).confirmPassword('wrong');
      await fresh(page).getByText('This password is wrong.').waitFor();
      await check('wrong');
      await on(page).confirmPassword();
      await fresh(page).getByLabel('Six-digit code').waitFor();
      await check('code');
      await fresh(page).getByRole('button', { name: 'No access to your e-mail?' }).click();
      await fresh(page).getByLabel('Recovery code').waitFor();
      await check('recovery');
      await page.keyboard.press('Escape');
      await page.locator('.message.info', { hasText: 'Nothing was done' }).waitFor();
      await check('cancelled');
    });
  });
});

it('an administrator who has signed in without the own passkey confirms with it before a first authenticator', async () => {
  const site = await PortalSite.start({ ...adminSettings, ADMIN_REQUIRES_MFA: 'true' }, 'localhost');
  try {
    const name = await site.newUser({ isAdmin: true });
    const page = await site.visitor();
    await VirtualAuthenticator.add(page);
    await page.goto('/account/security');
    await on(page).logIn(name);
    await on(page).button('Add a passkey').click();
    await on(page).button('Continue').click();
    await page.getByText('You can sign in with it now.').waitFor();
    await on(page).signOut();
    await on(page).logIn(name);
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    await fresh(page).waitFor();
    await fresh(page).getByRole('button', { name: 'Use a passkey' }).click();
    await page.locator('.key code').waitFor();
    await fresh(page).waitFor({ state: 'detached' });
    expect(site.takeComplaints()).toEqual([]);
  } finally {
    await site.stop();
  }
});

describe('the administration console', () => {
  let site: PortalSite;
  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ADMIN_REQUIRES_MFA: 'true' });
    await seedInstallation(site.service);
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  it('asks for the authenticator in place, and keeps what was typed in a form', async () => {
    const name = await site.newUser({ isAdmin: true });
    const page = await site.signIn(name);
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await on(page).link('Replace authenticator').waitFor();
    await on(page).signOut();
    await on(page).logIn(name);
    await on(page).link('Administration').click();

    // The login has asked for no code, so the console wants the second factor.
    await on(page).heading('Sign in with a second factor').waitFor();
    await on(page).button('Confirm second factor').click();
    await on(page).confirmPassword();
    await fresh(page).getByLabel('Six-digit code').waitFor();
    site.service.clock.advanceSeconds(61);
    await fresh(page).getByLabel('Six-digit code').fill(site.authenticatorCode(secret));
    await on(page).heading('Overview').waitFor();

    await page.evaluate<undefined>(`void (location.hash = '#/users/new')`);
    await on(page).heading('New user').waitFor();
    await on(page).field('User name').fill('new.colleague');
    await on(page).field('E-mail address').fill('new.colleague@example.com');
    old(site);
    await on(page).button('Create user').click();
    await fresh(page).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.message.info', { hasText: 'Nothing was done' }).waitFor();
    expect(await on(page).field('User name').inputValue()).toBe('new.colleague');
    await on(page).button('Create user').click();
    await on(page).confirmPassword();
    await on(page).heading('new.colleague').waitFor();
  });
});
