import { TestService, tally } from '../support/app';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';

describe('just-in-time provisioning (LDAP_JIT_PROVISIONING)', () => {
  let directory: OpenLdap;
  let service: TestService;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    service = await TestService.start(ldapSettings(directory, { LDAP_JIT_PROVISIONING: 'true' }));
  });

  afterAll(async () => {
    await service?.stop();
    await directory?.stop();
  });

  const rowOf = (name: string) =>
    service.database.row<Record<string, unknown>>('SELECT * FROM users WHERE login_name_key = ?', [name.toLowerCase()]);

  const refusals = () =>
    service.database.rows<{ user_id: string | null; detail: string }>(
      `SELECT user_id, detail FROM audit_logs WHERE event = 'USER_PROVISIONING_REFUSED'`,
    );

  it('the first right login makes the account from the attributes of the entry, with one bind', async () => {
    const name = freshName('Mixed.Case');
    const dn = await givenPerson(directory, name, { cn: 'Zoë Example', mail: `${name}@example.test` });
    const { status, body } = await ldapLogin(service, ` ${name.toUpperCase()} `);
    expect(status).toBe(200);
    expect(body.data.user_info).toMatchObject({
      login_name: name,
      nickname: 'Zoë Example',
      email: `${name}@example.test`,
      is_admin: false,
      tenant_id: 'root',
    });
    expect(await rowOf(name)).toMatchObject({ provider: 'ldap', password: null, salt: null, status: 1 });
    expect(await directory.bindCount(dn)).toBe(1);
    expect(
      await service.count('audit_logs', `event = 'USER_PROVISIONED' AND user_id = ?`, [
        String(body.data.user_info.uid),
      ]),
    ).toBe(1);
    expect((await ldapLogin(service, name)).status).toBe(200);
  });

  it('20 parallel first logins make one account, and all succeed', async () => {
    const name = freshName();
    await givenPerson(directory, name);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ldapLogin(service, name)));
    expect(tally(answers)).toEqual({ success: 20 });
    expect(await service.count('users', 'login_name = ?', [name])).toBe(1);
    expect(
      await service.count('audit_logs', `event = 'USER_PROVISIONED' AND user_id = ?`, [
        String((await rowOf(name))?.uid),
      ]),
    ).toBe(1);
  });

  it('an entry with the e-mail address of another account is refused and audited (T309)', async () => {
    const owner = await service.givenUser(freshName('owner'), { email: 'owner@example.test' });
    const name = freshName('thief');
    await givenPerson(directory, name, { mail: 'OWNER@example.test' });
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_404001');
    expect(await rowOf(name)).toBeUndefined();
    expect((await refusals()).filter(({ user_id }) => user_id === owner.uid)).toHaveLength(1);
  });

  it('T768 an entry that is named like the e-mail address of a local account is refused and audited', async () => {
    const name = `${freshName('named')}@example.test`;
    const owner = await service.givenUser(freshName('owner'), { email: name.toUpperCase() });
    await givenPerson(directory, name, { mail: `${freshName('mail')}@example.test` });
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_404001');
    expect(await rowOf(name)).toBeUndefined();
    expect((await refusals()).filter(({ user_id }) => user_id === owner.uid)).toHaveLength(1);
  });

  it('an invalid e-mail address is left out, and the account is made without one', async () => {
    const name = freshName('dotty');
    await givenPerson(directory, name, { mail: 'a..b@example.test' });
    expect((await ldapLogin(service, name)).status).toBe(200);
    expect(await rowOf(name)).toMatchObject({ email: null, email_key: null });
  });

  it('a local account of the same name stays a local account', async () => {
    const { uid, loginName } = await service.givenUser(freshName());
    await givenPerson(directory, loginName);
    expect((await ldapLogin(service, loginName)).body.error_code).toBe('LOGIN_401001');
    expect(await service.userRow(uid)).toMatchObject({ provider: 'password', login_failed_count: 1 });
  });

  it('a first login under an alias takes the login name from the entry', async () => {
    const other = await TestService.start(
      ldapSettings(directory, {
        LDAP_JIT_PROVISIONING: 'true',
        LDAP_SEARCH_FILTER: '(|(uid={{username}})(mail={{username}}))',
      }),
    );
    try {
      const name = freshName();
      const dn = await givenPerson(directory, name);
      const { body } = await ldapLogin(other, `${name}@example.test`);
      expect(body.data.user_info.login_name).toBe(name);
      expect(await directory.bindCount(dn)).toBe(1);
      expect((await ldapLogin(other, name)).status).toBe(200);
      expect(await other.count('users')).toBe(1);
    } finally {
      await other.stop();
    }
  });

  it('a name without an account is locked after three parallel wrong passwords, until the end of the lock time', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    const answers = await Promise.all(Array.from({ length: 30 }, () => ldapLogin(service, name, 'wrong')));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 27 });
    expect(await directory.bindCount(dn)).toBe(3);
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401004');
    service.clock.advanceSeconds(901);
    expect((await ldapLogin(service, name)).status).toBe(200);
  });

  it('a name without an entry is LOGIN_404001 each time and is never locked', async () => {
    const name = freshName('nobody');
    for (let n = 0; n < 5; n++) expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_404001');
    expect(await service.count('cooldowns', `kind = 'ldap' AND until > ?`, ['2026-03-02 10:20:00'])).toBe(0);
  });

  it.each(['', ' ', '\u0000'])('a blank password (%j) never reaches the directory', async (blank) => {
    const name = freshName();
    await givenPerson(directory, name);
    const before = await directory.connectionCount();
    expect((await ldapLogin(service, name, blank)).status).toBeGreaterThanOrEqual(400);
    expect(await directory.connectionCount()).toBe(before);
  });

  it.each([
    '*',
    'a*',
    '*)(uid=*',
    'admin)(|(uid=*',
    '\\2a',
    '\\61lice',
    "$'",
    '$`',
    '$&',
    'a\u0000b',
    '))(((',
    '{{username}}',
    "{{username}}$'",
    '\ud800',
  ])('the name %j is escaped in the search filter and matches no entry (T176)', async (name) => {
    await givenPerson(directory, freshName('a'));
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_404001');
    expect((await ldapLogin(service, name, 'wrong')).body.error_code).toBe('LOGIN_404001');
  });
});
