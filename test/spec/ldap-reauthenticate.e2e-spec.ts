import { decodeJwt } from 'jose';
import { password as localPassword, TestService } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { dataOf } from '../support/passkeys';
import { codeOf } from '../support/reset';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';

/** docs/spec/extensions.md#reauthenticate: the directory checks the password of its users. */
describe('POST /user/reauthenticate of a directory user', () => {
  let directory: OpenLdap;
  let proxy: TcpProxy;
  let service: TestService;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    proxy = await TcpProxy.start(directory.port);
    service = await TestService.start(
      ldapSettings(directory, {
        ...{ LDAP_URL: `ldap://127.0.0.1:${proxy.port}`, LDAP_JIT_PROVISIONING: 'true', MFA_REQUIRED: 'false' },
        RATE_LIMIT: 'off',
      }),
    );
  });
  afterEach(() => proxy.forward());
  afterAll(async () => {
    await service?.stop();
    await proxy?.stop();
    await directory?.stop();
  });

  const given = async () => {
    const name = freshName();
    await givenPerson(directory, name);
    const { data } = dataOf(await ldapLogin(service, name));
    return {
      ...{ name, uid: data.user_info.uid as string },
      ...{ access: data.access_token as string, refresh: data.refresh_token as string },
    };
  };
  const confirm = (bearer: string, password = directoryPassword) =>
    service.post('/user/reauthenticate', { password }, { bearer });
  const isYoung = async (bearer: string) =>
    codeOf(await service.post('/recovery-codes', undefined, { bearer })) === 'success';
  const lives = async ({ access: bearer }: { access: string }) =>
    codeOf(await service.get('/user/me', { bearer })) === 'success';
  const failures = async (uid: string) => Number((await service.userRow(uid)).login_failed_count);
  const confirmed = (uid: string) => service.count('audit_logs', "user_id = ? AND event = 'SESSION_CONFIRMED'", [uid]);

  it('the password of the directory makes the session young again', async () => {
    const { uid, name, access } = await given();
    service.clock.advanceSeconds(301);
    expect(await isYoung(access)).toBe(false);
    const { data } = dataOf(await confirm(access));
    expect(data.user_info).toMatchObject({ uid, login_name: name });
    const token = data.access_token as string;
    expect(decodeJwt(token)).toMatchObject({ sub: uid, sid: decodeJwt(access).sid, amr: ['pwd'] });
    expect(await isYoung(token)).toBe(true);
  });

  it('a changed password of the directory counts at once, and the former one is wrong', async () => {
    const { name, access } = await given();
    await directory.changeUser(name, 'userPassword', 'another-land-2');
    expect(codeOf(await confirm(access))).toBe('LOGIN_401001');
    expect(codeOf(await confirm(access, 'another-land-2'))).toBe('success');
  });

  it('a wrong one is LOGIN_401001 with the counter of the login, has a row of login_logs, and leaves the session', async () => {
    const user = await given();
    await ldapLogin(service, user.name, 'wrong');
    // Also one that is the password of local users, and one that a directory takes for an anonymous bind.
    expect(codeOf(await confirm(user.access, localPassword))).toBe('LOGIN_401001');
    expect(await failures(user.uid)).toBe(2);
    expect(codeOf(await confirm(user.access, ' '))).toBe('LOGIN_401001');
    expect(codeOf(await confirm(user.access))).toBe('LOGIN_401004');
    expect(codeOf(await ldapLogin(service, user.name))).toBe('LOGIN_401004');
    const logged = await service.database.rows(
      'SELECT provider, outcome FROM login_logs WHERE user_id = ? ORDER BY id',
      [user.uid],
    );
    expect(logged).toEqual(
      ['success', ...Array<string>(3).fill('LOGIN_401001'), 'LOGIN_401004', 'LOGIN_401004'].map((outcome) => ({
        provider: 'ldap',
        outcome,
      })),
    );
    expect(await lives(user)).toBe(true);
    expect(await confirmed(user.uid)).toBe(0);
  });

  it('without an answer of the directory it is LOGIN_503001, nothing is counted, and the session stays', async () => {
    const user = await given();
    const before = await service.userRow(user.uid);
    proxy.reset();
    const answer = await confirm(user.access);
    expect(answer).toMatchObject({ status: 503, body: { error_code: 'LOGIN_503001' } });
    expect(answer.headers['retry-after']).toBeDefined();
    expect(await service.userRow(user.uid)).toEqual(before);
    expect(await lives(user)).toBe(true);
    expect(codeOf(await service.post('/refresh', undefined, { bearer: user.refresh }))).toBe('success');
    await proxy.forward();
    service.clock.advanceSeconds(1);
    expect(codeOf(await confirm(user.access))).toBe('success');
  });

  it('of a renamed entry it goes on with the same account, and the login name follows the entry', async () => {
    const { name, uid, access } = await given();
    await directory.renameUser(name, `${name}-married`);
    const { data } = dataOf(await confirm(access));
    expect(data.user_info).toMatchObject({ uid, login_name: `${name}-married` });
    expect(decodeJwt(data.access_token as string).sid).toBe(decodeJwt(access).sid);
  });

  it.each<[string, (name: string) => Promise<unknown>, string]>([
    ['gone', (name: string) => directory.removeUser(name), directoryPassword],
    [
      'made again under the old name',
      async (name: string) => {
        await directory.removeUser(name);
        await givenPerson(directory, name);
      },
      directoryPassword,
    ],
    [
      'renamed, and a newcomer has its name',
      async (name: string) => {
        await directory.renameUser(name, `${name}-married`);
        await directory.addUser({ uid: name, cn: name, mail: 'newcomer@example.test', password: 'the-newcomer-3' });
      },
      'the-newcomer-3',
    ],
  ])(
    'an entry that is %s: LOGIN_401001, no token, counted for the user of the session',
    async (_what, change, typed) => {
      const { name, uid, access } = await given();
      const sessions = await service.count('login_tokens', 'user_identity = ?', [uid]);
      await change(name);
      expect(codeOf(await confirm(access, typed))).toBe('LOGIN_401001');
      expect(await failures(uid)).toBe(1);
      expect(await service.count('login_tokens', 'user_identity = ?', [uid])).toBe(sessions);
      expect(await confirmed(uid)).toBe(0);
    },
  );

  it('a user who is out of LDAP_GROUP_REQUIRED gets LOGIN_401012, and a wrong password learns nothing of it', async () => {
    const { name, uid, access } = await given();
    const group = await directory.addGroup(freshName('group'), [directory.adminDn]);
    const settings = ldapSettings(directory, { LDAP_GROUP_REQUIRED: group, MFA_REQUIRED: 'false' });
    const strict = await TestService.start(settings, { clock: service.clock, store: service.store });
    try {
      const at = (password: string) => strict.post('/user/reauthenticate', { password }, { bearer: access });
      expect(codeOf(await at('wrong'))).toBe('LOGIN_401001');
      expect(codeOf(await at(directoryPassword))).toBe('LOGIN_401012');
      expect(await confirmed(uid)).toBe(0);
      await directory.setMembers(group, [`uid=${name},${directory.peopleDn}`]);
      expect(codeOf(await at(directoryPassword))).toBe('success');
    } finally {
      await strict.stop({ keepStore: true });
    }
  });
});
