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

  describe('a renamed entry', () => {
    /** Somebody who has signed in, and whose entry has got another name since. */
    async function givenRenamed(stem: string) {
      const name = freshName(stem);
      await givenPerson(directory, name);
      const uid = await uidOf(name);
      await directory.renameUser(name, `${name}-married`);
      await directory.changeUser(`${name}-married`, 'mail', `${name}-married@example.test`);
      return { uid, name, married: `${name}-married` };
    }

    const followed = async (uid: string) => {
      const rows = await service.database.rows<{ detail: string }>(
        `SELECT detail FROM audit_logs WHERE event = 'USER_DIRECTORY_SYNCED' AND user_id = ?`,
        [uid],
      );
      return rows.map(({ detail }) => JSON.parse(detail) as { attribute: string; cause?: string });
    };

    it.each(['new', 'former'])(
      'is the same user under the %s name, and the login name follows it once',
      async (typed) => {
        const { uid, name, married } = await givenRenamed('one');
        expect(await uidOf(typed === 'new' ? married : name)).toBe(uid);
        expect(await rowOf(uid)).toMatchObject({ login_name: married, login_name_key: married });
        expect(await uidOf(married.toUpperCase())).toBe(uid);
        expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_404001');
        expect((await followed(uid)).filter(({ attribute }) => attribute === 'login_name')).toEqual([
          { attribute: 'login_name' },
        ]);
        expect(await service.count('login_logs', 'user_id = ? AND login_name = ?', [uid, name])).toBe(1);
      },
    );

    it('that a wrong password is tried for renames nothing', async () => {
      const { uid, name, married } = await givenRenamed('guessed');
      for (const typed of [name, married]) expect((await ldapLogin(service, typed, 'wrong')).status).toBe(401);
      expect(await rowOf(uid)).toMatchObject({ login_name: name });
    });

    it('20 parallel logins under the new name all succeed, and one of them changes the login name', async () => {
      const { uid, married } = await givenRenamed('many');
      const answers = await Promise.all(Array.from({ length: 20 }, () => ldapLogin(service, married)));
      expect(tally(answers)).toEqual({ success: 20 });
      expect(new Set(answers.map(({ body }) => body.data.user_info.login_name))).toEqual(new Set([married]));
      expect((await followed(uid)).filter(({ attribute }) => attribute === 'login_name')).toHaveLength(1);
    });

    it('whose new name another account has keeps its name, and the log says so', async () => {
      const { uid, name, married } = await givenRenamed('late');
      const local = await service.givenUser(married);
      expect(await uidOf(name)).toBe(uid);
      expect(await rowOf(uid)).toMatchObject({ login_name: name });
      expect(await rowOf(local.uid)).toMatchObject({ login_name: married, provider: 'password', directory_id: null });
      const lines = service.logLines.filter(({ userId }) => userId === uid);
      expect(lines).toEqual([expect.objectContaining({ level: 40, context: 'directory' })]);
      expect(JSON.stringify(lines)).not.toContain(married);
    });

    it('whose account has another name of the entry, such as the address, keeps it', async () => {
      const { uid, name } = await givenRenamed('address');
      const address = `${name}-married@example.test`;
      await service.database.affected('UPDATE users SET login_name = ?, login_name_key = ? WHERE uid = ?', [
        address,
        address,
        uid,
      ]);
      expect(await uidOf(address)).toBe(uid);
      expect(await rowOf(uid)).toMatchObject({ login_name: address });
    });

    describe('and a newcomer who gets the former name (T306)', () => {
      async function givenNewcomer(name: string): Promise<string> {
        await givenPerson(directory, name, { cn: 'Newcomer' });
        return name;
      }

      it.each(['the newcomer', 'the colleague'])(
        'both get in, each with an own account: %s comes first',
        async (first) => {
          const { uid, name, married } = await givenRenamed('both');
          await givenNewcomer(name);
          if (first === 'the colleague') expect(await uidOf(married)).toBe(uid);
          const newcomer = await uidOf(name);
          expect(newcomer).not.toBe(uid);
          expect(await uidOf(married)).toBe(uid);
          expect(await uidOf(name)).toBe(newcomer);
          expect(await rowOf(uid)).toMatchObject({ login_name: married, email: `${married}@example.test` });
          expect(await rowOf(newcomer)).toMatchObject({ login_name: name, nickname: 'Newcomer' });
          const cause = 'another entry has the former login name';
          expect((await followed(uid))[0]).toEqual(
            first === 'the newcomer' ? { attribute: 'login_name', cause } : { attribute: 'login_name' },
          );
        },
      );

      it('under another name of the newcomer both get in as well', async () => {
        const { uid, name, married } = await givenRenamed('alias');
        await givenNewcomer(name);
        await directory.changeUser(name, 'description', `${name}@corp`);
        const newcomer = await uidOf(`${name}@corp`);
        expect(await rowOf(newcomer)).toMatchObject({ login_name: name });
        expect(await uidOf(married)).toBe(uid);
      });

      it('20 parallel first logins of the newcomer make one account, and all succeed', async () => {
        const { uid, name } = await givenRenamed('crowd');
        await givenNewcomer(name);
        const answers = await Promise.all(Array.from({ length: 20 }, () => ldapLogin(service, name)));
        expect(tally(answers)).toEqual({ success: 20 });
        const uids = new Set(answers.map(({ body }) => body.data.user_info.uid as string));
        expect(uids.size).toBe(1);
        expect(uids).not.toContain(uid);
        expect((await followed(uid)).filter(({ attribute }) => attribute === 'login_name')).toHaveLength(1);
      });

      it('guesses at the newcomer lock the newcomer and not the colleague', async () => {
        const { uid, name, married } = await givenRenamed('guess');
        await givenNewcomer(name);
        const codes: unknown[] = [];
        for (let n = 0; n < 4; n++) codes.push((await ldapLogin(service, name, 'wrong')).body.error_code);
        expect(codes).toEqual(['LOGIN_401001', 'LOGIN_401001', 'LOGIN_401001', 'LOGIN_401004']);
        expect(await rowOf(uid)).toMatchObject({ login_failed_count: 0 });
        expect(await uidOf(married)).toBe(uid);
        expect(await service.count('login_logs', `user_id = ? AND outcome <> 'success'`, [uid])).toBe(0);
      });

      it('while the new name of the colleague is not free, the newcomer is refused and audited, and nobody is taken over', async () => {
        const { uid, name, married } = await givenRenamed('taken');
        const local = await service.givenUser(married);
        await givenNewcomer(name);
        expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401001');
        expect(await audits('USER_DIRECTORY_REFUSED', uid)).toBe(1);
        expect(await rowOf(uid)).toMatchObject({ login_name: name });
        expect(await rowOf(local.uid)).toMatchObject({ login_name: married, provider: 'password' });
      });

      it('without just-in-time users the colleague gets in under the new name, and the name is free for the newcomer', async () => {
        const { uid, name, married } = await givenRenamed('closed');
        await givenNewcomer(name);
        const closed = await TestService.start(settings({ LDAP_JIT_PROVISIONING: 'false' }), {
          store: service.store,
          clock: service.clock,
        });
        try {
          expect((await ldapLogin(closed, name)).body.error_code).toBe('LOGIN_404001');
          expect((await ldapLogin(closed, married)).body.data.user_info.uid).toBe(uid);
          const made = await closed.givenUser(name, { provider: 'ldap', email: null });
          expect((await ldapLogin(closed, name)).body.data.user_info.uid).toBe(made.uid);
        } finally {
          await closed.stop({ keepStore: true });
        }
      });
    });
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
    expect(await rowOf(bertaUid)).toMatchObject({ login_name: anna });
    expect(await rowOf(annaUid)).toMatchObject({ login_name: `${anna}-new` });
  });

  it('two colleagues who swap their names get into their own accounts', async () => {
    const [anna, berta] = [freshName('anna'), freshName('berta')];
    for (const name of [anna, berta]) await givenPerson(directory, name);
    const [annaUid, bertaUid] = [await uidOf(anna), await uidOf(berta)];
    await directory.renameUser(anna, `${anna}-between`);
    await directory.renameUser(berta, anna);
    await directory.renameUser(`${anna}-between`, berta);
    for (let n = 0; n < 2; n++) {
      expect(await uidOf(anna)).toBe(bertaUid);
      expect(await uidOf(berta)).toBe(annaUid);
    }
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

    it('that was imported is not taken over by an entry whose address is its login name (T307)', async () => {
      const colleague = await service.givenUser(`${freshName('imported')}@example.test`, {
        provider: 'ldap',
        email: null,
      });
      const thief = freshName('thief');
      await givenPerson(directory, thief, { mail: colleague.loginName });
      const binds = await directory.bindCount(directory.dnOf(thief));
      expect((await ldapLogin(service, colleague.loginName)).body.error_code).toBe('LOGIN_401001');
      expect(await audits('USER_DIRECTORY_REFUSED', colleague.uid)).toBe(1);
      expect(await rowOf(colleague.uid)).toMatchObject({ directory_id: null, login_failed_count: 1 });
      expect(await directory.bindCount(directory.dnOf(thief))).toBe(binds);
    });

    it('that an operator made may have a name of LDAP_MATCH_ATTRIBUTES, and keeps it', async () => {
      const { name, names } = await givenThreeNames();
      const byAddress = await service.givenUser(names[1], { provider: 'ldap', email: null });
      const byAlias = await service.givenUser(names[2], { provider: 'ldap', email: null });
      const wide = await TestService.start(
        settings({ LDAP_MATCH_ATTRIBUTES: 'uid, mail', LDAP_JIT_PROVISIONING: 'false' }),
        { store: service.store, clock: service.clock },
      );
      try {
        for (let n = 0; n < 2; n++) {
          expect((await ldapLogin(wide, names[1])).body.data.user_info.uid).toBe(byAddress.uid);
        }
        // Of the account with the third name, the entry is known by now, and it is that of the address.
        expect((await ldapLogin(wide, names[2])).body.data.user_info.uid).toBe(byAddress.uid);
      } finally {
        await wide.stop({ keepStore: true });
      }
      expect(await rowOf(byAddress.uid)).toMatchObject({ login_name: names[1] });
      expect(await rowOf(byAlias.uid)).toMatchObject({ directory_id: null });
      expect(await audits('USER_DIRECTORY_BOUND', byAddress.uid)).toBe(1);
      expect(await uidOf(name)).toBe(byAddress.uid);
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
