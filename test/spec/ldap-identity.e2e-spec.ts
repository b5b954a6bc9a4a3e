import { AuditTrail } from '../../src/audit/audit-trail';
import { TestService, tally } from '../support/app';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';

/** docs/spec/extensions.md#c: the stable id of the entry tells who somebody is, not a name. */
describe('a directory user is the entry, whatever its names are (users.directory_id)', () => {
  let directory: OpenLdap;
  let service: TestService;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    service = await TestService.start(settings());
  });

  afterAll(async () => {
    await service?.stop();
    await directory?.stop();
  });

  const settings = (more: Record<string, string> = {}) =>
    ldapSettings(directory, {
      LDAP_JIT_PROVISIONING: 'true',
      LDAP_SEARCH_FILTER: '(|(uid={{username}})(mail={{username}})(description={{username}}))',
      ...more,
    });

  const rowOf = (uid: unknown) => service.userRow(String(uid));
  const uidOf = async (name: string, password?: string): Promise<string> => {
    const { status, body } = await ldapLogin(service, name, password);
    expect(status).toBe(200);
    return body.data.user_info.uid as string;
  };
  const audits = (event: string, uid: string) => service.count('audit_logs', 'event = ? AND user_id = ?', [event, uid]);
  const unbind = (uid: string) =>
    service.database.affected('UPDATE users SET directory_id = NULL WHERE uid = ?', [uid]);

  /** A person with three names: uid, mail and an alias. */
  async function givenThreeNames() {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    await directory.changeUser(name, 'description', `${name}@corp`);
    return { name, dn, names: [name, `${name}@example.test`, `${name}@corp`] as const };
  }

  it('every name that the filter accepts leads to one account', async () => {
    const { name, names } = await givenThreeNames();
    const [first, ...others] = [...names].reverse();
    const uid = await uidOf(first!);
    for (const other of others) expect(await uidOf(other.toUpperCase())).toBe(uid);
    expect(await rowOf(uid)).toMatchObject({
      login_name: name,
      directory_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(await service.count('users', 'login_name LIKE ?', [`${name}%`])).toBe(1);
  });

  it('30 parallel first logins under three names make one account, and all succeed', async () => {
    const { name, names } = await givenThreeNames();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ldapLogin(service, names[n % 3]!)));
    expect(tally(answers)).toEqual({ success: 30 });
    expect(new Set(answers.map(({ body }) => body.data.user_info.uid)).size).toBe(1);
    expect(await service.count('users', 'login_name LIKE ?', [`${name}%`])).toBe(1);
  });

  it('three wrong passwords lock the account for all names, and login_logs name the account (T308)', async () => {
    const { name, names, dn } = await givenThreeNames();
    const uid = await uidOf(name);
    const before = await directory.bindCount(dn);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ldapLogin(service, names[n % 3]!, 'wrong')));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 27 });
    expect((await directory.bindCount(dn)) - before).toBe(3);
    for (const typed of names) expect((await ldapLogin(service, typed)).body.error_code).toBe('LOGIN_401004');
    expect((await rowOf(uid)).login_failed_count).toBe(3);
    expect(
      await service.count('login_logs', `login_name = ? AND user_id = ? AND outcome <> 'success'`, [name, uid]),
    ).toBe(33);
  });

  it('three wrong passwords lock a person without an account for all names (T308)', async () => {
    const { names, dn } = await givenThreeNames();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ldapLogin(service, names[n % 3]!, 'wrong')));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 27 });
    expect(await directory.bindCount(dn)).toBe(3);
    for (const typed of names) expect((await ldapLogin(service, typed)).body.error_code).toBe('LOGIN_401004');
  });

  it('a renamed entry is the same user, under the new name and under the login name of the service', async () => {
    const name = freshName();
    await givenPerson(directory, name);
    const uid = await uidOf(name);
    await directory.renameUser(name, `${name}-married`);
    expect(await uidOf(`${name}-married`)).toBe(uid);
    expect(await uidOf(name)).toBe(uid);
    expect(await rowOf(uid)).toMatchObject({ login_name: name });
  });

  it('an entry that was deleted and made again under the old name is another person: LOGIN_401001, audited (T306)', async () => {
    const { name, names } = await givenThreeNames();
    const uid = await uidOf(name);
    const before = await rowOf(uid);
    await directory.removeUser(name);
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401001');
    const dn = await givenPerson(directory, name);
    const binds = await directory.bindCount(dn);
    expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401001');
    expect((await ldapLogin(service, names[1])).body.error_code).toBe('LOGIN_401001');
    expect(await audits('USER_DIRECTORY_REFUSED', uid)).toBe(2);
    expect(await directory.bindCount(dn)).toBe(binds);
    expect(await rowOf(uid)).toMatchObject({ directory_id: before.directory_id, login_failed_count: 3 });
  });

  it('somebody who gets the former login name of a colleague does not get the account of the colleague (T306)', async () => {
    const [anna, berta] = [freshName('anna'), freshName('berta')];
    await givenPerson(directory, anna);
    await givenPerson(directory, berta);
    const [annaUid, bertaUid] = [await uidOf(anna), await uidOf(berta)];
    await directory.renameUser(anna, `${anna}-new`);
    await directory.renameUser(berta, anna);
    expect(await uidOf(anna)).toBe(bertaUid);
    expect(await uidOf(`${anna}-new`)).toBe(annaUid);
  });

  describe('an account that was made before accounts were bound', () => {
    async function givenUnbound() {
      const person = await givenThreeNames();
      const uid = await uidOf(person.name);
      await unbind(uid);
      return { ...person, uid };
    }

    it.each([0, 1, 2])('is bound at its next login, once and audited (name %d)', async (n) => {
      const { uid, names } = await givenUnbound();
      expect(await uidOf(names[n]!)).toBe(uid);
      expect(await uidOf(names[n]!)).toBe(uid);
      expect((await rowOf(uid)).directory_id).not.toBeNull();
      expect(await audits('USER_DIRECTORY_BOUND', uid)).toBe(1);
    });

    it('is not bound by a wrong password', async () => {
      const { uid, name } = await givenUnbound();
      expect((await ldapLogin(service, name, 'wrong')).body.error_code).toBe('LOGIN_401001');
      expect((await rowOf(uid)).directory_id).toBeNull();
    });

    it('is bound once by 20 parallel logins under three names, and all succeed', async () => {
      const { uid, names } = await givenUnbound();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ldapLogin(service, names[n % 3]!)));
      expect(tally(answers)).toEqual({ success: 20 });
      expect(await audits('USER_DIRECTORY_BOUND', uid)).toBe(1);
    });

    it('is not taken over by a colleague who writes its login name into another attribute (T307)', async () => {
      const { uid, name } = await givenUnbound();
      await directory.removeUser(name);
      const thief = freshName('thief');
      await givenPerson(directory, thief);
      await directory.changeUser(thief, 'description', name);
      expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401001');
      expect(await audits('USER_DIRECTORY_REFUSED', uid)).toBe(1);
      expect((await rowOf(uid)).directory_id).toBeNull();
    });

    it('is not taken over either when the audit row of its creation was purged', async () => {
      const { uid, name } = await givenUnbound();
      await service.database.affected('DELETE FROM audit_logs WHERE user_id = ?', [uid]);
      await directory.changeUser(name, 'description', 'someone else');
      await directory.renameUser(name, `${name}-thief`);
      await directory.changeUser(`${name}-thief`, 'description', name);
      expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401001');
    });

    it('that an operator made may have any login name that the filter accepts', async () => {
      const { name, names } = await givenThreeNames();
      const { uid } = await service.givenUser(names[1], { provider: 'ldap', email: null });
      await service.database.transaction((tx) =>
        service.app.get(AuditTrail).record(tx, 'USER_CREATED', { userId: uid }),
      );
      expect(await uidOf(names[1])).toBe(uid);
      expect(await uidOf(name)).toBe(uid);
      expect(await audits('USER_DIRECTORY_BOUND', uid)).toBe(1);
    });
  });

  it('a filter that matches several entries is LOGIN_401001, audited, and binds as nobody (T307)', async () => {
    const [one, two] = [freshName(), freshName()];
    const dns = [await givenPerson(directory, one), await givenPerson(directory, two)];
    const uid = await uidOf(one);
    const binds = await directory.bindCount(dns[0]!);
    await directory.changeUser(two, 'description', one);
    for (const name of [one, one]) expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401001');
    expect(await audits('USER_DIRECTORY_REFUSED', uid)).toBe(2);
    await directory.changeUser(one, 'description', 'shared-alias');
    await directory.changeUser(two, 'description', 'shared-alias');
    expect((await ldapLogin(service, 'shared-alias')).body.error_code).toBe('LOGIN_401001');
    expect(await service.count('audit_logs', `event = 'USER_DIRECTORY_REFUSED' AND user_id IS NULL`)).toBe(1);
    expect((await directory.bindCount(dns[0]!)) - binds).toBe(0);
    expect(await directory.bindCount(dns[1]!)).toBe(0);
  });

  it('an entry whose other name is the login name of a local account does not reach the local account (T307)', async () => {
    const local = await service.givenUser(freshName('local'));
    const name = freshName();
    await givenPerson(directory, name);
    await directory.changeUser(name, 'description', local.loginName);
    const before = await directory.connectionCount();
    expect((await ldapLogin(service, local.loginName)).body.error_code).toBe('LOGIN_401001');
    expect(await directory.connectionCount()).toBe(before);
    expect(await service.userRow(local.uid)).toMatchObject({ provider: 'password', directory_id: null });
    expect(await uidOf(name)).not.toBe(local.uid);
  });

  it('with HIDE_ACCOUNT_EXISTENCE, a wrong password under another name is answered like an unknown name', async () => {
    const { name, names } = await givenThreeNames();
    await uidOf(name);
    const hidden = await TestService.start(settings({ HIDE_ACCOUNT_EXISTENCE: 'true' }), {
      store: service.store,
      clock: service.clock,
    });
    try {
      const bodies = [
        await ldapLogin(hidden, names[1], 'wrong'),
        await ldapLogin(hidden, names[2], 'wrong'),
        await ldapLogin(hidden, freshName('nobody'), 'wrong'),
        ...(await Promise.all([1, 2].map(() => ldapLogin(hidden, names[1], 'wrong')))),
      ].map(({ body }) => body.error_code as string);
      expect(new Set(bodies)).toEqual(new Set(['LOGIN_401001']));
    } finally {
      await hidden.stop({ keepStore: true });
    }
  });

  it('the refusal of LDAP_SEARCH_FILTER still holds for an account that is bound', async () => {
    const name = freshName();
    await givenPerson(directory, name);
    await directory.changeUser(name, 'description', 'staff');
    const staffOnly = await TestService.start(
      settings({ LDAP_SEARCH_FILTER: '(&(description=staff)(uid={{username}}))' }),
    );
    try {
      expect((await ldapLogin(staffOnly, name)).status).toBe(200);
      await directory.changeUser(name, 'description', 'former staff');
      expect((await ldapLogin(staffOnly, name)).body.error_code).toBe('LOGIN_401001');
    } finally {
      await staffOnly.stop();
    }
  });
});
