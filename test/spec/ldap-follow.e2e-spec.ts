import type { User } from '../../src/users/user.entity';
import { TestService, tally } from '../support/app';
import { MfaClient, mfaSettings } from '../support/mfa';
import { queuedMails } from '../support/notices';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';

/** docs/spec/extensions.md#c: what the directory says about a person, at each login. */
describe('an account follows its directory entry', () => {
  let directory: OpenLdap;
  const services: TestService[] = [];

  beforeAll(async () => {
    directory = await OpenLdap.start();
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.stop()));
  });

  afterAll(() => directory?.stop());

  async function givenService(more: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.start(ldapSettings(directory, { LDAP_JIT_PROVISIONING: 'true', ...more }));
    services.push(service);
    return service;
  }

  async function session(service: TestService, name: string) {
    const { status, body } = await ldapLogin(service, name);
    expect(status).toBe(200);
    const { access_token: access, refresh_token: refresh, user_info: info } = body.data;
    return { uid: info.uid as string, info, access: access as string, refresh: refresh as string };
  }

  const audits = (service: TestService, event: string, uid: string) =>
    service.database.rows<{ detail: string }>('SELECT detail FROM audit_logs WHERE event = ? AND user_id = ?', [
      event,
      uid,
    ]);

  it('its language is that of the last sign-in, also of the one that makes the account', async () => {
    const service = await givenService();
    const name = freshName();
    await givenPerson(directory, name);
    const signIn = (accepted: string, password = directoryPassword) =>
      service.login(name, password, { provider: 'ldap' }, { headers: { 'accept-language': accepted } });
    const { body } = await signIn('de');
    const language = async () => (await service.userRow(String(body.data.user_info.uid))).language;
    expect(await language()).toBe('de');
    for (const accepted of ['zh-CN,zh;q=0.9', 'fr']) {
      expect([(await signIn(accepted)).status, await language()]).toEqual([200, 'zh-CN']);
    }
    expect([(await signIn('en', 'wrong')).status, await language()]).toEqual([401, 'zh-CN']);
  });

  describe('nickname and e-mail (LDAP_SYNC_ATTRIBUTES)', () => {
    it('are those of the entry after a login, in its answer and in the row, audited without the values', async () => {
      const service = await givenService();
      const name = freshName();
      await givenPerson(directory, name, { cn: 'Before' });
      const { uid } = await session(service, name);
      expect(await audits(service, 'USER_DIRECTORY_SYNCED', uid)).toHaveLength(0);
      await directory.changeUser(name, 'cn', 'Zoë After');
      await directory.changeUser(name, 'mail', `${name}.New@example.test`);
      const { info } = await session(service, name);
      expect(info).toMatchObject({ nickname: 'Zoë After', email: `${name}.New@example.test` });
      expect(await service.userRow(uid)).toMatchObject({
        nickname: 'Zoë After',
        email: `${name}.New@example.test`,
        email_key: `${name}.new@example.test`,
      });
      const details = (await audits(service, 'USER_DIRECTORY_SYNCED', uid)).map(({ detail }) => detail).sort();
      expect(details).toEqual(['{"attribute":"email"}', '{"attribute":"nickname"}']);
    });

    it('a new address is told to both addresses, once, and a new spelling and a nickname are not told', async () => {
      const service = await givenService();
      const name = freshName();
      await givenPerson(directory, name, { cn: 'Before' });
      const user = await session(service, name);
      const told = async () => (await queuedMails(service, user, 'account-changed')).map(({ to }) => to).sort();
      await directory.changeUser(name, 'cn', 'After');
      await directory.changeUser(name, 'mail', `${name}@Example.test`);
      await session(service, name);
      expect(await told()).toEqual([]);
      await directory.changeUser(name, 'mail', `${name}.new@example.test`);
      await Promise.all([session(service, name), session(service, name)]);
      await session(service, name);
      expect(await told()).toEqual([`${name}.new@example.test`, `${name}@Example.test`]);
      expect((await queuedMails(service, user, 'account-changed'))[0]).toMatchObject({ by: 'directory' });
    });

    it('a new address ends the code that was mailed to the former one', async () => {
      const service = await givenService(mfaSettings);
      const name = freshName();
      await givenPerson(directory, name);
      const { body } = await ldapLogin(service, name);
      const { uid, email } = await service.userRow(String(body.data.user_info.uid));
      const mfa = new MfaClient(service);
      const code = await mfa.lastCode({ email } as User);
      await directory.changeUser(name, 'mail', `${name}.new@example.test`);
      // Within the cooldown of the first code.
      expect((await ldapLogin(service, name)).body.error_code).toBe('MFA_429001');
      expect(await service.userRow(String(uid))).toMatchObject({ email: `${name}.new@example.test` });
      const answer = await mfa.verify(uid, 'email', code, { mfa_token: body.data.mfa_token as string });
      expect(answer).toMatchObject({ status: 401, body: { error_code: 'MFA_401001' } });
      expect(await service.userRow(String(uid))).toMatchObject({ proven_email_key: null });
    });

    it('an address of another account is not taken: the login succeeds and the log says why (T309)', async () => {
      const service = await givenService();
      const owner = await service.givenUser(freshName('owner'), { email: 'owner@example.test' });
      const name = freshName();
      await givenPerson(directory, name, { cn: 'Before' });
      const { uid } = await session(service, name);
      await directory.changeUser(name, 'mail', 'OWNER@example.test');
      await directory.changeUser(name, 'cn', 'After');
      const { info } = await session(service, name);
      expect(info).toMatchObject({ nickname: 'After', email: `${name}@example.test` });
      expect((await service.userRow(owner.uid)).email).toBe('owner@example.test');
      const lines = service.logLines.filter(({ userId }) => userId === uid);
      expect(lines).toEqual([expect.objectContaining({ level: 40, context: 'directory' })]);
      expect(JSON.stringify(lines)).not.toContain('example.test');
    });

    it('a malformed address changes nothing (T309)', async () => {
      const service = await givenService();
      const name = freshName();
      await givenPerson(directory, name);
      await session(service, name);
      await directory.changeUser(name, 'mail', 'a..b@example.test');
      expect((await session(service, name)).info.email).toBe(`${name}@example.test`);
    });

    it('LDAP_SYNC_ATTRIBUTES=false keeps what the account has', async () => {
      const service = await givenService({ LDAP_SYNC_ATTRIBUTES: 'false' });
      const name = freshName();
      await givenPerson(directory, name, { cn: 'Before' });
      await session(service, name);
      await directory.changeUser(name, 'cn', 'After');
      expect((await session(service, name)).info.nickname).toBe('Before');
    });

    it('30 parallel logins after a change all succeed, and one of them makes it', async () => {
      const service = await givenService();
      const name = freshName();
      await givenPerson(directory, name, { cn: 'Before' });
      const { uid } = await session(service, name);
      await directory.changeUser(name, 'cn', 'After');
      const answers = await Promise.all(Array.from({ length: 30 }, () => ldapLogin(service, name)));
      expect(tally(answers)).toEqual({ success: 30 });
      expect(new Set(answers.map(({ body }) => body.data.user_info.nickname))).toEqual(new Set(['After']));
      expect(await audits(service, 'USER_DIRECTORY_SYNCED', uid)).toHaveLength(1);
    });
  });

  describe('LDAP_GROUP_REQUIRED', () => {
    it('somebody outside of the group gets LOGIN_401012 after the right password only, and no account (T311)', async () => {
      const [name, member] = [freshName(), freshName()];
      const dn = await givenPerson(directory, name);
      const group = await directory.addGroup(freshName('portal'), [await givenPerson(directory, member)]);
      const service = await givenService({ LDAP_GROUP_REQUIRED: group });
      expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401012');
      expect((await ldapLogin(service, name, 'wrong')).body.error_code).toBe('LOGIN_401001');
      expect(await service.count('users')).toBe(0);
      await session(service, member);

      await directory.setMembers(group, [directory.dnOf(member), dn]);
      const { uid } = await session(service, name);
      await directory.setMembers(group, [directory.dnOf(member)]);
      expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401012');
      expect((await service.userRow(uid)).login_failed_count).toBe(0);
    });

    it('a guess after the lock does not learn that the password is right (T311)', async () => {
      const name = freshName();
      const dn = await givenPerson(directory, name);
      const group = await directory.addGroup(freshName('portal'), [dn]);
      const service = await givenService({ LDAP_GROUP_REQUIRED: group });
      await session(service, name);
      await directory.setMembers(group, [directory.adminDn]);
      const passwords = ['wrong', 'wrong', 'wrong', undefined];
      const codes: string[] = [];
      for (const typed of passwords) codes.push((await ldapLogin(service, name, typed)).body.error_code as string);
      expect(codes).toEqual(['LOGIN_401001', 'LOGIN_401001', 'LOGIN_401001', 'LOGIN_401004']);
    });

    it.each([
      [
        'another case and spaces',
        (dn: string) =>
          dn
            .replace('cn=', 'CN = ')
            .replaceAll(/(?<!\\),/g, ' , ')
            .toUpperCase(),
      ],
      ['an escape of another form', (dn: string) => dn.replace('\\,', '\\2C')],
    ])('the server compares the DN of the group: %s', async (_what, written) => {
      const name = freshName();
      const group = await directory.addGroup(`Sales, North (${name}) *`, [await givenPerson(directory, name)]);
      const service = await givenService({ LDAP_GROUP_REQUIRED: written(group) });
      await session(service, name);
    });

    it('counts the members of a group that memberOf does not know', async () => {
      const [name, other] = [freshName(), freshName()];
      await givenPerson(directory, other);
      const group = await directory.addUniqueGroup(freshName('unique'), [await givenPerson(directory, name)]);
      const service = await givenService({ LDAP_GROUP_REQUIRED: group });
      await session(service, name);
      expect((await ldapLogin(service, other)).body.error_code).toBe('LOGIN_401012');
    });

    it('a group that does not exist has no members', async () => {
      const name = freshName();
      await givenPerson(directory, name);
      const service = await givenService({ LDAP_GROUP_REQUIRED: `cn=nobody,ou=groups,${directory.baseDn}` });
      expect((await ldapLogin(service, name)).body.error_code).toBe('LOGIN_401012');
    });
  });

  describe('LDAP_GROUP_ADMIN', () => {
    async function givenAdminGroup() {
      const name = freshName();
      const dn = await givenPerson(directory, name);
      const group = await directory.addGroup(freshName('admins'), [directory.adminDn]);
      const service = await givenService({ LDAP_GROUP_ADMIN: group });
      const join = () => directory.setMembers(group, [dn]);
      const leave = () => directory.setMembers(group, [directory.adminDn]);
      return { name, service, join, leave };
    }

    it('gives and takes is_admin at the next login, audited, and ends the sessions of before (T310)', async () => {
      const { name, service, join, leave } = await givenAdminGroup();
      const before = await session(service, name);
      expect(before.info.is_admin).toBe(false);
      await join();
      const admin = await session(service, name);
      expect(admin.info.is_admin).toBe(true);
      expect((await service.get('/user/me', { bearer: before.access })).body.error_code).toBe('AUTH_401004');
      expect((await service.post('/refresh', undefined, { bearer: before.refresh })).status).toBe(401);
      expect((await service.get('/user/me', { bearer: admin.access })).body.data.is_admin).toBe(true);
      await leave();
      const after = await session(service, name);
      expect(after.info.is_admin).toBe(false);
      expect((await service.get('/user/me', { bearer: admin.access })).body.error_code).toBe('AUTH_401004');
      expect((await service.post('/refresh', undefined, { bearer: after.refresh })).status).toBe(200);
      const changes = await audits(service, 'USER_ADMIN_CHANGED', before.uid);
      expect(changes.map(({ detail }) => detail)).toEqual(['{"is_admin":true}', '{"is_admin":false}']);
    });

    it('a first login has the rights at once', async () => {
      const { name, service, join } = await givenAdminGroup();
      await join();
      expect((await session(service, name)).info.is_admin).toBe(true);
    });

    it('20 parallel logins after a change all succeed, and one of them makes it', async () => {
      const { name, service, join } = await givenAdminGroup();
      const { uid } = await session(service, name);
      await join();
      const answers = await Promise.all(Array.from({ length: 20 }, () => ldapLogin(service, name)));
      expect(tally(answers)).toEqual({ success: 20 });
      expect(new Set(answers.map(({ body }) => body.data.user_info.is_admin))).toEqual(new Set([true]));
      expect(await audits(service, 'USER_ADMIN_CHANGED', uid)).toHaveLength(1);
      expect((await service.userRow(uid)).credential_version).toBe(1);
    });

    it('without the setting an administrator stays one', async () => {
      const service = await givenService();
      const name = freshName();
      await givenPerson(directory, name);
      await service.givenUser(name, { provider: 'ldap', isAdmin: true });
      expect((await session(service, name)).info.is_admin).toBe(true);
    });

    it('a wrong password changes nothing', async () => {
      const { name, service, join } = await givenAdminGroup();
      const { uid } = await session(service, name);
      await join();
      await directory.changeUser(name, 'cn', 'Other');
      await ldapLogin(service, name, 'wrong');
      expect(await service.userRow(uid)).toMatchObject({ is_admin: 0, nickname: name });
    });
  });
});
