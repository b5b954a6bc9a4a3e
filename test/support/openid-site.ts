import { TestService } from './app';
import { FakeClock } from './fakes';
import { freePort } from './servers/free-port';
import type { Page, WebBrowser } from './web-browser';

/** The whole service with the OpenID provider, on a port, for relying parties in other programs. */
export class OpenIdSite {
  private constructor(
    readonly service: TestService,
    readonly url: string,
  ) {}

  static async start(settings: Record<string, string> = {}, workers = false): Promise<OpenIdSite> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const service = await TestService.start(
      { PORT: `${port}`, SYSTEM_URL: url, JWT_ISSUER: url, OIDC: 'on', ...settings },
      // Relying parties read the clock of this machine.
      { clock: new FakeClock(new Date()), workers },
    );
    await service.app.listen(port, '127.0.0.1');
    return new OpenIdSite(service, url);
  }

  get issuer(): string {
    return `${this.url}/oidc`;
  }

  stop(): Promise<void> {
    return this.service.stop();
  }

  /** Whether the browser has come to the pages, or to an address that nobody answers. */
  private readonly atPages =
    (redirectUri?: string) =>
    (url: URL): boolean =>
      (url.origin === this.url && url.searchParams.has('interaction')) ||
      (redirectUri !== undefined && url.href.startsWith(redirectUri));

  /**
   * Goes to an address of an application or of the provider, and does at the pages what they do with a user who is
   * signed in.
   * @param redirectUri stop there, because nothing listens
   */
  async signInAt(
    browser: WebBrowser,
    address: string | URL,
    access: string,
    { redirectUri, consent }: { redirectUri?: string; consent?: boolean } = {},
  ): Promise<Page> {
    const page = await browser.go(address, this.atPages(redirectUri));
    const interaction = page.url.searchParams.get('interaction');
    if (interaction === null || page.url.origin !== this.url) return page;
    const answer = await browser.ask(`${this.url}/applications/interactions/${interaction}`, {
      json: consent === undefined ? {} : { consent },
      headers: { authorization: `Bearer ${access}`, origin: this.url },
    });
    if (answer.status !== 200) throw new Error(`the interaction answered ${answer.status} ${answer.text}`);
    const { data } = JSON.parse(answer.text) as { data: { redirect_to: string } };
    return browser.go(data.redirect_to, this.atPages(redirectUri));
  }
}
