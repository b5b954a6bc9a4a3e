import { AppConfig } from '../../src/settings/app-config';
import { type Answer, type Request, TestService } from './app';
import { RunningClock } from './fakes';
import { CompanyProvider, type Person } from './identity-provider';
import { type GivenProvider, givenIdentityProvider } from './identity-providers';
import { WebBrowser } from './web-browser';

const secret = 'the-secret-of-the-portal-at-acme';

/** A person who signs in in one browser. */
export class PersonsBrowser {
  readonly web = new WebBrowser();
  cookie: string | undefined;

  constructor(
    private readonly service: TestService,
    private readonly id: string,
  ) {}

  /** `POST /login/external/{id}`. The browser keeps the cookie. */
  async begin(body: Record<string, unknown> = {}, request: Request = {}): Promise<Answer> {
    const answer = await this.service.post(`/login/external/${this.id}`, body, this.with(request));
    const [line] = [answer.headers['set-cookie'] ?? []].flat() as string[];
    if (line !== undefined) this.cookie = line.split(';')[0];
    return answer;
  }

  /** Goes to the provider, whoever is there. @returns the path and query of the callback */
  async visit(redirectTo: string): Promise<string> {
    const page = await this.web.go(redirectTo, ({ pathname }) => pathname.endsWith('/callback'));
    if (!page.url.pathname.endsWith('/callback')) throw new Error(`the provider answered ${page.status} ${page.text}`);
    return page.url.pathname + page.url.search;
  }

  /** @returns the parameters of the address to which the callback leads */
  async callback(path: string): Promise<Record<string, string>> {
    const answer = await this.service.get(path, this.with());
    if (answer.status !== 303) throw new Error(`the callback answered ${answer.status} ${answer.raw.toString()}`);
    const target = new URL(String(answer.headers.location));
    return { at: target.origin + target.pathname, ...Object.fromEntries(target.searchParams) };
  }

  /** From the button to the page. */
  async come(body: Record<string, unknown> = {}, request: Request = {}): Promise<Record<string, string>> {
    const begun = await this.begin(body, request);
    if (begun.status !== 200) throw new Error(`the beginning answered ${begun.status} ${begun.body?.error_code}`);
    return this.callback(await this.visit(begun.body.data.redirect_to as string));
  }

  redeem(code: string | undefined, more: Record<string, unknown> = {}, request: Request = {}): Promise<Answer> {
    return this.service.post('/login/external', { code, ...more }, this.with(request));
  }

  /** The whole sign-in. */
  async signIn(more: Record<string, unknown> = {}, request: Request = {}): Promise<Answer> {
    const { external, error } = await this.come();
    if (external === undefined) throw new Error(`the callback led to ${error}`);
    return this.redeem(external, more, request);
  }

  with({ headers, ...request }: Request = {}): Request {
    return { ...request, headers: { ...headers, ...(this.cookie === undefined ? {} : { cookie: this.cookie }) } };
  }
}

/** A service, and the provider of a company at which its people sign in. */
export class ExternalSite {
  private constructor(
    readonly service: TestService,
    readonly provider: CompanyProvider,
    readonly id: string,
  ) {}

  /** @param more the row of the provider; `issuer`, client and secret are those of the started provider */
  static async start(more: GivenProvider, settings: Record<string, string>): Promise<ExternalSite> {
    // The provider and the packages read the clock of this machine.
    const service = await TestService.start(settings, { clock: new RunningClock() });
    const id = more.id ?? 'acme';
    const redirectUri = `${service.app.get(AppConfig).systemUrl}/login/external/${id}/callback`;
    const provider = await CompanyProvider.start([{ clientId: 'portal', secret, redirectUris: [redirectUri] }]);
    await givenIdentityProvider(service, { ...{ id, issuer: provider.issuer, clientId: 'portal', secret }, ...more });
    return new ExternalSite(service, provider, id);
  }

  /** Another browser; by default that of this person. */
  browser(person?: Person): PersonsBrowser {
    if (person !== undefined) this.provider.signsIn(person);
    return new PersonsBrowser(this.service, this.id);
  }

  /** Changes the row of the provider. */
  async change(columns: Record<string, string | number | boolean | null>): Promise<void> {
    const names = Object.keys(columns);
    await this.service.database.affected(
      `UPDATE identity_providers SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
      [...Object.values(columns), this.id],
    );
  }

  async audits(event: string): Promise<Record<string, unknown>[]> {
    const rows = await this.service.database.rows<{ detail: string; user_id: string | null }>(
      'SELECT detail, user_id FROM audit_logs WHERE event = ?',
      [event],
    );
    return rows.map(({ detail, user_id }) => ({ ...(JSON.parse(detail) as object), user_id }));
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.provider.stop();
  }
}
