import type { TestService } from '../support/app';
import { tellLogout } from '../support/external-sessions';
import type { HostileProvider } from '../support/hostile-provider';
import { givenIdentityProvider } from '../support/identity-providers';
import { secondsOrNull } from './columns';
import type { Answer, Request, Rows } from './state';

const ops = ['signInAtProvider', 'provider', 'logoutAtProvider'] as const;

export type VisitorRequest = Extract<Request, { op: (typeof ops)[number] }>;

export const isOfVisitor = (request: Request): request is VisitorRequest =>
  (ops as readonly string[]).includes(request.op);

interface Company {
  readonly company: HostileProvider;
  administrator(service: TestService): Promise<string>;
}

/** The claim that is compared with the `external_id` of a user. */
const claim = 'employee';
export const externalId = (person: number): string => `employee-${person}`;

/** The people of one identity provider: brings their browsers there and back, and reads what the tables hold of them. */
export class Visitors {
  /** The cookie of the browser to which a code belongs. */
  private readonly cookies = new Map<string, string>();
  private touched = false;

  private constructor(
    private readonly services: Company,
    readonly id: string,
    private readonly run: string,
    private readonly uids: string[],
  ) {}

  static async of([first]: readonly TestService[], services: Company, run: string, uids: string[]): Promise<Visitors> {
    const { issuer, clientId, clientSecret: secret } = services.company;
    const makes = { jit: true, domains: ['example.com'], matchClaim: claim };
    const { id } = await givenIdentityProvider(first!, { id: `idp-${run}`, issuer, clientId, secret, ...makes });
    return new Visitors(services, id, run, uids);
  }

  cookieOf(code: string): Record<string, string> {
    return { cookie: this.cookies.get(code)! };
  }

  /** @param next chooses the replica that answers */
  async send(request: VisitorRequest, next: () => TestService): Promise<Answer> {
    switch (request.op) {
      case 'signInAtProvider':
        return this.signIn(next, request.person, request.age);
      case 'provider': {
        const service = next();
        const bearer = await this.services.administrator(service);
        const path = `/admin/identity-providers/${this.id}`;
        const { status, body } =
          request.action === 'delete'
            ? await service.send('DELETE', path, undefined, { bearer })
            : await service.send('PATCH', path, { enabled: request.action === 'enable' }, { bearer });
        return { code: status === 200 ? 'success' : (body.error_code as string) };
      }
      case 'logoutAtProvider': {
        const service = next();
        const { company } = this.services;
        // Logout tokens are judged by the clock of the service.
        const iat = service.clock.epochSeconds();
        const token = company.logoutToken({ sub: this.subOf(request.person), iat, exp: iat + 120 });
        const { status, body } = await tellLogout(service, { logout_token: token }, this.id);
        return { code: status === 200 ? 'success' : (body.error as string) };
      }
    }
  }

  /** A new browser each time. Each of its requests goes to the next replica. */
  private async signIn(next: () => TestService, person: number, age: number): Promise<Answer> {
    this.touched = true;
    const begun = await next().post(`/login/external/${this.id}`, {});
    if (begun.status !== 200) return { code: begun.body.error_code as string };
    const cookie = String([begun.headers['set-cookie']].flat()[0]).split(';')[0]!;
    const name = `m${person}-${this.run}`;
    const service = next();
    const back = this.services.company.signIn(begun.body.data.redirect_to as string, {
      ...{ sub: this.subOf(person), preferred_username: name, email: `${name}@example.com` },
      ...{ [claim]: externalId(person), auth_time: service.clock.epochSeconds() - age },
    });
    const query = new URLSearchParams(back).toString();
    const { headers } = await service.get(`/login/external/${this.id}/callback?${query}`, { headers: { cookie } });
    await this.rememberNew(service);
    const page = new URL(String(headers.location)).searchParams;
    const code = page.get('external');
    if (code === null) return { code: page.get('error')! };
    this.cookies.set(code, cookie);
    return { code: 'success', value: code };
  }

  /** The provider has made a user, of whom no answer has told yet. */
  private async rememberNew({ database }: TestService): Promise<void> {
    const bound = await database.rows<{ user_id: string }>(
      'SELECT user_id FROM external_identities WHERE identity_provider_id = ?',
      [this.id],
    );
    for (const { user_id } of bound) if (!this.uids.includes(user_id)) this.uids.push(user_id);
  }

  private subOf(person: number): string {
    return `sub-${person}-${this.run}`;
  }

  /** Tables that no request of the history has touched are not read. */
  async rows(select: (sql: string) => Promise<Record<string, any>[]>, now: number): Promise<Rows> {
    if (!this.touched) return { bindings: [], external_codes: [] };
    const [bindings, codes] = await Promise.all([select(statements.bindings), select(statements.codes)]);
    const user = (row: Record<string, any>) => this.uids.indexOf(row.user_id as string);
    return {
      bindings: bindings.map((row) => ({
        ...{ person: Number(String(row.subject).split('-')[1]), user: user(row), uid: row.user_id as string },
      })),
      external_codes: codes
        .map((row) => ({ user: user(row), expires: secondsOrNull(row.expires)! }))
        .filter(({ expires }) => expires > now),
    };
  }
}

/** The code of a sign-in that was under way when its user was deleted goes a moment later. */
const statements = {
  bindings: 'SELECT subject, user_id FROM external_identities WHERE user_id IN (?, ?)',
  codes: `SELECT s.user_id, s.expires FROM external_sign_ins s JOIN users u ON u.uid = s.user_id
    WHERE s.spent_at IS NULL AND u.deleted_at IS NULL AND u.uid IN (?, ?)`,
};
