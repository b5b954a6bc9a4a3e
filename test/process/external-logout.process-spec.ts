import { createHash, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import '../support/servers/slow-tests';
import { LogoutReceiver } from '../support/applications/logout-receiver';
import { HostileProvider } from '../support/hostile-provider';
import { identityProviderRow } from '../support/identity-providers';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** docs/spec/extensions.md#k: disabled at the provider is out everywhere, on every replica and in every application. */
describe('a logout token of the identity provider at the built program', () => {
  let receiver: LogoutReceiver;
  let provider: HostileProvider;
  let replicas: Replicas;

  beforeAll(async () => {
    receiver = await LogoutReceiver.start();
    provider = await HostileProvider.start(() => new Date());
    replicas = await Replicas.start({ OIDC: 'on' });
    const { statement, values } = identityProviderRow(new Date(), {
      issuer: provider.issuer,
      clientId: provider.clientId,
    });
    await replicas.rows(statement, values);
  });
  afterAll(async () => {
    await replicas?.stop();
    await provider?.stop();
    await receiver?.stop();
  });

  /** A user whose session began at the provider, and who has used it at an application. */
  async function givenSession(name: string) {
    const uid = await replicas.givenUser(name);
    const { access_token: access, refresh_token: refresh } = (await replicas.login(name)).body.data;
    const sid = String(decodeJwt(access as string).sid);
    const application = randomUUID();
    await replicas.rows(
      `INSERT INTO external_identities (identity_provider_id, subject_hash, subject, user_id, bound_at, last_used_at)
       VALUES ('acme', ?, ?, ?, NOW(3), NOW(3))`,
      [sha256(name), name, uid],
    );
    await replicas.rows(
      `INSERT INTO external_sessions (sid, identity_provider_id, subject_hash, user_id, began_at) VALUES (?, 'acme', ?, ?, NOW(3))`,
      [sid, sha256(name), uid],
    );
    await replicas.rows(
      `INSERT INTO applications (id, name, type, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri,
         scopes, audience, allowed_tenants, allowed_groups, created_at, changed_at)
       VALUES (?, ?, 'web', '[]', '[]', ?, '[]', '[]', '[]', '[]', NOW(3), NOW(3))`,
      [application, application, receiver.uri(`/${application}`)],
    );
    await replicas.rows(
      `INSERT INTO application_sessions (sid, application_id, user_id, logout_id, began_at) VALUES (?, ?, ?, ?, NOW(3))`,
      [sid, application, uid, randomUUID()],
    );
    return { uid, sid, application, access: access as string, refresh: refresh as string };
  }

  const tell = async (replica: number, logout_token: string): Promise<number> => {
    const { url } = replicas.services[replica]!;
    const body = new URLSearchParams({ logout_token });
    return (await fetch(`${url}/login/external/acme/backchannel-logout`, { method: 'POST', body })).status;
  };
  const statuses = (access: string) =>
    Promise.all(
      [0, 1].map(async (n) => (await replicas.get('/user/me', n, { authorization: `Bearer ${access}` })).status),
    );

  it('ends the session at both replicas at once, and the application is told (T533)', async () => {
    const { access, sid, application } = await givenSession('leaver');
    expect(await statuses(access)).toEqual([200, 200]);
    expect(await tell(0, provider.logoutToken({ sub: 'leaver' }))).toBe(200);
    expect(await statuses(access)).toEqual([401, 401]);
    await eventually(() => receiver.accepted.length === 1, { what: 'the application is told' });
    expect(receiver.accepted[0]!.claims).toMatchObject({ sid, aud: application });
  });

  it('the same token at two replicas at once counts once (T532)', async () => {
    await givenSession('twice');
    const token = provider.logoutToken({ sub: 'twice' });
    expect((await Promise.all([tell(0, token), tell(1, token)])).sort()).toEqual([200, 400]);
  });

  it('of a refresh and a logout at the same time no token lives afterwards (T533)', async () => {
    for (let n = 0; n < 5; n++) {
      const { access, refresh } = await givenSession(`racer${n}`);
      const refreshes = [0, 1, 0, 1].map((at) => replicas.post('/refresh', { refresh_token: refresh }, at));
      const [told, ...answers] = await Promise.all([
        tell(n % 2, provider.logoutToken({ sub: `racer${n}` })),
        ...refreshes,
      ]);
      expect(told).toBe(200);
      const issued = answers.flatMap(({ status, body }) => (status === 200 ? [body.data.access_token as string] : []));
      for (const token of [access, ...issued]) expect(await statuses(token)).toEqual([401, 401]);
    }
  });
});
