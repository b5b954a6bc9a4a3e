import { TestService } from '../support/app';
import { ScimClient, scimSettings } from '../support/scim/client';
import { creations, groupRequests, type Recorded, userRequests } from '../support/scim/recorded';

/** What Entra ID and Okta send, as their documentation shows it, and what the validator of Entra ID tests. */
describe('the requests of Entra ID and Okta', () => {
  let service: TestService;
  let client: ScimClient;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    service = await TestService.start(scimSettings);
    client = await ScimClient.of(service);
  });
  afterAll(() => service.stop());

  const filled = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replace(/\{(user|other|group)\}/g, (_all, name: string) => ids[name]!)) as T;

  async function walk({ method, path, body, status, answers, leaves }: Recorded): Promise<void> {
    const [url, query] = filled(path).split('?', 2);
    const encoded = query === undefined ? '' : `?${query.replace(/[ "[\]]/g, encodeURIComponent)}`;
    const answer = await client.ask(method, `${url}${encoded}`, body && filled(body));
    expect([answer.status, answer.body]).toMatchObject([status, answers === undefined ? answer.body : filled(answers)]);
    if (leaves !== undefined) expect((await client.ask('GET', url!)).body).toMatchObject(filled(leaves));
  }

  it('users are created, and are 409 the second time', async () => {
    for (const body of [creations.entraUser, creations.oktaUser]) {
      const { status, body: user, headers } = await client.ask('POST', '/Users', body);
      const { userName, externalId, emails } = body;
      expect([status, user]).toMatchObject([201, { userName, externalId, active: true, emails }]);
      expect(headers.location).toBe(`http://portal.test/scim/v2/Users/${user.id}`);
      expect(headers['content-type']).toBe('application/scim+json; charset=utf-8');
      expect(user).not.toHaveProperty('password');
      const again = await client.ask('POST', '/Users', body);
      expect([again.status, again.body]).toMatchObject([409, { status: '409', scimType: 'uniqueness' }]);
      ids.other = ids.user!;
      ids.user = user.id as string;
    }
    ids.other ??= ids.user!;
  });

  it('a group is created, and is 409 the second time', async () => {
    const { status, body } = await client.ask('POST', '/Groups', creations.entraGroup);
    expect([status, body]).toMatchObject([201, { displayName: 'displayName', members: [] }]);
    expect((await client.ask('POST', '/Groups', creations.entraGroup)).status).toBe(409);
    const okta = await client.ask('POST', '/Groups', creations.oktaGroup);
    expect((await client.ask('DELETE', `/Groups/${okta.body.id}`)).status).toBe(204);
    ids.group = body.id as string;
  });

  it.each(groupRequests.map((one) => [`${one.method} ${one.from}`, one] as const))('%s', async (_from, one) => {
    await walk(one);
  });

  it.each(userRequests.map((one) => [`${one.method} ${one.from}`, one] as const))('%s', async (_from, one) => {
    await walk(one);
  });

  it('the service describes itself, and its schemas have what it stores', async () => {
    const config = await client.ask('GET', '/ServiceProviderConfig');
    expect(config.body).toMatchObject({ patch: { supported: true }, filter: { supported: true, maxResults: 200 } });
    const types = await client.ask('GET', '/ResourceTypes');
    expect(types.body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group']);
    const { body } = await client.ask('GET', '/Schemas');
    expect(body.totalResults).toBe(3);
    for (const { id, attributes } of body.Resources as { id: string; attributes: { name: string }[] }[]) {
      expect((await client.ask('GET', `/Schemas/${encodeURIComponent(id)}`)).body).toMatchObject({ id });
      expect(attributes.length).toBeGreaterThan(0);
    }
  });
});
