import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { password } from '../support/app';
import { adminSettings, copiedSessions } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { look } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { RunningClock } from '../support/fakes';
import { CompanyProvider, type Person } from '../support/identity-provider';
import { givenIdentityProvider } from '../support/identity-providers';

const secret = 'a-secret-of-the-company-7Xq';
/** Anybody can choose a name. It must stay a text wherever it is shown (docs/spec/attacks.md#t557). */
const acme = 'Acme <img src=x onerror=alert(1)> ID';
const toAcme = (page: Page) => on(page).button(`Continue with ${acme}`);

const person = (name: string, more: Partial<Person> = {}): Person => ({
  ...{ sub: `sub-of-${name}`, amr: ['mfa'] },
  claims: { preferred_username: name, email: `${name}@acme.example`, email_verified: true, name },
  ...more,
});

/** Where an identity provider has domains, the page asks for the name first. */
async function logIn(page: Page, name: string): Promise<void> {
  await on(page).field('User name').fill(name);
  await page.keyboard.press('Enter');
  await page.locator('input[name=password]:focus').waitFor();
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

/** docs/spec/extensions.md#k: what people see who sign in with the account of their company. */
describe('the sign-in with an identity provider', () => {
  let site: PortalSite;
  let company: CompanyProvider;
  let root: Awaited<ReturnType<BrowserContext['storageState']>>;

  beforeAll(async () => {
    const settings = { ...adminSettings, ...copiedSessions, MFA_REQUIRED: 'true' };
    site = await PortalSite.start(settings, undefined, undefined, new RunningClock());
    const redirectUris = ['acme', 'acme-entra-id'].map((id) => `${site.url}/login/external/${id}/callback`);
    company = await CompanyProvider.start([{ clientId: 'portal', secret, redirectUris }]);
    await givenIdentityProvider(site.service, {
      ...{ id: 'acme', name: acme, issuer: company.issuer, clientId: 'portal', secret },
      ...{ domains: ['acme.example'], jit: true, trustMfa: true },
    });
    const page = await site.visitor();
    const admin = await site.newUser({ isAdmin: true });
    await page.goto('/');
    await logIn(page, admin);
    await on(page).heading('Enter your code').waitFor();
    await on(page).enterCode(await site.mailedCode(admin));
    await on(page).heading(`Hello, ${admin}`).waitFor();
    root = await page.context().storageState();
    await page.context().close();
  });
  afterAll(async () => {
    await company.stop();
    await site.stop();
  });
  afterEach(() => {
    const own = `foreign request: ${company.issuer}/`;
    expect(site.takeComplaints().filter((one) => !one.startsWith(own))).toEqual([]);
  });

  const opened = async (place: string, heading: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await site.visitor({ storageState: root, ...options });
    await page.goto(`/admin${place}`);
    await on(page).heading(heading).waitFor();
    return page;
  };

  const start = async (path = '/'): Promise<Page> => {
    const page = await site.visitor();
    await page.goto(path);
    await toAcme(page).waitFor();
    return page;
  };

  it('by a button: the page that was wanted opens, and the code is in no address, history or Referer (T555, T556, T557)', async () => {
    company.signsIn(person('ann'));
    const page = await start('/?return_to=/account/security');
    await look(page, 'sign-in');
    const referers: string[] = [];
    page.on('request', (request) => referers.push(request.headers().referer ?? ''));
    const codes: string[] = [];
    page.on('request', (request) => {
      if (request.isNavigationRequest()) codes.push(new URL(request.url()).searchParams.get('external') ?? '');
    });
    await toAcme(page).press('Enter');
    await on(page).heading('Security').waitFor();
    const code = codes.find((one) => one !== '')!;
    expect(code).toMatch(/^[\w-]{43}$/);
    const protocol = await page.context().newCDPSession(page);
    const { entries } = (await protocol.send('Page.getNavigationHistory')) as { entries: { url: string }[] };
    expect(entries.map(({ url }) => url).filter((url) => url.includes(code))).toEqual([]);
    expect(referers.filter((one) => one.includes(code))).toEqual([]);
    expect(await page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain(
      code,
    );
    // The account page names the provider, and hides what belongs there.
    await page.getByText(`You sign in with ${acme}.`).waitFor();
    expect(await on(page).button('Change password').count()).toBe(0);
    await look(page, 'account-security');
    // A code that was used leads nobody in, and says what to do.
    await page.goto(`/?external=${code}`);
    await on(page).heading('You are not signed in').waitFor();
    await page.waitForURL(`${site.url}/`);
    await on(page).button('Another way to sign in').click();
    await on(page).heading('Hello, ann').waitFor();
  });

  it('by the name, with the keyboard alone: a password that was filled in for a domain of the provider is sent nowhere (T558)', async () => {
    company.signsIn(person('bea'));
    const page = await start();
    const field = page.locator('input[name=password]');
    const username = page.locator('form:has(input[name=password]) input[name=username]');
    expect(await username.getAttribute('autocomplete')).toMatch(/^username/);
    expect(await field.getAttribute('autocomplete')).toBe('current-password');
    await on(page).field('User name').focus();
    await page.keyboard.press('Tab');
    await becomes(() => page.evaluate<string>('document.activeElement.textContent'), 'Continue');
    const bodies: string[] = [];
    page.on('request', (request) => bodies.push(request.postData() ?? ''));
    await on(page).field('User name').fill('bea@acme.example');
    // As a password manager does it.
    await field.fill('a password that was saved here');
    await on(page).button('Sign in').press('Enter');
    await on(page).heading('Hello, bea').waitFor();
    expect(bodies.filter((one) => one.includes('a password'))).toEqual([]);
    // The name of a local user leads to the password on the same page, also after a reload.
    const other = await start();
    await other.reload();
    const name = await site.newUser();
    await logIn(other, name);
    await on(other).heading('Enter your code').waitFor();
    await on(other).enterCode(await site.mailedCode(name));
    await on(other).heading(`Hello, ${name}`).waitFor();
  });

  it('the second factor of this service follows where the provider has asked for none', async () => {
    company.signsIn(person('cleo', { amr: [] }));
    const page = await start();
    await toAcme(page).click();
    await on(page).heading('Enter your code').waitFor();
    await page.reload();
    await on(page).enterCode(await site.mailedCode('cleo@acme.example'));
    await on(page).heading('Hello, cleo').waitFor();
  });

  it('a refusal says what happened in the language of the page, and leads to another try or another way (T559)', async () => {
    company.refuses('access_denied');
    const page = await start();
    await toAcme(page).click();
    await on(page).heading('You are not signed in').waitFor();
    await on(page).alert().getByText('refused the sign-in').waitFor();
    await page.waitForURL(`${site.url}/`);
    await look(page, 'refused');
    await on(page).button('Try again').click();
    await on(page).alert().getByText('refused the sign-in').waitFor();
    await on(page).button('Another way to sign in').click();
    await on(page).heading('Sign in').waitFor();
    for (const [error, text] of [
      ['LOGIN_404001', 'Sie haben hier kein Konto.'],
      ['LOGIN_503002', 'antwortet nicht'],
      ['LOGIN_401011', 'Das Konto ist deaktiviert.'],
      ['constructor', 'Die Anmeldung ist nicht gelungen.'],
      ['<img src=x onerror=alert(1)>', 'Die Anmeldung ist nicht gelungen.'],
    ] as const) {
      await page.goto(`/?error=${encodeURIComponent(error)}&lang=de`);
      await on(page).alert().getByText(text).waitFor();
    }
  });

  it('a step that needs a fresh sign-in opens the provider in a window, and the page keeps what it shows', async () => {
    company.signsIn(person('dora'));
    const page = await start();
    await toAcme(page).click();
    await on(page).heading('Hello, dora').waitFor();
    await on(page).section('Security');
    await site.service.database.affected(
      "UPDATE login_tokens SET authenticated_at = ? WHERE user_identity = (SELECT uid FROM users WHERE login_name = 'dora')",
      [new Date(Date.now() - 600_000)],
    );
    await on(page).button('Make recovery codes').click();
    await on(page).fresh().waitFor();
    await look(page, 'fresh');
    await becomes(() => page.evaluate<string>('document.activeElement.textContent'), `Continue with ${acme}`);
    const opened = page.waitForEvent('popup');
    await page.keyboard.press('Enter');
    const other = await opened;
    await page.locator('.codes code').first().waitFor();
    expect(company.asked.at(-1)).toMatchObject({ prompt: 'login' });
    await page.locator('dialog').waitFor({ state: 'detached' });
    // The window closes itself where the browser lets it.
    await on(other)
      .heading('You can close this window')
      .waitFor()
      .catch((error: unknown) => {
        if (!other.isClosed()) throw error;
      });
  });

  it('the console adds a provider: asks for the issuer first, shows what to enter there, and never shows the secret again', async () => {
    const page = await opened('#/identity-providers', 'Identity providers');
    await on(page).link('New identity provider').click();
    await on(page).heading('New identity provider').waitFor();
    await page.getByLabel('Product').selectOption('Microsoft Entra ID');
    await on(page).button('Continue').click();
    await page.getByText('Enter the address of the issuer').waitFor();
    await page.getByLabel('Product').selectOption('Other');
    await on(page).field('Name').fill('Acme Entra ID');
    await on(page).field('Issuer').fill(`${company.issuer}/`);
    await becomes(() => on(page).field('Id').inputValue(), 'acme-entra-id');
    await look(page, 'provider-new-first');
    await on(page).button('Continue').click();
    await page.getByText(`${site.url}/login/external/acme-entra-id/callback`).waitFor();
    await on(page).field('Client id').fill('portal');
    await on(page).field('Client secret').fill(secret);
    await on(page).field('Secret expires on').fill('2030-01-31');
    await page.getByLabel('Domains', { exact: true }).last().fill('example.com');
    await look(page, 'provider-new');
    // The issuer is compared exactly, and its discovery document says it without a slash.
    await on(page).button('Save identity provider').click();
    await page.locator('input[aria-invalid=true]').waitFor();
    await look(page, 'provider-refused');
    await on(page).field('Issuer').fill(company.issuer);
    await on(page).button('Save identity provider').click();
    await on(page).heading('Acme Entra ID').waitFor();
    await page.getByText('Stored. Nobody can read it.').waitFor();
    expect(await page.content()).not.toContain(secret);
    await look(page, 'provider');
    company.signsIn(person('emil', { claims: { preferred_username: 'emil', name: '</script><b>Emil</b>' } }));
    await on(page).button('Try a sign-in').click();
    await page.getByText('A sign-in would be refused.').waitFor();
    await page.getByRole('group', { name: 'Claims' }).getByText('"</script><b>Emil</b>"').waitFor();
    expect(page.url()).toBe(`${site.url}/admin#/identity-providers/acme-entra-id`);
    await look(page, 'provider-tried');
    await on(page).button('Disable: Disable identity provider').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable identity provider' }).click();
    await page.getByRole('status').filter({ hasText: 'The identity provider is disabled.' }).waitFor();
    await page.locator('.up').click();
    await on(page).heading('Identity providers').waitFor();
    await look(page, 'providers');
  });
});
