import type { NewUser } from '../../src/users/user-accounts';
import { type Answer, TestService } from './app';
import { rootTenant } from '../../src/platform/settings/system-settings';

/** Settings of a service with the API of administrators. */
export const adminSettings = { ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false' };

/** One administrator with a session, who asks the service. */
export class AdminClient {
  private constructor(
    readonly service: TestService,
    readonly uid: string,
    readonly bearer: string,
  ) {}

  static async of(service: TestService, loginName: string, more: Partial<NewUser> = {}): Promise<AdminClient> {
    const { uid } = await service.givenUser(loginName, { isAdmin: true, tenantId: rootTenant, ...more });
    return new AdminClient(service, uid, (await service.session(loginName)).access);
  }

  /** A caller whose session is there. */
  static with(service: TestService, uid: string, bearer: string): AdminClient {
    return new AdminClient(service, uid, bearer);
  }

  /** The same administrator after a fresh login. */
  async again(loginName: string): Promise<AdminClient> {
    return new AdminClient(this.service, this.uid, (await this.service.session(loginName)).access);
  }

  get(path: string): Promise<Answer> {
    return this.service.get(`/admin/${path}`, { bearer: this.bearer });
  }

  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    return this.service.send(method, `/admin/${path}`, body, { bearer: this.bearer });
  }

  /** The items of one page, or of all pages. */
  async items(path: string): Promise<any[]> {
    const { status, body } = await this.get(path);
    if (status !== 200) throw new Error(`GET ${path} answered ${status} ${body?.error_code}`);
    return body.data.items;
  }

  /** All items as NDJSON. The answer has no envelope, so the OpenAPI document does not describe it. */
  async export(path: string): Promise<{ status: number; items: any[] }> {
    const answer = await this.service.app.inject({
      url: `/admin/${path}`,
      headers: { authorization: `Bearer ${this.bearer}`, accept: 'application/x-ndjson' },
    });
    const lines = answer.payload.split('\n').filter((line) => line !== '');
    return { status: answer.statusCode, items: lines.map((line) => JSON.parse(line) as unknown) };
  }
}

/** `success`, or the error code. */
export const outcomeOf = ({ status, body }: Answer): string =>
  status === 200 ? 'success' : String(body?.error_code ?? status);
