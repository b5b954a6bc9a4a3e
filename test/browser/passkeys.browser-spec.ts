import type { Locator, Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { VirtualAuthenticator } from '../support/browser/virtual-authenticator';
import { eventually } from '../support/servers/eventually';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const offer = 'Set up your sign-in';

describe('passkeys', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({}, 'localhost');
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  interface Visit {
    readonly page: Page;
    readonly authenticator: VirtualAuthenticator;
    readonly card: Locator;
  }
  const cardOf = (page: Page): Locator => page.getByRole('region', { name: 'Passkeys', exact: true });

  /** A user of this name on the account page, in a browser with an authenticator. */
  const signedIn = async (name: string, autofill = false): Promise<Visit> => {
    const page = await site.visitor({ userAgent: firefox });
    const authenticator = await VirtualAuthenticator.add(page, { autofill });
    await page.goto('/');
    await on(page).logIn(name);
    await on(page).heading(`Hello, ${name}`).waitFor();
    return { page, authenticator, card: cardOf(page) };
  };
  const atSecurity = async (visit: Visit): Promise<Visit> => {
    await on(visit.page).section('Security');
    return visit;
  };
  const add = async ({ page, card }: Visit): Promise<void> => {
    await on(page).section('Security');
    await on(page).button('Add a passkey').click();
    await on(page).button('Continue').click();
    await card.getByText('You can sign in with it now.').waitFor();
  };
  /** A user on the account page, who has one passkey. */
  const withPasskey = async (autofill = false): Promise<Visit & { name: string }> => {
    const name = await site.newUser();
    const visit = await signedIn(name, autofill);
    await add(visit);
    return { ...visit, name };
  };
  const signOut = async (page: Page): Promise<void> => {
    await on(page).signOut();
    await on(page).heading('Sign in').waitFor();
  };
  const started = async (authenticator: VirtualAuthenticator, mediation: string): Promise<void> => {
    // A ceremony of the login page before the sign-out is aborted.
    const running = async () => {
      const latest = (await authenticator.ceremonies()).at(-1);
      return latest?.mediation === mediation && !latest.aborted;
    };
    await eventually(running, { what: `the ceremony with the mediation ${mediation}` });
  };
  const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent');

  describe('on the account page', () => {
    it('a passkey is added under the name that the device suggests, and is listed as synced and not used', async () => {
      const name = await site.newUser();
      const { page, authenticator, card } = await atSecurity(await signedIn(name));
      await card.getByText('You have no passkeys.').waitFor();
      await on(page).button('Add a passkey').click();
      await page.locator('input[name=passkey-name]:focus').waitFor();
      expect(await on(page).field('Name of the passkey').inputValue()).toBe('Firefox on Windows');
      await page.keyboard.press('Enter');
      await card.getByText('The passkey “Firefox on Windows” is ready.').waitFor();
      await page.locator('h2#passkeys:focus').waitFor();
      await becomes(() => card.locator('.entry-name').allTextContents(), ['Firefox on WindowsSynced']);
      await card.getByText('Not used yet').waitFor();
      expect(await authenticator.count()).toBe(1);
    });

    it('a passkey that no password manager syncs is shown as one of this device', async () => {
      const { page, card } = await site.signedIn().then((user) => ({ ...user, card: cardOf(user.page) }));
      await VirtualAuthenticator.add(page, { synced: false });
      await on(page).section('Security');
      await on(page).button('Add a passkey').click();
      await on(page).button('Continue').click();
      await card.getByText('On one device only').waitFor();
    });

    it('a second passkey of the same device is refused in plain words', async () => {
      const { page } = await withPasskey();
      await on(page).button('Add a passkey').click();
      await on(page).button('Continue').click();
      await on(page).alert().getByText('This device already has a passkey for your account.').waitFor();
    });

    it('a closed prompt adds nothing, and gives a calm message', async () => {
      const { page, authenticator, card } = await atSecurity(await signedIn(await site.newUser()));
      await authenticator.recognises(false);
      await on(page).button('Add a passkey').click();
      await on(page).button('Continue').click();
      await card.locator('.message.info', { hasText: 'No passkey was made.' }).waitFor();
      expect(await on(page).alert().count()).toBe(0);
      await authenticator.recognises(true);
      await on(page).button('Continue').click();
      await card.getByText('You can sign in with it now.').waitFor();
    });

    it('a passkey is renamed, not to an empty name, and Cancel gives the focus back', async () => {
      const { page, card } = await withPasskey();
      await on(page).button('Rename: Firefox on Windows').click();
      await on(page).field('Name of the passkey').fill('   ');
      await on(page).button('Save').click();
      await card.getByText('Enter a name.').waitFor();
      await on(page).button('Cancel').click();
      await page.locator('[aria-label="Rename: Firefox on Windows"]:focus').waitFor();
      await page.keyboard.press('Enter');
      await page.locator('input[name=passkey-name]:focus').waitFor();
      await page.keyboard.type('Work laptop <b>');
      await page.keyboard.press('Enter');
      await card.getByText('The passkey has its new name.').waitFor();
      await page.locator('h2#passkeys:focus').waitFor();
      await page.reload();
      await card.locator('.entry-name', { hasText: 'Work laptop <b>' }).waitFor();
    });

    it('a passkey is removed after a question, and no longer signs in', async () => {
      const { page, card } = await withPasskey();
      await on(page).button('Remove: Firefox on Windows').click();
      await card.getByText('Remove “Firefox on Windows”?').waitFor();
      await becomes(() => focused(page), 'Remove');
      await on(page).button('Cancel').click();
      await page.locator('[aria-label="Remove: Firefox on Windows"]:focus').waitFor();
      await page.keyboard.press('Enter');
      await card.getByText('Remove “Firefox on Windows”?').waitFor();
      await page.keyboard.press('Enter');
      await card.getByText('The passkey no longer works here.').waitFor();
      await card.getByText('You have no passkeys.').waitFor();

      await signOut(page);
      await on(page).button('Sign in with a passkey').click();
      await on(page).alert().getByText('This passkey does not work here.').waitFor();
      await on(page).heading('Sign in').waitFor();
    });

    it('a login that is too old is confirmed in place for a new passkey and for a removal, with the password or a passkey', async () => {
      const { page, card } = await withPasskey();
      site.service.clock.advanceSeconds(600);
      await on(page).button('Add a passkey').click();
      await on(page).field('Name of the passkey').fill('Kept name');
      await on(page).button('Continue').click();
      await on(page).confirmPassword();
      // The device keeps one passkey of a user. The dialog has let the request go on, and the name is still there.
      await card.getByText('already has a passkey').waitFor();
      expect(await on(page).field('Name of the passkey').inputValue()).toBe('Kept name');
      await card.getByRole('button', { name: 'Cancel' }).click();

      site.service.clock.advanceSeconds(600);
      await on(page).button('Remove: Firefox on Windows').click();
      await on(page).button('Remove').click();
      await on(page).fresh().getByRole('button', { name: 'Use a passkey' }).click();
      await card.getByText('You have no passkeys.').waitFor();
    });

    it('twenty passkeys are the most, and the card says so', async () => {
      const { page, card } = await withPasskey();
      await page.route('**/passkeys', async (route) => {
        const answer = (await (await route.fetch()).json()) as { data: { passkeys: object[] } };
        const [one] = answer.data.passkeys;
        const passkeys = Array.from({ length: 20 }, (_, index) => ({ ...one, id: `p-${index}` }));
        await route.fulfill({ json: { ...answer, data: { passkeys } } });
      });
      await page.reload();
      await card.getByText('You have 20 passkeys, and no more are possible.').waitFor();
      expect(await on(page).button('Add a passkey').count()).toBe(0);
    });
  });

  describe('on the login page', () => {
    it('the button signs in without a user name, and the account page says how', async () => {
      const { page, card, name } = await withPasskey();
      await signOut(page);
      await on(page).button('Sign in with a passkey').click();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await on(page).section('Security');
      await page.getByText('You signed in with a passkey.').waitFor();
      await card.getByText('Last used').waitFor();
    });

    it('a passkey is found in the autofill of the user name', async () => {
      const { page, name } = await withPasskey(true);
      await page.getByText('You signed in with your password.').waitFor();
      await on(page).signOut();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await on(page).section('Security');
      await page.getByText('You signed in with a passkey.').waitFor();
    });

    it('autofill waits without a message, and makes way for a password', async () => {
      const { page, authenticator, name } = await withPasskey(true);
      await authenticator.userLeaves();
      await signOut(page);
      await started(authenticator, 'conditional');
      await becomes(() => on(page).field('User name').getAttribute('autocomplete'), 'username webauthn');
      expect(await page.locator('.message').count()).toBe(0);
      await on(page).logIn(name);
      await on(page).heading(`Hello, ${name}`).waitFor();
      await on(page).section('Security');
      await page.getByText('You signed in with your password.').waitFor();
      expect((await authenticator.ceremonies()).filter(({ aborted }) => !aborted)).toEqual([]);
    });

    it('autofill makes way for the prompt of the button', async () => {
      const { page, authenticator } = await withPasskey(true);
      await authenticator.userLeaves();
      await signOut(page);
      await started(authenticator, 'conditional');
      await on(page).button('Sign in with a passkey').click();
      await started(authenticator, 'prompt');
      await on(page).button('Waiting for your passkey…').waitFor();
      expect((await authenticator.ceremonies()).filter(({ aborted }) => !aborted)).toEqual([
        { mediation: 'prompt', aborted: false },
      ]);
      expect(await page.locator('.message').count()).toBe(0);
    });

    it('autofill that the browser refuses is not tried again, so that the service is not asked without end', async () => {
      const page = await site.visitor();
      await VirtualAuthenticator.add(page, { autofill: true });
      let challenges = 0;
      page.on('request', (request) => (request.url().endsWith('/login/passkey-options') ? challenges++ : 0));
      // Without a passkey, the virtual authenticator refuses at once.
      await page.goto('/');
      await on(page).button('Sign in with a passkey').waitFor();
      await eventually(() => challenges === 1, { what: 'the first challenge' });
      await on(page).button('Sign in with a passkey').click();
      await page.getByText('No passkey was used.').waitFor();
      // One for the prompt, and one for the autofill that starts again after it.
      await eventually(() => challenges === 3, { what: 'the challenges of the prompt and of the autofill' });
      await on(page).logIn(await site.newUser());
      await on(page).heading(/Hello/).waitFor();
      expect(challenges).toBe(3);
    });

    it('a closed prompt gives a calm message, and the button keeps the focus', async () => {
      const { page, authenticator } = await withPasskey();
      await signOut(page);
      await authenticator.recognises(false);
      await on(page).button('Sign in with a passkey').focus();
      await page.keyboard.press('Enter');
      await page.locator('.message.info', { hasText: 'No passkey was used.' }).waitFor();
      expect(await on(page).alert().count()).toBe(0);
      await becomes(() => focused(page), 'Sign in with a passkey');
      await authenticator.recognises(true);
      await page.keyboard.press('Enter');
      await on(page).heading(/Hello/).waitFor();
    });

    it('the message about a passkey goes when the user takes the password', async () => {
      const page = await site.visitor();
      await VirtualAuthenticator.add(page);
      await page.goto('/');
      await on(page).button('Sign in with a passkey').click();
      await page.getByText('No passkey was used.').waitFor();
      await on(page).logIn('nobody');
      await on(page).alert().waitFor();
      await page.getByText('No passkey was used.').waitFor({ state: 'detached' });
    });

    it('a passkey leads to the page of return_to', async () => {
      const { page } = await withPasskey();
      await signOut(page);
      await page.route('**/reports', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Reports</title><h1>Reports</h1>' }),
      );
      await page.goto('/?return_to=%2Freports');
      await on(page).button('Sign in with a passkey').click();
      await on(page).heading('Reports').waitFor();
    });

    it('by keyboard, the button comes after the form, and no field moves when it appears', async () => {
      const page = await site.visitor();
      let answer = (): void => undefined;
      const held = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/capabilities', async (route) => {
        await held;
        await route.continue();
      });
      await page.goto('/');
      await on(page).field('Password').waitFor();
      const places = () => Promise.all(['User name', 'Password'].map((label) => on(page).field(label).boundingBox()));
      const before = await places();
      expect(await on(page).button('Sign in with a passkey').count()).toBe(0);
      answer();
      await on(page).button('Sign in with a passkey').waitFor();
      expect(await places()).toEqual(before);
      const order: string[] = [];
      await on(page).field('User name').focus();
      for (let i = 0; i < 5; i++) {
        await page.keyboard.press('Tab');
        order.push(await page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.innerText'));
      }
      expect(order).toEqual(['', 'Show password', 'Sign in', 'Sign in with a passkey', 'Forgot password?']);
    });
  });

  describe('after a login with a password', () => {
    /** At the offer, in a browser that has not declined it. */
    const offered = async (name: string): Promise<{ page: Page; authenticator: VirtualAuthenticator }> => {
      const page = await site.visitor({ userAgent: firefox }, { declined: false });
      const authenticator = await VirtualAuthenticator.add(page);
      await page.goto('/');
      await on(page).button('Sign in with a passkey').waitFor();
      await on(page).logIn(name);
      await on(page).heading(offer).waitFor();
      return { page, authenticator };
    };

    it('one is offered once: not after a reload, and not again until the next login when the user has said "not now"', async () => {
      const name = await site.newUser();
      const { page } = await offered(name);
      await on(page).button('Not now').click();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await page.getByText('Your administrator keeps these details.').waitFor();
      await becomes(() => focused(page), `Hello, ${name}`);
      await page.reload();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await signOut(page);
      await on(page).logIn(name);
      await on(page).heading(offer).waitFor();
    });

    it('one is never offered again in this browser when the user has declined for good', async () => {
      const { page } = await offered(await site.newUser());
      await on(page).button('Don’t ask again in this browser').click();
      await page.getByText('Your administrator keeps these details.').waitFor();
      for (const name of [await site.newUser(), await site.newUser()]) {
        await signOut(page);
        await on(page).logIn(name);
        await on(page).heading(`Hello, ${name}`).waitFor();
        await page.getByText('Your administrator keeps these details.').waitFor();
      }
    });

    it('the offer makes a passkey at once, and the account page then lists it', async () => {
      const { page } = await offered(await site.newUser());
      await on(page).button('Create a passkey').click();
      await page.getByText('The passkey “Firefox on Windows” is ready.').waitFor();
      await on(page).button('Continue').click();
      await on(page).section('Security');
      await cardOf(page).locator('.entry-name', { hasText: 'Firefox on Windows' }).waitFor();
    });

    it('a closed prompt of the offer gives a calm message, and an old login is confirmed in place', async () => {
      const name = await site.newUser();
      const { page, authenticator } = await offered(name);
      await authenticator.recognises(false);
      await on(page).button('Create a passkey').click();
      await page.locator('.message.info', { hasText: 'No passkey was made.' }).waitFor();
      site.service.clock.advanceSeconds(600);
      await on(page).button('Create a passkey').click();
      await authenticator.recognises(true);
      await on(page).confirmPassword();
      await page.getByText('The passkey “Firefox on Windows” is ready.').waitFor();
    });

    it('nothing is offered to a user who has passkeys, whose passkey signs in, or whose device keeps none', async () => {
      const name = await site.newUser();
      const { page } = await offered(name);
      await on(page).button('Create a passkey').click();
      await on(page).button('Continue').click();
      await on(page).heading(`Hello, ${name}`).waitFor();
      await signOut(page);
      await on(page).logIn(name);
      await page.getByText('Your administrator keeps these details.').waitFor();
      await signOut(page);
      await on(page).button('Sign in with a passkey').click();
      await page.getByText('Your administrator keeps these details.').waitFor();

      const other = await site.visitor({}, { declined: false });
      await other.goto('/');
      await on(other).button('Sign in with a passkey').waitFor();
      await on(other).logIn(await site.newUser());
      await other.getByText('Your administrator keeps these details.').waitFor();
    });
  });

  it('are in the language that the user chooses, at once', async () => {
    const { page } = await withPasskey();
    const choose = async (language: string): Promise<void> => {
      await page.locator('footer select').first().selectOption(language);
      await page.locator(`html[lang=${language}]`).waitFor();
    };
    await choose('de');
    await page.getByText('Synchronisiert').waitFor();
    await on(page).button('Passkey hinzufügen').waitFor();
    await choose('zh-CN');
    await page.getByText('已同步').waitFor();
    await page.getByRole('button', { name: '退出登录', exact: true }).click();
    await on(page).button('使用通行密钥登录').waitFor();
    await choose('de');
    await on(page).button('Mit Passkey anmelden').waitFor();
  });

  it('a browser without passkeys gets no button and no offer, and its account page says so', async () => {
    const page = await site.visitor();
    await page.addInitScript('delete window.PublicKeyCredential;');
    await page.goto('/');
    await on(page).logIn(await site.newUser());
    await on(page).section('Security');
    await page.getByText('This browser cannot make passkeys.').waitFor();
    expect(
      await on(page)
        .button(/passkey/i)
        .count(),
    ).toBe(0);
    await signOut(page);
    await on(page).link('Forgot password?').waitFor();
    expect(
      await on(page)
        .button(/passkey/i)
        .count(),
    ).toBe(0);
    expect(await on(page).field('User name').getAttribute('autocomplete')).toBe('username');
  });
});

describe('a service without passkeys', () => {
  it('has no button, no card, and loads no code for them', async () => {
    // WebAuthn accepts no IP address as the domain of a passkey.
    const site = await PortalSite.start();
    try {
      const page = await site.visitor();
      const scripts: string[] = [];
      page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
      const offered = page.waitForResponse('**/capabilities');
      await page.goto('/');
      expect(await (await offered).json()).toMatchObject({ data: { passkeys: false } });
      await on(page).logIn(await site.newUser());
      await on(page).section('Security');
      await on(page).button('Make recovery codes').waitFor();
      expect(await page.getByText(/passkey/i).count()).toBe(0);
      expect(scripts.filter((path) => path.includes('passkey'))).toEqual([]);
      expect(site.takeComplaints()).toEqual([]);
    } finally {
      await site.stop();
    }
  });
});
