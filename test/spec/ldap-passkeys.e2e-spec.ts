import { TestService } from '../support/app';
import { SoftAuthenticator } from '../support/authenticator';
import { DirectoryStub } from '../support/directory-stub';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { dataOf, origin, PasskeyClient, passkeySettings } from '../support/passkeys';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';

/** docs/spec/extensions.md#b: disabling a user in the directory ends the passkeys. */
describe('a directory user logs in with a passkey', () => {
  let directory: OpenLdap;
  let proxy: TcpProxy;
  let group: string;
  const services: TestService[] = [];

  beforeAll(async () => {
    directory = await OpenLdap.start();
    proxy = await TcpProxy.start(directory.port);
    group = await directory.addGroup('portal', [directory.adminDn]);
  });
  afterEach(async () => {
    await proxy.forward();
    await Promise.all(services.splice(0).map((service) => service.stop()));
  });
  afterAll(async () => {
    await proxy?.stop();
    await directory?.stop();
  });

  async function started(settings: Record<string, string>): Promise<PasskeyClient> {
    const client = new PasskeyClient(await TestService.start({ ...settings, ...passkeySettings }));
    services.push(client.service);
    return client;
  }
  const givenService = (more: Record<string, string> = {}) =>
    started(
      ldapSettings(directory, {
        LDAP_URL: `ldap://127.0.0.1:${proxy.port}`,
        LDAP_JIT_PROVISIONING: 'true',
        LDAP_SEARCH_FILTER: '(&(uid={{username}})(!(description=left)))',
        ...more,
      }),
    );

  /** Logs in with the password of the directory and adds a passkey. */
  async function givenOwner(client: PasskeyClient, loginName: string, password?: string) {
    const { data } = dataOf(await ldapLogin(client.service, loginName, password));
    const authenticator = new SoftAuthenticator(origin);
    dataOf(await client.register(data.access_token as string, authenticator));
    return { uid: data.user_info.uid as string, authenticator };
  }
  const sessions = ({ service }: PasskeyClient, uid: string) =>
    service.count('login_tokens', 'user_identity = ?', [uid]);

  it('gets a session, whose refreshes count this login as a look at the directory', async () => {
    const client = await givenService();
    const name = freshName();
    await givenPerson(directory, name);
    const { uid, authenticator } = await givenOwner(client, name);
    client.service.clock.advanceSeconds(100_000);
    const { data } = dataOf(await client.logIn(authenticator));
    expect(data.user_info).toMatchObject({ uid, login_name: name });
    const before = proxy.connectionCount;
    expect((await client.service.post('/refresh', undefined, { bearer: data.refresh_token as string })).status).toBe(
      200,
    );
    expect(proxy.connectionCount).toBe(before);
  });

  it.each([
    ['gone', 'PASSKEY_401001', (name: string) => directory.removeUser(name)],
    [
      'made again under the old name',
      'PASSKEY_401001',
      async (name: string) => {
        await directory.removeUser(name);
        await givenPerson(directory, name);
      },
    ],
    [
      'refused by LDAP_SEARCH_FILTER',
      'PASSKEY_401001',
      (name: string) => directory.changeUser(name, 'description', 'left'),
    ],
    ['disabled', 'LOGIN_401011', (name: string) => directory.changeUser(name, 'pwdAccountLockedTime', '000001010000Z')],
    ['out of LDAP_GROUP_REQUIRED', 'LOGIN_401012', () => directory.setMembers(group, [directory.adminDn])],
  ])('an entry that is %s: %s, no session, also with LDAP_RECHECK_SECONDS=0 (T303)', async (_what, code, change) => {
    const client = await givenService({ LDAP_GROUP_REQUIRED: group, LDAP_RECHECK_SECONDS: '0' });
    const name = freshName();
    await directory.setMembers(group, [await givenPerson(directory, name)]);
    const { uid, authenticator } = await givenOwner(client, name);
    dataOf(await client.logIn(authenticator));
    const before = { row: await client.service.userRow(uid), sessions: await sessions(client, uid) };
    await change(name);
    expect(await client.logIn(authenticator)).toMatchObject({ status: 401, body: { error_code: code } });
    expect({ row: await client.service.userRow(uid), sessions: await sessions(client, uid) }).toEqual(before);
    expect(await client.service.count('passkeys', 'user_id = ?', [uid])).toBe(1);
  });

  it('of a renamed entry gets the session of the same account, and the login name follows the entry', async () => {
    const client = await givenService();
    const name = freshName();
    await givenPerson(directory, name);
    const { uid, authenticator } = await givenOwner(client, name);
    await directory.renameUser(name, `${name}-married`);
    const { data } = dataOf(await client.logIn(authenticator));
    expect(data.user_info).toMatchObject({ uid, login_name: `${name}-married` });
  });

  it('works again when the entry is enabled again: a passkey ends only when it is removed', async () => {
    const client = await givenService({ LDAP_GROUP_REQUIRED: group });
    const name = freshName();
    const dn = await givenPerson(directory, name);
    await directory.setMembers(group, [dn]);
    const { authenticator } = await givenOwner(client, name);
    await directory.setMembers(group, [directory.adminDn]);
    expect(await client.logIn(authenticator)).toMatchObject({ body: { error_code: 'LOGIN_401012' } });
    await directory.setMembers(group, [dn]);
    dataOf(await client.logIn(authenticator));
  });

  it('an account that is not bound yet is not bound to the entry of somebody who carries its name elsewhere', async () => {
    const client = await givenService({ LDAP_SEARCH_FILTER: '(|(uid={{username}})(title={{username}}))' });
    const [leaver, heir] = [freshName('leaver'), freshName('heir')];
    await givenPerson(directory, leaver);
    const { uid, authenticator } = await givenOwner(client, leaver);
    await client.service.database.affected('UPDATE users SET directory_id = NULL WHERE uid = ?', [uid]);
    await directory.removeUser(leaver);
    await givenPerson(directory, heir);
    await directory.changeUser(heir, 'title', leaver);
    expect(await client.logIn(authenticator)).toMatchObject({ body: { error_code: 'PASSKEY_401001' } });
    expect(await client.service.userRow(uid)).toMatchObject({ directory_id: null });
    await directory.removeUser(heir);
    await givenPerson(directory, leaver);
    dataOf(await client.logIn(authenticator));
    expect((await client.service.userRow(uid)).directory_id).not.toBeNull();
  });

  it('a renamed entry keeps its passkeys', async () => {
    const client = await givenService();
    const name = freshName();
    await givenPerson(directory, name);
    const { uid, authenticator } = await givenOwner(client, name);
    await directory.renameUser(name, `${name}-new`);
    expect(dataOf(await client.logIn(authenticator)).data.user_info.uid).toBe(uid);
  });

  it('rights follow the directory at this login too: who left LDAP_GROUP_ADMIN is no administrator (T310)', async () => {
    const admins = await directory.addGroup(freshName('admins'), [directory.adminDn]);
    const client = await givenService({ LDAP_GROUP_ADMIN: admins });
    const name = freshName();
    await directory.setMembers(admins, [await givenPerson(directory, name)]);
    const { authenticator } = await givenOwner(client, name);
    expect(dataOf(await client.logIn(authenticator)).data.user_info.is_admin).toBe(true);
    await directory.setMembers(admins, [directory.adminDn]);
    const { data } = dataOf(await client.logIn(authenticator));
    expect(data.user_info.is_admin).toBe(false);
    expect((await client.service.get('/user/me', { bearer: data.access_token as string })).status).toBe(200);
  });

  it('without an answer of the directory it is LOGIN_503001 at once, and works when the directory is back', async () => {
    const client = await givenService();
    const name = freshName();
    await givenPerson(directory, name);
    const { uid, authenticator } = await givenOwner(client, name);
    const before = await client.service.userRow(uid);
    proxy.reset();
    const answer = await client.logIn(authenticator);
    expect(answer).toMatchObject({ status: 503, body: { error_code: 'LOGIN_503001' } });
    expect(answer.headers['retry-after']).toBeDefined();
    expect(await client.service.userRow(uid)).toEqual(before);
    await proxy.forward();
    client.service.clock.advanceSeconds(1);
    expect((await client.logIn(authenticator)).status).toBe(200);
  });

  it('a wrong signature asks the directory nothing', async () => {
    const client = await givenService();
    const name = freshName();
    await givenPerson(directory, name);
    const { authenticator } = await givenOwner(client, name);
    const before = proxy.connectionCount;
    expect(await client.logIn(authenticator, { flags: { uv: false } })).toMatchObject({
      body: { error_code: 'PASSKEY_401001' },
    });
    expect(proxy.connectionCount).toBe(before);
  });

  it.each([
    ['userAccountControl', '514', 'LOGIN_401011'],
    ['accountExpires', '134169120000000000', 'LOGIN_401012'],
  ])('Active Directory, %s %s: %s', async (attribute, value, code) => {
    const stub = await DirectoryStub.start();
    try {
      const client = await started(stub.settings);
      const { loginName } = await client.service.givenUser(freshName(), { provider: 'ldap' });
      stub.attributes = { userAccountControl: '512', accountExpires: '9223372036854775807' };
      const { authenticator } = await givenOwner(client, loginName, 'some-password');
      dataOf(await client.logIn(authenticator));
      stub.attributes[attribute] = value;
      expect(await client.logIn(authenticator)).toMatchObject({ body: { error_code: code } });
    } finally {
      await Promise.all(services.splice(0).map((service) => service.stop()));
      await stub.stop();
    }
  });
});
