import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { DemoModule } from '../../../src/demo/demo.module';
import { password, TestService } from '../app';
import { captchaSteps, mostSteps } from '../captcha/captcha-steps';
import { captchaByTestClock } from '../captcha/test-clock';
import { FakeClock } from '../fakes';
import { authenticatorCode } from '../mfa';
import { newMails, recipients } from '../reset';
import { Chromium } from '../servers/chromium';
import { freePort } from '../servers/free-port';

/** Enough for each worker of the page to have its share. */
const fewSteps = 10;

type NewUser = Parameters<TestService['givenUser']>[1];

/** The service with the portal pages, as the demo serves them, and a browser. */
export class PortalSite {
  private readonly complaints: string[] = [];
  private users = 0;

  private constructor(
    readonly service: TestService,
    readonly url: string,
    private readonly chromium: Chromium,
    private readonly offers: boolean,
  ) {}

  /**
   * @param host `localhost` for passkeys, which browsers refuse at an IP address
   * @param offers the welcome page has something to offer after a sign-in
   * @param clock one that runs where another program reads the clock of this machine
   */
  static async start(
    settings: Record<string, string> = {},
    host = '127.0.0.1',
    offers = settings.MFA_REQUIRED === 'true' || host === 'localhost',
    clock = new FakeClock(new Date()),
  ): Promise<PortalSite> {
    const port = await freePort();
    const url = `http://${host}:${port}`;
    const service = await TestService.start(
      { SYSTEM_URL: url, PORT: `${port}`, PORTAL: 'on', ...settings },
      { clock, module: (config) => DemoModule.with(config) },
    );
    captchaByTestClock(service);
    captchaSteps(service, fewSteps);
    await service.app.listen(port, '127.0.0.1');
    const { port: listening } = service.app.getHttpServer().address() as AddressInfo;
    return new PortalSite(service, `http://${host}:${listening}`, await Chromium.start(), offers);
  }

  async stop(): Promise<void> {
    await this.chromium.stop();
    await this.service.stop();
  }

  /** Makes a user of its own, and returns its login name. */
  async newUser(more: NewUser = {}): Promise<string> {
    return (await this.service.givenUser(`user${++this.users}`, more)).loginName;
  }

  /** A new user on the account page, in a new browser context. */
  async signedIn(): Promise<{ page: Page; name: string }> {
    const name = await this.newUser();
    return { page: await this.signIn(name), name };
  }

  /** Logs a user in who needs no code, in a new browser context. */
  async signIn(name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.visitor(options);
    await page.goto('/');
    await on(page).logIn(name);
    await on(page).heading(`Hello, ${name}`).waitFor();
    return page;
  }

  /**
   * Opens an empty page in a new browser context. Where the welcome page has something to offer after a sign-in, the user
   * of this browser has declined it for good, unless the test is about that page.
   */
  async visitor(options: BrowserContextOptions = {}, { declined = this.offers } = {}): Promise<Page> {
    // Without transitions no test sees a colour or an opacity on its way.
    const still = { reducedMotion: 'reduce' } as const;
    const choice = [{ origin: this.url, localStorage: [{ name: 'portal.passkey-offer', value: 'never' }] }];
    const context = await this.chromium.newVisitor({
      ...{ baseURL: this.url, locale: 'en-GB', ...still },
      ...(declined && { storageState: { cookies: [], origins: choice } }),
      ...options,
    });
    context.on('page', (page) => this.listen(page));
    return context.newPage();
  }

  /** Returns and clears the faults of all pages: script errors, console errors, requests to other origins. */
  takeComplaints(): string[] {
    return this.complaints.splice(0);
  }

  /** Performs this with captchas that take as long as one of the service can. */
  async withLongCaptcha(work: () => Promise<void>): Promise<void> {
    captchaSteps(this.service, mostSteps);
    await work().finally(() => captchaSteps(this.service, fewSteps));
  }

  /** Moves the clocks of the browser and of the service. */
  async pass(page: Page, seconds: number): Promise<void> {
    this.service.clock.advanceSeconds(seconds);
    await page.clock.fastForward(seconds * 1000);
  }

  private listen(page: Page): void {
    page.on('pageerror', (error) => this.complaints.push(`script: ${error.message}`));
    page.on('console', (message) => {
      // Many tests expect a 4xx answer. The browser logs it to the console, and this is no fault of the page.
      const refused = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
      if (['error', 'warning'].includes(message.type()) && !refused) this.complaints.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const own = request.url().startsWith(this.url) || request.url().startsWith('blob:');
      if (!own) this.complaints.push(`foreign request: ${request.url()}`);
    });
  }

  /** The code in the newest mail, or in the newest mail to this user if a test also causes other mails. */
  async mailedCode(user?: string): Promise<string> {
    const mails = await newMails(this.service);
    const address = user?.includes('@') ? user : `${user}@example.com`;
    const own = mails.filter((mail) => user === undefined || recipients(mail)?.includes(address));
    const code = /\b\d{6}\b/.exec(own.at(-1)?.text ?? '')?.[0];
    if (code === undefined) throw new Error('the newest mail contains no code');
    return code;
  }

  authenticatorCode(secret: string): string {
    return authenticatorCode(secret, this.service.clock.now());
  }
}

/** Its label also names the e-mail address where the service takes it (`LOGIN_BY_EMAIL`). */
const nameField = /^User name( or e-mail address)?$/;

/** Finds the elements of a page by their visible names, and performs common actions of a user. */
export const on = (page: Page) => ({
  button: (name: string | RegExp): Locator => page.getByRole('button', { name }),
  link: (name: string | RegExp): Locator => page.getByRole('link', { name }),
  field: (label: string): Locator => page.getByLabel(label === 'User name' ? nameField : label, { exact: true }),
  alert: (): Locator => page.getByRole('alert'),
  heading: (name: string | RegExp): Locator => page.getByRole('heading', { level: 1, name }),

  /** Not "Sign out everywhere else", and not the button beside another session. */
  signOut: (): Promise<void> => page.getByRole('button', { name: 'Sign out', exact: true }).click(),

  /** Opens a section of the account page. */
  section: (name: 'Profile' | 'Security' | 'Devices' | 'Activity'): Promise<void> =>
    page.getByRole('navigation', { name: 'Your account' }).getByRole('link', { name }).click(),

  /** Fills in and submits the login form. The page solves the captcha in the meantime. */
  logIn: async (username: string, typed = password): Promise<void> => {
    await page.getByLabel(nameField).fill(username);
    await page.getByLabel('Password', { exact: true }).fill(typed);
    // Not "Sign in with a passkey".
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  },

  /** The dialog in which signed-in users confirm who they are. */
  fresh: (): Locator => page.getByRole('dialog', { name: 'Confirm that it is you' }),

  /** Confirms with the password. */
  confirmPassword: async (typed = password): Promise<void> => {
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByLabel('Password', { exact: true }).fill(typed);
    await dialog.getByRole('button', { name: 'Continue' }).click();
  },

  /** Waits until the form accepts a code, and types the code. The page submits it after the sixth digit. */
  enterCode: async (code: string): Promise<void> => {
    await page.locator('form button[type=submit]:enabled').waitFor();
    await page.getByLabel('Six-digit code').fill(code);
  },
});
