import type { Page } from 'playwright-core';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { VirtualAuthenticator } from '../support/browser/virtual-authenticator';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';

describe.each(schemes)('the pages with passkeys, in %s', (colorScheme) => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({}, 'localhost');
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const check = async (page: Page, name: string): Promise<void> => {
    for (const [size, viewport] of Object.entries(sizes)) {
      await resize(page, viewport);
      await takePicture(page, `passkeys-${name}-${size}-${colorScheme}`);
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

  it('every state of the login page is accessible, without sideways scrolling', async () => {
    const page = await site.visitor({ colorScheme, userAgent: firefox });
    // The name of the field then also asks for the autofill of passkeys.
    const authenticator = await VirtualAuthenticator.add(page, { autofill: true });
    await page.goto('/');
    await on(page).button('Sign in with a passkey').waitFor();
    await inEachLanguage(page, 'login');
    await on(page).button('Sign in with a passkey').click();
    await page.getByText('No passkey was used.').waitFor();
    await check(page, 'login-cancelled');
    await authenticator.userLeaves();
    await page.route('**/login/passkey-options', (route) =>
      route.fulfill({ status: 429, json: { error_code: 'COMMON_429001', msg: 'wait', data: { retry_after: 42 } } }),
    );
    await on(page).button('Sign in with a passkey').click();
    await on(page).alert().waitFor();
    await check(page, 'login-refused');
  });

  it('every state of the account page is accessible, without sideways scrolling', async () => {
    const page = await site.visitor({ colorScheme, userAgent: firefox });
    const authenticator = await VirtualAuthenticator.add(page);
    await page.goto('/');
    await on(page).logIn(await site.newUser());
    await on(page).section('Security');
    await page.getByText('You have no passkeys.').waitFor();
    await on(page).button('Add a passkey').click();
    await authenticator.recognises(false);
    await on(page).button('Continue').click();
    await page.getByText('No passkey was made.').waitFor();
    await check(page, 'add-cancelled');
    await authenticator.recognises(true);
    await on(page).button('Continue').click();
    await page.getByText('You can sign in with it now.').waitFor();
    await check(page, 'added');
    await on(page).button('Add a passkey').click();
    await on(page).button('Continue').click();
    await page.getByText('This device already has a passkey for your account.').waitFor();
    await check(page, 'add');
    await on(page).button('Cancel').click();
    await inEachLanguage(page, 'card');
    await on(page).button('Rename: Firefox on Windows').click();
    await on(page).field('Name of the passkey').fill('');
    await on(page).button('Save').click();
    await page.getByText('Enter a name.').waitFor();
    await check(page, 'rename');
    await on(page)
      .field('Name of the passkey')
      .fill('Averylongnamewithoutanyspaceaslongasthefieldallowsittobexxxxxxxx');
    await on(page).button('Save').click();
    await page.getByText('The passkey has its new name.').waitFor();
    await check(page, 'renamed');
    await on(page)
      .button(/^Remove: /)
      .click();
    await page.getByText('You can then no longer sign in with it.').waitFor();
    await check(page, 'remove');
    site.service.clock.advanceSeconds(600);
    await on(page).button('Remove').click();
    await on(page).fresh().getByRole('button', { name: 'Use a passkey' }).waitFor();
    await check(page, 'fresh-login');
  });

  it('a closed prompt of the offer is accessible', async () => {
    const page = await site.visitor({ colorScheme, userAgent: firefox }, { declined: false });
    const authenticator = await VirtualAuthenticator.add(page);
    await page.goto('/');
    await on(page).button('Sign in with a passkey').waitFor();
    await on(page).logIn(await site.newUser());
    await authenticator.recognises(false);
    await on(page).button('Create a passkey').click();
    await page.getByText('No passkey was made.').waitFor();
    await check(page, 'offer-cancelled');
    await authenticator.recognises(true);
    await on(page).button('Create a passkey').click();
    await on(page).heading('You are all set').waitFor();
    await check(page, 'offer-accepted');
  });

  it('a browser without passkeys says so, accessibly', async () => {
    const page = await site.visitor({ colorScheme });
    await page.addInitScript('delete window.PublicKeyCredential;');
    await page.goto('/');
    await on(page).logIn(await site.newUser());
    await on(page).section('Security');
    await page.getByText('This browser cannot make passkeys.').waitFor();
    await check(page, 'unsupported');
  });
});
