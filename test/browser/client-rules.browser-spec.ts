import type { Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { newMails } from '../support/reset';
import { eventually } from '../support/servers/eventually';

/** The limits of the client (docs/spec/service.md#8), in a browser whose clock the test moves. */
describe('the limits of the client', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'true' });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const open = async (path = '/'): Promise<Page> => {
    const page = await site.visitor();
    await page.clock.install({ time: site.service.clock.now() });
    await page.goto(path);
    return page;
  };
  /** Stops the clock of the browser: from now on only the test moves it. */
  const stopTime = async (page: Page): Promise<void> => {
    // The clock cannot be stopped at a time in the past, and on a busy machine the call itself takes a while.
    for (let margin = 100; ; margin *= 2) {
      const moment = new Date((await page.evaluate<number>('Date.now()')) + margin);
      const stopped = await page.clock.pauseAt(moment).then(
        () => true,
        (error: unknown) => {
          if (margin > 5000) throw error;
          return false;
        },
      );
      if (stopped) return;
    }
  };
  const atCode = async (): Promise<{ page: Page; name: string }> => {
    const name = await site.newUser();
    const page = await open();
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    return { page, name };
  };
  const confirm = (page: Page) => page.locator('form button[type=submit]');
  /** React draws a moment after the clock has moved. */
  const says = (page: Page, text: string): Promise<void> => becomes(() => confirm(page).textContent(), text);
  const seconds = async (page: Page, name: RegExp): Promise<number> =>
    Number(/\((\d+) s\)/.exec((await on(page).button(name).textContent()) ?? '')?.[1]);

  it('a mailed code logs in, also after a reload of the code page', async () => {
    const { page, name } = await atCode();
    await page.reload();
    await on(page).heading('Enter your code').waitFor();
    await page.getByText('u•••@example.com').waitFor();
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).heading(`Hello, ${name}`).waitFor();
    await on(page).section('Security');
    await page.getByText('You signed in with your password and a one-time code.').waitFor();
  });

  it('a user without an e-mail address is told that no code could be sent', async () => {
    const name = await site.newUser({ email: null });
    const page = await open();
    await on(page).logIn(name);
    await page.getByText('No code could be sent').waitFor();
    expect(await page.getByText('We sent').count()).toBe(0);
    await on(page).button('Use a recovery code').waitFor();
  });

  it('a code of the authenticator logs in', async () => {
    const { page, name } = await atCode();
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await page.getByText('Your authenticator app is set up.').waitFor();
    await on(page).signOut();
    site.service.clock.advanceSeconds(30);
    await on(page).logIn(name);
    await page.getByText('that your authenticator app shows').waitFor();
    expect(
      await on(page)
        .button(/new code/)
        .count(),
    ).toBe(0);
    await on(page).enterCode(site.authenticatorCode(secret));
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('for 10 s after a wrong code no other code can be sent, also after a reload', async () => {
    const { page, name } = await atCode();
    await stopTime(page);
    await on(page).enterCode('000000');
    await on(page).alert().waitFor();
    await says(page, 'Confirm (10 s)');
    await confirm(page).and(page.locator(':disabled')).waitFor();
    await page.clock.runFor(4000);
    await says(page, 'Confirm (6 s)');
    await page.reload();
    await says(page, 'Confirm (6 s)');
    let sent = 0;
    page.on('request', (request) => (request.url().endsWith('/otp-verify') ? sent++ : 0));
    await page.getByLabel('Six-digit code').fill('000000');
    await page.getByLabel('Six-digit code').press('Enter');
    await page.clock.runFor(5900);
    await confirm(page).and(page.locator(':disabled')).waitFor();
    expect(sent).toBe(0);
    await page.clock.runFor(200);
    await says(page, 'Confirm');
    expect(sent).toBe(0);
    await on(page).enterCode(await site.mailedCode(name));
    await on(page).heading(/Hello/).waitFor();
  });

  it('the fifth wrong code leads back to the login page, which gives the reason', async () => {
    const { page } = await atCode();
    await stopTime(page);
    for (const left of [4, 3, 2, 1]) {
      await on(page).enterCode('000000');
      await page.getByText(`Attempts left: ${left}.`).waitFor();
      await site.pass(page, 10);
    }
    await on(page).enterCode('000000');
    await on(page).heading('Sign in').waitFor();
    await page.getByText('You entered a wrong code five times. Please sign in again.').waitFor();
    await page.goto('/code');
    await on(page).heading('Sign in').waitFor();
  });

  it('60 s pass between two code mails, also with a reload, and only the newest code is accepted', async () => {
    const { page, name } = await atCode();
    const first = await site.mailedCode(name);
    await stopTime(page);
    const before = await seconds(page, /new code/);
    // Time has passed on a busy machine.
    expect(before).toBeGreaterThan(25);
    await on(page)
      .button(/new code/)
      .and(page.locator(':disabled'))
      .waitFor();
    await page.clock.runFor(20_000);
    await becomes(() => seconds(page, /new code/), before - 20);
    await page.reload();
    await becomes(() => seconds(page, /new code/), before - 20);
    await site.pass(page, before - 20);
    site.service.clock.advanceSeconds(60);
    await on(page).button('Send a new code').click();
    await page.getByText('A new code is on its way.').waitFor();
    await becomes(() => seconds(page, /new code/), 60);
    const second = await site.mailedCode(name);
    if (first !== second) {
      await on(page).enterCode(first);
      await page.getByText('The code is wrong or no longer valid.').waitFor();
      await site.pass(page, 10);
    }
    await on(page).enterCode(second);
    await on(page).heading(/Hello/).waitFor();
  });

  it('a login in another browser during the cooldown counts the seconds until the next attempt', async () => {
    const { name } = await atCode();
    const page = await open();
    await on(page).logIn(name);
    const told = page.getByText(/We sent you a code a moment ago. You can request another one in \d+ s/);
    await told.waitFor();
    await stopTime(page);
    const wait = await seconds(page, /Sign in/);
    expect(wait).toBeGreaterThan(25);
    await confirm(page).and(page.locator(':disabled')).waitFor();
    await page.clock.runFor(20_000);
    await becomes(() => seconds(page, /Sign in/), wait - 20);
    // The countdown of the message starts when the answer arrives, that of the button when the SDK has stored the wait.
    // The message is drawn a moment after the clock has moved.
    const counted = async () => Number(/\d+/.exec((await told.textContent()) ?? '')?.[0]);
    await eventually(async () => [wait - 21, wait - 20, wait - 19].includes(await counted()), {
      what: 'the message to count the same seconds',
    });
    await page.clock.runFor(wait * 1000);
    await confirm(page).and(page.locator(':enabled')).waitFor();
    await on(page).alert().waitFor({ state: 'detached' });
  });

  it('the forgotten-password form can be sent again after 5 s and not earlier, also after a reload', async () => {
    const page = await open('/forgot-password');
    await stopTime(page);
    await on(page).field('E-mail address').fill('nobody@example.com');
    await confirm(page).click();
    await page.getByText('There is no account with this e-mail address.').waitFor();
    await says(page, 'Send link (5 s)');
    await page.clock.runFor(2000);
    await page.reload();
    await says(page, 'Send link (3 s)');
    await confirm(page).and(page.locator(':disabled')).waitFor();
    await page.clock.runFor(3000);
    await confirm(page).and(page.locator(':enabled')).waitFor();
    await newMails(site.service);
  });

  it('a corrected address clears the error, and Enter during the wait sends it at the end of the wait', async () => {
    const name = await site.newUser();
    const page = await open('/forgot-password');
    await stopTime(page);
    await on(page).field('E-mail address').fill('nobody@example.com');
    await confirm(page).click();
    await on(page).alert().waitFor();
    await on(page).field('E-mail address').fill(`${name}@example.com`);
    await on(page).alert().waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await says(page, 'Sending in 5 s');
    await page.clock.runFor(5000);
    await on(page).heading('Check your inbox').waitFor();
    await newMails(site.service);
  });
});
