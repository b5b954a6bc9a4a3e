import { TestService } from '../support/app';
import {
  domainLogin,
  domainPassword,
  domainSettings,
  type Employee,
  givenEmployee,
  withService,
} from '../support/active-directory';
import { freshName } from '../support/ldap';
import { Samba } from '../support/servers/samba';

interface Session {
  readonly uid: string;
  readonly info: Record<string, unknown>;
  readonly refresh: string;
}

/** docs/spec/extensions.md#c, at a real domain controller. */
describe('accounts of Active Directory over time', () => {
  let domain: Samba;
  let service: TestService;

  beforeAll(async () => {
    domain = await Samba.start();
    service = await TestService.start(domainSettings(domain));
  });

  afterAll(async () => {
    await service?.stop();
    await domain?.stop();
  });

  async function open(name: string, on = service): Promise<Session> {
    const { status, body } = await on.login(name, domainPassword, { provider: 'ldap' });
    expect({ status, code: body.error_code }).toEqual({ status: 200, code: undefined });
    const { user_info: info, refresh_token: refresh } = body.data;
    return { uid: info.uid as string, info, refresh: refresh as string };
  }

  async function refresh({ refresh: bearer }: Session, on = service): Promise<string> {
    const { status, body } = await on.post('/refresh', undefined, { bearer });
    return status === 200 ? 'success' : String(body.error_code);
  }

  const accounts = (employee: Employee): Promise<number> => service.count('users', 'login_name = ?', [employee.name]);

  describe('an account is the entry, whatever its names are', () => {
    it('sAMAccountName, userPrincipalName and mail lead to one account', async () => {
      const name = freshName('spelled');
      const names = { name, principalName: `${name}.upn@example.test`, mail: `${name}.mail@example.test` };
      await domain.addUser({ ...names, password: domainPassword });
      const { uid } = await open(names.principalName);
      for (const typed of [name, name.toUpperCase(), names.mail, names.principalName.toUpperCase()]) {
        expect((await open(typed)).uid).toBe(uid);
      }
      expect(await service.userRow(uid)).toMatchObject({
        login_name: name,
        directory_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
    });

    it('an entry that gets another name, address and organizational unit stays the same user', async () => {
      const employee = await givenEmployee(domain);
      const { uid } = await open(employee.name);
      const married = freshName('married');
      const renamed = await domain.rename(employee.dn, `${married}, née ${employee.name}`);
      await domain.set(renamed, 'sAMAccountName', married);
      await domain.set(renamed, 'userPrincipalName', `${married}@example.test`);
      expect((await open(married)).uid).toBe(uid);
      await domain.move(renamed, domain.elsewhereDn);
      expect((await open(married)).uid).toBe(uid);
      expect((await open(`${married}@example.test`)).uid).toBe(uid);
      expect(await service.userRow(uid)).toMatchObject({ login_name: married });
      expect(await accounts(employee)).toBe(0);
    });

    it.each(['the newcomer', 'the colleague'])(
      'a newcomer who gets the former name of a renamed colleague gets in, and so does the colleague: %s comes first (T306)',
      async (first) => {
        const colleague = await givenEmployee(domain);
        const { uid } = await open(colleague.name);
        const married = freshName('wed');
        const renamed = await domain.rename(colleague.dn, married);
        await domain.set(renamed, 'sAMAccountName', married);
        await domain.set(renamed, 'userPrincipalName', `${married}@example.test`);
        await domain.set(renamed, 'mail', `${married}@example.test`);
        await givenEmployee(domain, colleague.name);
        if (first === 'the colleague') expect((await open(married)).uid).toBe(uid);
        const newcomer = await open(colleague.name);
        expect(newcomer.uid).not.toBe(uid);
        expect((await open(`${colleague.name}@example.test`)).uid).toBe(newcomer.uid);
        expect((await open(married)).uid).toBe(uid);
        expect(await service.userRow(uid)).toMatchObject({ login_name: married, email: `${married}@example.test` });
        expect(await service.userRow(newcomer.uid)).toMatchObject({ login_name: colleague.name });
        expect(await service.count('audit_logs', `event = 'USER_DIRECTORY_REFUSED' AND user_id = ?`, [uid])).toBe(0);
      },
    );

    it('an imported account is not taken over by an entry whose address is its login name (T307)', async () => {
      const thief = await givenEmployee(domain);
      const { uid, loginName } = await service.givenUser(`${thief.name}@example.test`, {
        provider: 'ldap',
        email: null,
      });
      expect(await domainLogin(service, loginName)).toBe('LOGIN_401001');
      expect((await service.userRow(uid)).directory_id).toBeNull();
      const settings = domainSettings(domain, { LDAP_MATCH_ATTRIBUTES: 'sAMAccountName,mail' });
      const wide = await TestService.start(settings, { store: service.store, clock: service.clock });
      expect((await open(loginName, wide)).uid).toBe(uid);
      await wide.stop({ keepStore: true });
    });

    it('an entry that is deleted and made again under the old name is another person', async () => {
      const employee = await givenEmployee(domain);
      const { uid } = await open(employee.name);
      const { directory_id: before } = await service.userRow(uid);
      await domain.remove(employee.dn);
      expect(await domainLogin(service, employee.name)).toBe('LOGIN_401001');
      await givenEmployee(domain, employee.name);
      expect(await domainLogin(service, employee.name)).toBe('LOGIN_401001');
      expect(await domainLogin(service, `${employee.name}@example.test`)).toBe('LOGIN_401001');
      expect(await service.count('audit_logs', `event = 'USER_DIRECTORY_REFUSED' AND user_id = ?`, [uid])).toBe(2);
      expect((await service.userRow(uid)).directory_id).toBe(before);
      expect(await accounts(employee)).toBe(1);
    });

    it('an account of before is bound at its next login, once, whatever name is typed', async () => {
      const employee = await givenEmployee(domain);
      const { uid } = await open(employee.name);
      await service.database.affected('UPDATE users SET directory_id = NULL WHERE uid = ?', [uid]);
      expect((await open(`${employee.name}@example.test`)).uid).toBe(uid);
      expect((await open(employee.name)).uid).toBe(uid);
      expect(await service.count('audit_logs', `event = 'USER_DIRECTORY_BOUND' AND user_id = ?`, [uid])).toBe(1);
    });

    it('an address that two entries share is nobody: LOGIN_401001, audited', async () => {
      const [one, other] = [await givenEmployee(domain), await givenEmployee(domain)];
      await open(one.name);
      const shared = `${freshName('shared')}@example.test`;
      for (const { dn } of [one, other]) await domain.set(dn, 'mail', shared);
      expect(await domainLogin(service, shared)).toBe('LOGIN_401001');
      expect(await service.count('audit_logs', `event = 'USER_DIRECTORY_REFUSED' AND user_id IS NULL`)).toBe(1);
    });
  });

  it('the display name and the address follow the entry at the next login', async () => {
    const employee = await givenEmployee(domain);
    const { uid } = await open(employee.name);
    await domain.set(employee.dn, 'displayName', 'Zoë Łęcka');
    await domain.set(employee.dn, 'mail', `${employee.name}.new@example.test`);
    const { info } = await open(employee.name);
    expect(info).toMatchObject({ uid, nickname: 'Zoë Łęcka', email: `${employee.name}.new@example.test` });
  });

  describe('groups', () => {
    it('LDAP_GROUP_REQUIRED admits direct and nested members, and LOGIN_401012 answers everybody else', async () => {
      const [direct, nested, stranger] = [
        await givenEmployee(domain),
        await givenEmployee(domain),
        await givenEmployee(domain),
      ];
      const inner = await domain.addGroup(freshName("Inner 'nested' (team) #"), [nested.dn]);
      const middle = await domain.addGroup(freshName('Middle'), [inner]);
      const outer = await domain.addGroup(freshName('Portal & users'), [middle, direct.dn]);
      await withService(domainSettings(domain, { LDAP_GROUP_REQUIRED: outer }), async (closed) => {
        expect(await domainLogin(closed, direct.name)).toBe('success');
        expect(await domainLogin(closed, nested.name)).toBe('success');
        expect(await domainLogin(closed, stranger.name)).toBe('LOGIN_401012');
        expect(await domainLogin(closed, stranger.name, 'wrong')).toBe('LOGIN_401001');
        await domain.removeMember(middle, inner);
        expect(await domainLogin(closed, nested.name)).toBe('LOGIN_401012');
      });
    });

    it.each(['Łęcka, Zoë "the #1"', ' # <x>; y = z\\ ', 'par(en)s * + {{username}}'])(
      'the membership of the entry %j is found',
      async (cn) => {
        const name = freshName('odd');
        const dn = await domain.addUser({ name, cn, password: domainPassword });
        const inner = await domain.addGroup(freshName('Odd inner'), [dn]);
        const group = await domain.addGroup(freshName('Odd'), [inner]);
        await withService(domainSettings(domain, { LDAP_GROUP_REQUIRED: group }), async (closed) => {
          expect(await domainLogin(closed, name)).toBe('success');
        });
      },
    );

    it('LDAP_GROUP_ADMIN gives and takes is_admin by nested membership', async () => {
      const employee = await givenEmployee(domain);
      const team = await domain.addGroup(freshName('Team'), [employee.dn]);
      const admins = await domain.addGroup(freshName('Admins'));
      await withService(domainSettings(domain, { LDAP_GROUP_ADMIN: admins }), async (governed) => {
        expect((await open(employee.name, governed)).info.is_admin).toBe(false);
        await domain.addMember(admins, team);
        expect((await open(employee.name, governed)).info.is_admin).toBe(true);
        await domain.removeMember(admins, team);
        expect((await open(employee.name, governed)).info.is_admin).toBe(false);
      });
    });
  });

  describe('a refresh asks the domain when its last answer is older than LDAP_RECHECK_SECONDS', () => {
    let portal: string;
    let watched: TestService;

    beforeAll(async () => {
      portal = await domain.addGroup('Watched portal');
      watched = await TestService.start(domainSettings(domain, { LDAP_GROUP_REQUIRED: portal }));
    });

    afterAll(() => watched?.stop());

    async function givenSession(): Promise<{ employee: Employee; session: Session }> {
      const employee = await givenEmployee(domain);
      await domain.addMember(portal, employee.dn);
      return { employee, session: await open(employee.name, watched) };
    }

    const later = () => watched.clock.advanceSeconds(301);

    it.each([
      ['disabled', (dn: string) => domain.disable(dn), 'disabled'],
      ['expired', (dn: string) => domain.expireAccount(dn), 'expired'],
      ['deleted', (dn: string) => domain.remove(dn), 'gone'],
      ['taken out of the group', (dn: string) => domain.removeMember(portal, dn), 'LDAP_GROUP_REQUIRED'],
    ])('the session of an account that is %s ends with AUTH_401006, and the audit says why', async (_, put, reason) => {
      const { employee, session } = await givenSession();
      await put(employee.dn);
      expect(await refresh(session, watched)).toBe('success');
      later();
      expect(await refresh(session, watched)).toBe('AUTH_401006');
      expect(await refresh(session, watched)).not.toBe('success');
      const rows = await watched.database.rows<{ event: string; detail: string }>(
        'SELECT event, detail FROM audit_logs WHERE user_id = ? ORDER BY id DESC LIMIT 1',
        [session.uid],
      );
      expect(rows).toEqual([{ event: 'USER_DIRECTORY_SESSIONS_ENDED', detail: expect.stringContaining(reason) }]);
    });

    it('the session of an account that is renamed and moved goes on', async () => {
      const { employee, session } = await givenSession();
      const renamed = await domain.rename(employee.dn, freshName('renamed'));
      await domain.set(renamed, 'sAMAccountName', freshName('renamed'));
      await domain.move(renamed, domain.elsewhereDn);
      later();
      expect(await refresh(session, watched)).toBe('success');
    });

    it('the session of a person whose entry is made again under the old name ends', async () => {
      const { employee, session } = await givenSession();
      await domain.remove(employee.dn);
      const again = await givenEmployee(domain, employee.name);
      await domain.addMember(portal, again.dn);
      later();
      expect(await refresh(session, watched)).toBe('AUTH_401006');
    });

    it('while the controller is stopped refreshes succeed for the grace, then LOGIN_503001, and the session stays', async () => {
      const { session } = await givenSession();
      await domain.kill();
      try {
        later();
        expect(await refresh(session, watched)).toBe('success');
        watched.clock.advanceSeconds(14_000);
        expect(await refresh(session, watched)).toBe('success');
        later();
        expect(await refresh(session, watched)).toBe('LOGIN_503001');
      } finally {
        await domain.restart();
      }
      expect(await refresh(session, watched)).toBe('success');
    });

    it('a dismissal is noticed by the second controller while the first one is stopped', async () => {
      const { employee, session } = await givenSession();
      await domain.disable(employee.dn);
      const twin = await domain.twin();
      const settings = { LDAP_GROUP_REQUIRED: portal, LDAP_URL: `${domain.tlsUrl},${twin.tlsUrl}` };
      const shared = { store: watched.store, clock: watched.clock };
      const replica = await TestService.start(domainSettings(domain, settings), shared);
      try {
        await domain.kill();
        later();
        expect(await refresh(session, replica)).toBe('AUTH_401006');
      } finally {
        await replica.stop({ keepStore: true });
        await twin.stop();
        await domain.restart();
      }
    });
  });
});
