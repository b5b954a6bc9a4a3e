import { ServiceClients } from '../../../src/introspection/service-client.repository';
import { type Answer, TestService } from '../app';

export const scimSettings = { SCIM: 'on' } as const;

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';

/** A client of SCIM, as Entra ID and Okta are. */
export class ScimClient {
  private constructor(
    private readonly service: TestService,
    readonly id: string,
    readonly token: string,
  ) {}

  static async of(service: TestService, tenantId?: string): Promise<ScimClient> {
    const { id, token } = await service.app.get(ServiceClients).createScim('a directory', { tenantId });
    service.secrets.add('a token of SCIM', token);
    return new ScimClient(service, id, token);
  }

  /** The same client at another replica. */
  at(service: TestService): ScimClient {
    return new ScimClient(service, this.id, this.token);
  }

  /** @param body an object, or the text of a body */
  async ask(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/scim+json' };
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const sent = { headers: { ...type, ...headers }, bearer: this.token };
    const answer = await this.service.send(method, `/scim/v2${path}`, text, sent);
    return { ...answer, body: answer.raw.length === 0 ? undefined : (JSON.parse(answer.raw.toString()) as unknown) };
  }

  filtered(resource: string, filter: string, more = ''): Promise<Answer> {
    return this.ask('GET', `/${resource}?filter=${encodeURIComponent(filter)}${more}`);
  }

  async givenUser(userName: string, more: object = {}): Promise<string> {
    const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, ...more };
    const { status, body } = await this.ask('POST', '/Users', user);
    if (status !== 201) throw new Error(`the creation answered ${status} ${JSON.stringify(body)}`);
    return body.id as string;
  }

  async givenGroup(displayName: string, members: readonly string[] = []): Promise<string> {
    const group = { displayName, members: members.map((value) => ({ value })) };
    const { status, body } = await this.ask('POST', '/Groups', group);
    if (status !== 201) throw new Error(`the creation answered ${status} ${JSON.stringify(body)}`);
    return body.id as string;
  }

  patch(path: string, operations: readonly object[], headers?: Record<string, string>): Promise<Answer> {
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
    return this.ask('PATCH', path, { schemas, Operations: operations }, headers);
  }
}
