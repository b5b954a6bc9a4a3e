import type { Page } from 'playwright-core';
import { UsersRepository } from '../../src/users/users.repository';
import { accessibilityViolations } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { invite } from '../support/operator';
import { goodPassword, linkIn, mailedToken, newMails } from '../support/reset';

const support = 'https://help.example.com/';

/** Each dead end in each language: nothing here may depend on the words of one language alone. */
const languages = ['de', 'zh-CN', 'en'] as const;
const inEachLanguage = async (page: Page): Promise<void> => {
  for (const language of languages) {
    await page.locator('footer select').first().selectOption(language);
    await page.locator(`html[lang=${language}]`).waitFor();
    expect([language, await accessibilityViolations(page)]).toEqual([language, []]);
  }
};

describe('where the pages cannot help, they say whom to ask', () => {
  let site: PortalSite;
  let supported: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'true' });
    supported = await PortalSite.start({ MFA_REQUIRED: 'true', SUPPORT_URL: support });
  });
  afterAll(async () => {
    await site.stop();
    await supported.stop();
  });
  afterEach(() => expect([...site.takeComplaints(), ...supported.takeComplaints()]).toEqual([]));

  const open = async (path: string, at = site): Promise<Page> => {
    const page = await at.visitor();
    await page.goto(path);
    return page;
  };
  const helpOf = (page: Page) => page.locator('main').getByRole('link', { name: 'Get help' });

  it('somebody without an e-mail address who has forgotten the password', async () => {
    const page = await open('/forgot-password');
    await page.getByText('Does your account have no e-mail address').waitFor();
    await page.getByText('Ask your administrator.').waitFor();
    await inEachLanguage(page);
    const other = await open('/forgot-password', supported);
    await helpOf(other).waitFor();
    expect(await helpOf(other).getAttribute('href')).toBe(support);
  });

  it('somebody to whom no link comes', async () => {
    const page = await open('/forgot-password');
    await on(page)
      .field('E-mail address')
      .fill(`${await site.newUser()}@example.com`);
    await on(page).button('Send link').click();
    await page.getByText('Look in the spam folder').waitFor();
    await page.getByText('Ask your administrator.').waitFor();
    await inEachLanguage(page);
  });

  it('somebody without an e-mail address at the page for the code', async () => {
    const name = await site.newUser({ email: null });
    const page = await open('/');
    await on(page).logIn(name);
    await page.getByText('your account has no e-mail address').waitFor();
    await on(page).button('Use a recovery code').waitFor();
    await page.getByText('An administrator can take away the lost phone').waitFor();
    await inEachLanguage(page);
  });

  it('somebody whose code does not come: wait, look, send again, use a recovery code, or ask', async () => {
    const page = await open('/', supported);
    await on(page).logIn(await supported.newUser());
    await page.getByText('Look in the spam folder too.').waitFor();
    await on(page)
      .button(/^Send a new code/)
      .waitFor();
    await inEachLanguage(page);
    await on(page).button('No access to your e-mail?').click();
    await on(page).field('Recovery code').waitFor();
    await helpOf(page).waitFor();
    await inEachLanguage(page);
    await on(page).button('Back to sign in').click();
    await on(page).heading('Sign in').waitFor();
  });

  it('somebody whose phone with the authenticator is lost', async () => {
    const name = await site.newUser();
    const page = await open('/');
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await page.getByText('Your authenticator app is set up.').waitFor();
    await on(page).signOut();
    await on(page).logIn(name);
    await on(page).button('Lost your phone?').click();
    await page.getByText('An administrator can take away the lost phone').waitFor();
    await page.getByText('Ask your administrator.').waitFor();
  });

  it('a locked account: a new password lifts the lock at once', async () => {
    const name = await site.newUser();
    const page = await open('/');
    for (let i = 0; i < 3; i++) {
      const answer = page.waitForResponse('**/login');
      await on(page).logIn(name, 'Wrong-Horse-7');
      await answer;
      await on(page).button('Sign in').waitFor();
    }
    await on(page).logIn(name);
    await page.getByText('The account is locked').waitFor();
    await inEachLanguage(page);
    await on(page).link('A new password also lifts the lock at once.').click();
    await on(page).heading('Forgot your password?').waitFor();
    const token = await mailedToken(site.service, `${name}@example.com`);
    await page.goto(`/reset-password?uid=${token}&lang=en`);
    await on(page).field('New password').fill(goodPassword(1));
    await on(page).field('Repeat the new password').fill(goodPassword(1));
    await on(page).button('Save password').click();
    await page.getByText('Your password has been changed.').waitFor();
    await on(page).field('Password').fill(goodPassword(1));
    await page.keyboard.press('Enter');
    await on(page).heading('Enter your code').waitFor();
  });

  it('a disabled account: the administrator, and the support of the company', async () => {
    const page = await open('/', supported);
    await on(page).logIn(await supported.newUser({ status: -1 }));
    await page.getByText('The account is disabled.').waitFor();
    await helpOf(page).waitFor();
    await inEachLanguage(page);
  });

  it('an expired invitation: a new link sets the first password as well', async () => {
    const name = await site.newUser({ password: null });
    const user = await site.service.app.get(UsersRepository).findByLoginName(name);
    await newMails(site.service);
    await invite(site.service, user!);
    const [mail] = await newMails(site.service);
    const link = linkIn(mail);
    site.service.clock.advanceSeconds(8 * 86_400);
    const page = await open(link.pathname + link.search);
    await page.getByText('This link has expired.').waitFor();
    await page.getByText('Were you invited?').waitFor();
    await page.getByText('Ask your administrator.').waitFor();
    await inEachLanguage(page);
    await on(page).link('Request a new link').click();
    await on(page).field('E-mail address').fill(`${name}@example.com`);
    await on(page).button('Send link').click();
    await on(page).heading('Check your inbox').waitFor();
    const renewed = linkIn((await newMails(site.service)).at(-1));
    await page.goto(renewed.pathname + renewed.search);
    await page.getByText(`Your user name: ${name}`).waitFor();
    await on(page).field('New password').fill(goodPassword(1));
    await on(page).field('Repeat the new password').fill(goodPassword(1));
    await on(page).button('Save password').click();
    await page.getByText('Your password has been changed.').waitFor();
    await on(page).field('Password').fill(goodPassword(1));
    await page.keyboard.press('Enter');
    await on(page).heading('Enter your code').waitFor();

    // The link has been used: whoever used it can sign in, and somebody else can take the account back.
    await page.goto(renewed.pathname + renewed.search);
    await page.getByText('This link has already been used.').waitFor();
    await page.getByText('If you have set your password with it, you can sign in.').waitFor();
    await on(page).link('Back to sign in').waitFor();
  });

  it('two accounts: a link of the other account names the account whose password it changes', async () => {
    const [mine, other] = [await site.newUser(), await site.newUser()];
    const page = await open('/');
    await on(page).logIn(mine);
    await on(page).heading('Enter your code').waitFor();
    await on(page).enterCode(await site.mailedCode(mine));
    await on(page).heading(`Hello, ${mine}`).waitFor();
    const token = await mailedToken(site.service, `${other}@example.com`);
    await page.goto(`/reset-password?uid=${token}&lang=en`);
    await page.getByText(`Your user name: ${other}`).waitFor();
    await page.goto('/account');
    await on(page).heading(`Hello, ${mine}`).waitFor();
    await on(page).signOut();
    await on(page).heading('Sign in').waitFor();
    expect(await on(page).field('User name').inputValue()).toBe('');
  });
});
