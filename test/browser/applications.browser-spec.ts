import type { Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, overflow, resize, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { RelyingParty } from '../support/browser/relying-party';
import { callback, exchange, givenApplication, OpenIdBrowser, sendTo } from '../support/openid';
import { goodPassword, linkIn, newMails, recipients } from '../support/reset';

/** docs/spec/extensions.md#j: what a user sees when an application signs its users in here. */
describe('the sign-in at an application', () => {
  let site: PortalSite;
  let grafana: RelyingParty;
  let wiki: RelyingParty;
  let closed: RelyingParty;

  beforeAll(async () => {
    site = await PortalSite.start({ OIDC: 'on' });
    grafana = await RelyingParty.start(site);
    const scopes = ['openid', 'profile', 'email', 'organization', 'offline_access'];
    wiki = await RelyingParty.start(site, { name: 'Wiki', firstParty: false, scopes });
    closed = await RelyingParty.start(site, { name: 'Payroll', allowedTenants: ['nobody'] });
  });
  afterAll(async () => {
    await Promise.all([grafana, wiki, closed].map((one) => one.stop()));
    await site.stop();
  });
  afterEach(() => {
    const urls = [grafana, wiki, closed].flatMap(({ url }) => [url, otherSite(url)]);
    const own = urls.map((url) => `foreign request: ${url}/`);
    expect(site.takeComplaints().filter((one) => !own.some((start) => one.startsWith(start)))).toEqual([]);
  });

  const heading = (page: Page, text: string | RegExp) => on(page).heading(text).waitFor();
  const consent = (page: Page) => heading(page, 'Continue to Wiki?');
  const kept = (page: Page) => page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');

  it('leads from the application over the login back to it, also after a reload, and later without a question', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    await page.goto(grafana.start());
    await heading(page, 'Sign in');
    expect(page.url()).toMatch(`${site.url}/?interaction=`);
    await page.reload();
    await on(page).logIn(name);
    await heading(page, `Grafana: ${name} with urn:portal:acr:1`);
    await page.goto(grafana.start());
    await heading(page, `Grafana: ${name} with urn:portal:acr:1`);
    await page.goto('/account');
    await heading(page, `Hello, ${name}`);
    expect(await kept(page)).not.toMatch(/continue|interaction/);
  });

  it('in two tabs at once, the sign-in of one tab lets both go on', async () => {
    const name = await site.newUser();
    const first = await site.visitor();
    const second = await first.context().newPage();
    for (const page of [first, second]) {
      await page.goto(grafana.start());
      await heading(page, 'Sign in');
    }
    await on(first).logIn(name);
    for (const page of [first, second]) await heading(page, `Grafana: ${name} with`);
  });

  it('goes on after the forced change of a temporary password', async () => {
    const name = await site.newUser({ temporary: true });
    const page = await site.visitor();
    await page.goto(grafana.start());
    await on(page).logIn(name);
    await heading(page, 'Set your password');
    await setPassword(page);
    await on(page).logIn(name, goodPassword(1));
    await heading(page, `Grafana: ${name} with`);
  });

  it('goes on in the tab of the mailed link, and nothing of it stays in the browser', async () => {
    const name = await site.newUser();
    const page = await site.visitor();
    await page.goto(grafana.start());
    await on(page).link('Forgot password?').click();
    await on(page).field('E-mail address').fill(`${name}@example.com`);
    await on(page).button('Send link').click();
    await heading(page, 'Check your inbox');
    const mails = (await newMails(site.service)).filter((mail) => recipients(mail)?.includes(`${name}@example.com`));
    const link = await page.context().newPage();
    await link.goto(linkIn(mails.at(-1)).href);
    await setPassword(link);
    await on(link).logIn(name, goodPassword(1));
    await heading(link, `Grafana: ${name} with`);
    await link.goto('/account');
    expect(await kept(link)).not.toMatch(/continue|interaction/);
  });

  it('asks for consent by keyboard alone, says what the application sees, and asks only once', async () => {
    const name = await site.newUser({ nickname: 'Alice Example' });
    const page = await site.visitor();
    await page.goto(wiki.start('prompt=consent'));
    await on(page).logIn(name);
    await consent(page);
    for (const text of [`Alice Example · ${name}`, `${name}@example.com`, 'Also while you are signed out'])
      await page.getByText(text).waitFor();
    await page.locator('h1:focus').waitFor();
    for (let n = 0; n < 2; n++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await heading(page, `Wiki: ${name} with`);
    await page.goto(wiki.start());
    await heading(page, `Wiki: ${name} with`);
  });

  it('a refused consent leads back with access_denied, and the next sign-in asks again', async () => {
    const page = await site.signIn(await site.newUser());
    await page.goto(wiki.start());
    await consent(page);
    await on(page).button('Refuse').click();
    await heading(page, 'Wiki: access_denied');
    await page.goto(wiki.start());
    await consent(page);
  });

  it('somebody else signs in as another user on the page of the consent, and goes on as that user', async () => {
    const other = await site.newUser();
    const { page, name } = await site.signedIn();
    await page.goto(wiki.start());
    await page.getByText(`You are signed in as ${name}. Not you?`).waitFor();
    await on(page).button('Sign in as another user').click();
    await heading(page, 'Sign in');
    await on(page).logIn(other);
    await page.getByText(`You are signed in as ${other}. Not you?`).waitFor();
    await on(page).button('Allow').click();
    await heading(page, `Wiki: ${other} with`);
  });

  it('the link that skips to the content keeps the sign-in: after it, somebody else goes on as that user', async () => {
    const other = await site.newUser();
    const { page } = await site.signedIn();
    await page.goto(wiki.start());
    await consent(page);
    const address = page.url();
    await on(page).link('Skip to content').focus();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    expect(page.url()).toBe(address);
    await on(page).button('Sign in as another user').click();
    await on(page).logIn(other);
    await page.getByText(`You are signed in as ${other}. Not you?`).waitFor();
  });

  it('where the application asks for an account, says who is signed in and goes on as this user', async () => {
    const { page, name } = await site.signedIn();
    site.service.clock.advanceSeconds(1);
    await page.goto(grafana.start('prompt=select_account'));
    await heading(page, 'Choose an account');
    await page.getByText(`${name} · ${name}@example.com`).waitFor();
    await on(page).button(`Continue as ${name}`).click();
    await heading(page, `Grafana: ${name} with`);
  });

  it('where the application asks for an account, somebody else signs in and goes on without another question', async () => {
    const other = await site.newUser();
    const { page, name } = await site.signedIn();
    await page.goto(grafana.start());
    await heading(page, `Grafana: ${name} with`);
    site.service.clock.advanceSeconds(1);
    await page.goto(grafana.start('prompt=select_account'));
    await on(page).button(`Continue as ${name}`).waitFor();
    await on(page).button('Sign in as another user').click();
    await heading(page, 'Sign in');
    await on(page).logIn(other);
    await heading(page, `Grafana: ${other} with`);
  });

  it('where the application asks for an account, a cancel leads back, and a fresh sign-in is asked for after the choice', async () => {
    const { page, name } = await site.signedIn();
    site.service.clock.advanceSeconds(1);
    await page.goto(grafana.start('prompt=select_account'));
    await on(page).button('Cancel the sign-in').click();
    await heading(page, 'Grafana: access_denied');
    await page.goto(grafana.start('prompt=login%20select_account'));
    await on(page).button(`Continue as ${name}`).click();
    await on(page).confirmPassword();
    await heading(page, `Grafana: ${name} with`);
    await page.goto(wiki.start('prompt=select_account'));
    await consent(page);
    await on(page).button('Allow').click();
    await heading(page, `Wiki: ${name} with`);
  });

  it('where an account or consent is asked for as well, says that a closed confirmation is due, and then goes on', async () => {
    const { page, name } = await site.signedIn();
    site.service.clock.advanceSeconds(1);
    for (const [party, start, button] of [
      [grafana, 'prompt=login%20select_account', `Continue as ${name}`],
      [wiki, 'prompt=login', 'Allow'],
    ] as const) {
      await page.goto(party.start(start));
      await on(page).button(button).click();
      await on(page).fresh().waitFor();
      await page.keyboard.press('Escape');
      await heading(page, 'Confirm that it is you');
      expect(await on(page).button(button).count()).toBe(0);
      await on(page).button('Continue').click();
      await on(page).confirmPassword();
      await heading(page, `${party.name}: ${name} with`);
      site.service.clock.advanceSeconds(1);
    }
  });

  it('a cancel that the network loses is tried again as a cancel, not as a sign-in', async () => {
    const { page } = await site.signedIn();
    site.service.clock.advanceSeconds(1);
    await page.goto(grafana.start('prompt=login'));
    await on(page).fresh().waitFor();
    await page.keyboard.press('Escape');
    await heading(page, 'Confirm that it is you');
    const lost = (url: URL) => url.pathname.startsWith('/applications/interactions/');
    await page.route(lost, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
    await on(page).button('Cancel the sign-in').click();
    const again = on(page).button('Try again');
    await again.waitFor();
    await page.unroute(lost);
    await again.click();
    await heading(page, 'Grafana: access_denied');
    site.takeComplaints();
  });

  it('where the application asks for another user by id_token_hint, does not offer the present one again and again', async () => {
    const { service } = site;
    const application = await givenApplication(service, { name: 'Intranet', uri: null });
    const browser = new OpenIdBrowser(sendTo(site.url), '/oidc', site.url);
    const other = await site.newUser();
    const { access } = await service.session(other);
    const authorization = await browser.signIn(application, access);
    const { id_token } = (await exchange(service, application, authorization)).body as { id_token: string };
    const { page, name } = await site.signedIn();
    service.clock.advanceSeconds(1);
    const query = new URLSearchParams({
      ...{ client_id: application.id, response_type: 'code', redirect_uri: callback, scope: 'openid' },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
      ...{ prompt: 'select_account', id_token_hint: id_token },
    });
    await page.goto(`/oidc/auth?${query.toString()}`);
    await on(page).button(`Continue as ${name}`).click();
    await on(page).confirmPassword();
    await on(page).fresh().getByText('This step needs your second factor.').waitFor();
    await page.keyboard.press('Escape');
    await heading(page, 'Confirm that it is you');
    expect(await on(page).button(`Continue as ${name}`).count()).toBe(0);
    await on(page).button('Sign in as another user').waitFor();
  });

  it('asks a session of one factor for its second factor when the application wants two, and a cancel leads back', async () => {
    const { page, name } = await site.signedIn();
    const strict = grafana.start('acr_values=urn:portal:acr:2');
    await page.goto(strict);
    await on(page).fresh().getByText('This step needs your second factor.').waitFor();
    await page.keyboard.press('Escape');
    await heading(page, 'Confirm that it is you');
    await on(page).button('Cancel the sign-in').click();
    await heading(page, 'Grafana: access_denied');
    await page.goto(strict);
    await on(page).confirmPassword();
    await on(page).field('Six-digit code').waitFor();
    await on(page).enterCode(await site.mailedCode(name));
    await heading(page, `Grafana: ${name} with urn:portal:acr:2`);
  });

  it('asks a signed-in user for the password where the application asks for a fresh sign-in', async () => {
    const { page, name } = await site.signedIn();
    site.service.clock.advanceSeconds(1);
    await page.goto(grafana.start('prompt=login'));
    await on(page).fresh().getByText('Grafana asks for a fresh confirmation').waitFor();
    await on(page).confirmPassword();
    await heading(page, `Grafana: ${name} with`);
  });

  it('takes a request as a form of another site, and the browser is recognised after it', async () => {
    const { page, name } = await site.signedIn();
    await page.goto(grafana.start());
    await heading(page, `Grafana: ${name} with`);
    const { headers } = await fetch(grafana.start('prompt=none'), { redirect: 'manual' });
    const { origin, pathname, searchParams } = new URL(headers.get('location')!);
    const elsewhere = `${otherSite(grafana.url)}/`;
    await page.route(elsewhere, (route) => {
      const fields = [...searchParams].map(([key, value]) => `<input name="${key}" value="${value}">`).join('');
      const body = `<form method="post" action="${origin}${pathname}">${fields}<button>Send</button></form>`;
      return route.fulfill({ contentType: 'text/html', body });
    });
    await page.goto(elsewhere);
    await on(page).button('Send').click();
    await heading(page, `Grafana: ${name} with`);
  });

  it('says that a user may not use the application, and leads back to it', async () => {
    const { page, name } = await site.signedIn();
    await page.goto(closed.start());
    await heading(page, 'You may not use this application');
    await on(page).alert().getByText(`You are signed in as ${name}.`).waitFor();
    await on(page).link('Back to the application').click();
    await heading(page, 'Payroll: access_denied');
  });

  it('in another browser than the one that began, says that the sign-in is over', async () => {
    const page = await site.visitor();
    await page.goto(grafana.start());
    await heading(page, 'Sign in');
    const other = await site.visitor();
    await other.goto(page.url());
    const name = await site.newUser();
    await on(other).logIn(name);
    await heading(other, 'This sign-in is over');
    await on(other).link('Your applications').click();
    await heading(other, `Hello, ${name}`);
    // An address that is no percent encoding is that of no sign-in, and breaks no page.
    await other.goto('/continue#%');
    await heading(other, 'This sign-in is over');
  });

  describe('of a device', () => {
    let tv: RelyingParty;
    beforeAll(async () => {
      tv = await RelyingParty.start(site, { name: 'TV', type: 'native' });
    });
    afterAll(() => tv.stop());

    it('takes the typed code, asks once, and sends the user back to the device', async () => {
      const { page } = await site.signedIn();
      const { code, tokens } = await tv.device();
      await page.goto('/device');
      await page.locator('input:focus').waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('Enter the code that the device shows.').waitFor();
      await page.keyboard.type(code.toLowerCase());
      await page.keyboard.press('Enter');
      await heading(page, 'Continue to TV?');
      await on(page).button('Allow').click();
      await heading(page, 'Your device is signed in');
      expect((await tokens())?.sub).toMatch(/^[\w-]{36}$/);
    });

    it('shows the code of a scanned address, and a refusal ends it', async () => {
      const { page } = await site.signedIn();
      const { code } = await tv.device();
      await page.goto(`/device?user_code=${code}`);
      await page.getByText('Check that your device shows exactly this code.').waitFor();
      await becomes(() => on(page).field('Code on the device').inputValue(), code);
      await on(page).button('Continue').click();
      await heading(page, 'Continue to TV?');
      await on(page).button('Refuse').click();
      await heading(page, 'Your device is not signed in');
    });

    it('says that a code is wrong', async () => {
      const { page } = await site.signedIn();
      await page.goto('/device?user_code=BBBB-BBBB');
      await on(page).button('Continue').click();
      await on(page).alert().getByText('This code is wrong').waitFor();
    });
  });

  it('the pages of account, consent and refusal are accessible in each language, as is that of the device, without sideways scrolling', async () => {
    const { page } = await site.signedIn();
    site.service.clock.advanceSeconds(1);
    const looks = [
      ['light', 'desktop'],
      ['dark', 'phone'],
    ] as const;
    for (const [path, name, title, languages] of [
      [wiki.start(), 'consent', 'Continue to Wiki?', ['de', 'zh-CN', 'en']],
      [grafana.start('prompt=select_account'), 'account', 'Choose an account', ['de', 'zh-CN', 'en']],
      [closed.start(), 'refused', 'You may not use this application', ['de', 'zh-CN', 'en']],
      ['/device', 'device', 'Connect a device', ['de']],
    ] as const) {
      await page.goto(path);
      await heading(page, title);
      for (const language of languages) {
        await page.locator('footer select').first().selectOption(language);
        await page.locator(`html[lang=${language}]`).waitFor();
        for (const [colorScheme, size] of looks) {
          await page.emulateMedia({ colorScheme });
          await resize(page, sizes[size]);
          await takePicture(page, `applications-${name}-${language}-${size}-${colorScheme}`);
          expect([name, language, await accessibilityViolations(page)]).toEqual([name, language, []]);
          expect([name, language, await overflow(page)]).toEqual([name, language, 0]);
        }
      }
    }
  });

  it('the account page has a tile for each application that the user may open, and none for another', async () => {
    const { page, name } = await site.signedIn();
    await on(page).link('Wiki').waitFor();
    expect(await on(page).link('Payroll').count()).toBe(0);
    await on(page).link('Grafana').click();
    await heading(page, `Grafana: ${name} with`);
  });

  it('the account page ends what was allowed, after a question, by keyboard alone', async () => {
    const { page } = await site.signedIn();
    const application = { id: 'wiki', name: 'Wiki', logo_url: null, uri: null };
    const grant = { id: 'a-grant', application, scopes: ['openid', 'email'], created_at: new Date().toISOString() };
    const ended: string[] = [];
    await page.route('**/user/grants', (route) =>
      route.fulfill({ json: { status: true, data: { grants: ended.length === 0 ? [grant] : [] } } }),
    );
    await page.route('**/user/grants/*', (route) => {
      ended.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
      return route.fulfill({ json: { status: true, data: { result: true } } });
    });
    await on(page).section('Security');
    await on(page).button('End: Wiki').focus();
    await page.keyboard.press('Enter');
    await page.getByText('End the access of “Wiki”?').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('button[aria-label="End: Wiki"]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('End the access of “Wiki”?').waitFor();
    expect(ended).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('You have not allowed any application.').waitFor();
    await page.locator('h2#grants:focus').waitFor();
    expect(ended).toEqual(['DELETE /user/grants/a-grant']);
  });

  it('after an hour, says that the sign-in is over', async () => {
    const page = await site.visitor();
    await page.goto(grafana.start());
    site.service.clock.advanceSeconds(3601);
    await on(page).logIn(await site.newUser());
    await heading(page, 'This sign-in is over');
  });
});

/** For a browser, these two names of one address are two sites. */
const otherSite = (url: string): string => url.replace('//127.0.0.1:', '//localhost:');

async function setPassword(page: Page): Promise<void> {
  await on(page).field('New password').fill(goodPassword(1));
  await on(page).field('Repeat the new password').fill(goodPassword(1));
  await on(page).button('Save password').click();
  await on(page).heading('Sign in').waitFor();
}
