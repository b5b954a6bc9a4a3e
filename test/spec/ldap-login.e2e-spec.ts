import { accountDisabled, loginFailed } from '../../src/shared/errors/error-catalogue';
import { TestService, tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';

describe('login with provider ldap', () => {
  let directory: OpenLdap;
  let service: TestService;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    service = await TestService.start(ldapSettings(directory));
  });

  afterAll(async () => {
    await service?.stop();
    await directory?.stop();
  });

  async function givenDirectoryUser(name = freshName(), more: Record<string, unknown> = {}) {
    await givenPerson(directory, name);
    return service.givenUser(name, { provider: 'ldap', ...more });
  }

  it('a right password opens a session, and a wrong password gets LOGIN_401001 and is counted (T174)', async () => {
    const { uid, loginName } = await givenDirectoryUser();
    expect((await ldapLogin(service, loginName, 'wrong')).body.error_code).toBe('LOGIN_401001');
    expect((await service.userRow(uid)).login_failed_count).toBe(1);
    const { status, body } = await ldapLogin(service, loginName);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ access_token: expect.any(String), change_password: false });
    expect((await service.userRow(uid)).login_failed_count).toBe(0);
  });

  it('of 100 parallel wrong passwords, three get LOGIN_401001 after three binds, and the rest get LOGIN_401004 (T185)', async () => {
    const { uid, loginName } = await givenDirectoryUser();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ldapLogin(service, loginName, 'wrong')));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await directory.bindCount(directory.dnOf(loginName))).toBe(3);
    expect((await service.userRow(uid)).login_failed_count).toBe(3);
    expect((await ldapLogin(service, loginName)).body.error_code).toBe('LOGIN_401004');
  });

  it.each([' ', '\t\n', '\u0000', 'secret\u0000', '\u00a0'])(
    'a blank password or one with NUL (%j) is counted as wrong and never reaches the directory (T175)',
    async (blank) => {
      const { uid, loginName } = await givenDirectoryUser();
      const before = await directory.connectionCount();
      expect((await ldapLogin(service, loginName, blank)).body.error_code).toBe('LOGIN_401001');
      expect((await service.userRow(uid)).login_failed_count).toBe(1);
      expect(await directory.connectionCount()).toBe(before);
    },
  );

  it.each(['', undefined])('an empty or missing password (%j) gets COMMON_400001 (T175)', async (password) => {
    const { loginName } = await givenDirectoryUser();
    const { body } = await service.post('/login', { username: loginName, password, provider: 'ldap' });
    expect(body.error_code).toBe('COMMON_400001');
  });

  it('a local user cannot log in with provider ldap, and a directory user cannot log in with provider password (T184)', async () => {
    const local = freshName();
    await givenPerson(directory, local);
    const localUser = await service.givenUser(local, { password: 'Correct-Horse-7' });
    const before = await directory.connectionCount();
    expect((await ldapLogin(service, local)).body.error_code).toBe('LOGIN_401001');
    expect((await ldapLogin(service, local, 'Correct-Horse-7')).body.error_code).toBe('LOGIN_401001');
    expect((await service.userRow(localUser.uid)).login_failed_count).toBe(2);
    expect(await directory.connectionCount()).toBe(before);

    const remote = await givenDirectoryUser();
    expect((await service.login(remote.loginName, directoryPassword)).body.error_code).toBe('LOGIN_401001');
    expect((await service.userRow(remote.uid)).login_failed_count).toBe(1);
  });

  it('a disabled user with the right password of the directory gets LOGIN_401011 (T186)', async () => {
    const { loginName } = await givenDirectoryUser(undefined, { status: -1 });
    expect((await ldapLogin(service, loginName)).body.error_code).toBe('LOGIN_401011');
    expect((await ldapLogin(service, loginName, 'wrong')).body.error_code).toBe('LOGIN_401001');
  });

  it('a refusal contains no part of a DN and no text of the directory (T269)', async () => {
    const { loginName } = await givenDirectoryUser(undefined, { status: -1 });
    const absent = await service.givenUser(freshName('absent'), { provider: 'ldap' });
    for (const [answer, { code, msg }] of [
      [await ldapLogin(service, loginName), accountDisabled],
      [await ldapLogin(service, loginName, 'wrong'), loginFailed],
      [await ldapLogin(service, absent.loginName), loginFailed],
    ] as const) {
      expect(answer.status).toBe(401);
      // The text is a constant of the catalogue: a directory can say things that no pattern knows.
      expect(answer.body).toEqual({ error_code: code, msg: msg.en });
      expect(JSON.stringify(answer.headers)).not.toMatch(/dc=|ou=|uid=|cn=|ldap|code 49|data 52/i);
    }
  });

  it('a directory user without an account gets LOGIN_404001, and no connection to the directory is opened (T188)', async () => {
    const name = freshName();
    await givenPerson(directory, name);
    const before = await directory.connectionCount();
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_404001');
    expect(await directory.connectionCount()).toBe(before);
    expect(await service.count('users', 'login_name = ?', [name])).toBe(0);
  });

  it('a user with an account but without a directory entry gets LOGIN_401001 (T178)', async () => {
    const { uid, loginName } = await service.givenUser(freshName('ghost'), { provider: 'ldap' });
    expect((await ldapLogin(service, loginName)).body.error_code).toBe('LOGIN_401001');
    expect((await service.userRow(uid)).login_failed_count).toBe(1);
  });

  it.each([
    'a,b',
    'a+b',
    '"q"',
    'back\\slash',
    '#hash',
    'Łęcka',
    'x(y)',
    'st*r',
    'sl/ash',
    "$'",
    '$`',
    '$&',
    '{{username}}',
    '<a>;=b',
  ])('the name %j is escaped in the filter and in the DN (T176, T177)', async (name) => {
    await givenPerson(directory, name, { mail: 'special@example.test' });
    await service.givenUser(name, { provider: 'ldap', email: null });
    expect((await ldapLogin(service, name)).status).toBe(200);
    expect((await ldapLogin(service, name, 'wrong')).body.error_code).toBe('LOGIN_401001');
  });

  it('other spellings of a login name count as failures of the same user (W19)', async () => {
    const { uid, loginName } = await givenDirectoryUser();
    for (const typed of [loginName.toUpperCase(), `${loginName} `]) {
      expect((await ldapLogin(service, typed, 'wrong')).body.error_code).toBe('LOGIN_401001');
    }
    expect((await service.userRow(uid)).login_failed_count).toBe(2);
    expect((await ldapLogin(service, loginName.toUpperCase())).status).toBe(200);
  });

  it('writes the outcome to login_logs with the provider', async () => {
    const { uid, loginName } = await givenDirectoryUser();
    await ldapLogin(service, loginName, 'wrong');
    await ldapLogin(service, loginName);
    const rows = await service.database.rows<{ provider: string; outcome: string }>(
      'SELECT provider, outcome FROM login_logs WHERE user_id = ? ORDER BY created_at, id',
      [uid],
    );
    expect(rows.map(({ provider, outcome }) => `${provider} ${outcome}`).sort()).toEqual([
      'ldap LOGIN_401001',
      'ldap success',
    ]);
  });
});
