import { decodeJwt } from 'jose';
import { DataSource } from 'typeorm';
import { operatorAuthority } from '../../src/admin/authority';
import { BulkRevocation } from '../../src/admin/bulk-revocation';
import { UserAdministration } from '../../src/admin/user-administration';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { givenTenant } from '../support/admin';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { type Answer, password, TestService } from '../support/app';
import { givenApplication, logoutRows, signIn } from '../support/applications/application-rows';
import { listStatements } from '../support/count-statements';
import { DirectoryStub } from '../support/directory-stub';
import { goodPassword, mailedToken, submit } from '../support/reset';

interface Given {
  readonly name: string;
  readonly uid: string;
  readonly access: string;
  readonly refresh: string;
}

const as = (bearer: string) => ({ bearer });
const sidOf = (token: string) => String(decodeJwt(token).sid);
const ok = async (answer: Promise<Answer>) => expect(outcomeOf(await answer)).toBe('success');

/** docs/spec/extensions.md#j: whatever ends a session queues the logout tokens in its transaction (ADR 0035). */
describe('one end for everything', () => {
  let service: TestService;
  let directory: DirectoryStub;
  let admin: AdminClient;
  let wiki: string;
  let mail: string;

  beforeAll(async () => {
    directory = await DirectoryStub.start();
    service = await TestService.start({
      ...adminSettings,
      OIDC: 'on',
      REFRESH_TOKEN_ROTATION: 'true',
      REFRESH_REUSE_GRACE_SECONDS: '0',
      LDAP_URL: `ldap://127.0.0.1:${directory.port}`,
      LDAP_SEARCH_BASE: 'dc=example',
      LDAP_BIND_DN: 'cn=service',
      LDAP_BIND_PASSWORD: 'not-a-secret-of-anybody',
      LDAP_RECHECK_SECONDS: '300',
    });
    admin = await AdminClient.of(service, 'root-admin');
    await givenTenant(service, 'acme');
    wiki = await givenApplication(service, 'wiki', 'https://wiki.example.com/logout');
    mail = await givenApplication(service, 'mail');
  });
  afterAll(async () => {
    await service.stop();
    await directory.stop();
  });

  let users = 0;
  async function givenUser(): Promise<Given> {
    const name = `person-${++users}`;
    const { uid } = await service.givenUser(name);
    return { name, uid, ...(await service.session(name)) };
  }
  const refresh = (token: string) => service.post('/refresh', undefined, as(token));
  const changePassword = (bearer: string) => {
    const body = { current_password: password, password: goodPassword('x'), confirm_password: goodPassword('x') };
    return service.post('/user/change-password', body, as(bearer));
  };

  /** Each way to end the session of `access`, and what ends it. `other` is another session of the user. */
  const ways: Record<string, (user: Given, other: { access: string }) => Promise<unknown>> = {
    'a log-out': ({ access }) => ok(service.post('/logout', undefined, as(access))),
    'a log-out by the refresh token': (user) => ok(service.post('/logout', undefined, as(user.refresh))),
    'its end from another session': ({ access }, other) =>
      ok(service.send('DELETE', `/user/sessions/${sidOf(access)}`, undefined, as(other.access))),
    'the end of all others': (_user, other) =>
      ok(service.send('DELETE', '/user/sessions', undefined, as(other.access))),
    'a change of the own password in this session': ({ access }) => ok(changePassword(access)),
    'a change of the own password in another session': (_user, other) => ok(changePassword(other.access)),
    'a password that was reset by a mailed link': async ({ name }) =>
      ok(submit(service, await mailedToken(service, `${name}@example.com`), goodPassword('y'))),
    'a password that an operator sets': async ({ name }) => {
      const administration = service.app.get(UserAdministration);
      const user = await administration.find(name);
      await administration.setPassword(operatorAuthority, user, goodPassword('z'), {
        ...{ temporary: true, rules: 'waived' },
      });
    },
    'a disabling': ({ uid }) => ok(admin.send('PATCH', `users/${uid}`, { status: -1 })),
    'a move to another tenant': ({ uid }) => ok(admin.send('PATCH', `users/${uid}`, { tenant_id: 'acme' })),
    'new rights': ({ uid }) => ok(admin.send('PATCH', `users/${uid}`, { is_admin: true })),
    'a revocation by an administrator': ({ uid }) => ok(admin.send('POST', `users/${uid}/revoke-sessions`)),
    'a revocation of many users': async ({ uid }) => {
      await service.database.affected("UPDATE users SET mfa_type = 'totp' WHERE uid = ?", [uid]);
      const report = { users: 0, revoked: 0, skipped: 0 };
      const options = { progress: () => undefined, signal: new AbortController().signal };
      await service.app.get(BulkRevocation).run({ mfaType: 'totp' }, report, options);
      await service.database.affected("UPDATE users SET mfa_type = 'email' WHERE uid = ?", [uid]);
      expect(report.users).toBe(1);
    },
    'the deletion of the user': ({ uid }) => ok(admin.send('DELETE', `users/${uid}`)),
    'a refresh token that is used twice': async (user) => {
      await ok(refresh(user.refresh));
      service.clock.advanceSeconds(1);
      expect((await refresh(user.refresh)).status).toBe(401);
    },
    'a person who is gone from the directory': async (user) => {
      await service.database.affected("UPDATE users SET provider = 'ldap' WHERE uid = ?", [user.uid]);
      directory.entries = [];
      service.clock.advanceSeconds(301);
      expect((await refresh(user.refresh)).status).toBe(401);
    },
  };

  it.each(Object.entries(ways))('%s: each application of the session is told once', async (_way, end) => {
    const user = await givenUser();
    const other = await service.session(user.name);
    const sid = await signIn(service, user.access, wiki);
    await signIn(service, user.access, mail);
    // A second sign-in of the session to the same application adds nothing.
    await signIn(service, user.access, wiki);
    await end(user, other);
    expect((await service.get('/user/me', as(user.access))).status).toBe(401);
    const told = await logoutRows(service, sid);
    expect(Object.fromEntries(told.map((row) => [row.application_id, Number(row.status)]))).toEqual({
      [wiki]: 0,
      // It has no back-channel logout URI. The receipt says so.
      [mail]: 3,
    });
    await service.database.transaction((tx) => service.app.get(TokenRevoker).revokeAll(tx, user.uid));
    expect(await logoutRows(service, sid)).toEqual(told);
  });

  it('a login, a refresh, an expiry and the end of a session that signed in nowhere tell nobody', async () => {
    const user = await givenUser();
    const other = await service.session(user.name);
    const sid = await signIn(service, user.access, wiki);
    await ok(refresh(user.refresh));
    await service.session(user.name);
    await ok(service.post('/logout', undefined, as(other.access)));
    service.clock.advanceSeconds(8 * 86_400);
    expect((await refresh(user.refresh)).status).toBe(401);
    expect(await logoutRows(service, sid)).toEqual([]);
    expect(await service.count('application_logouts', 'sid = ?', [sidOf(other.access)])).toBe(0);
  });

  it('a session that has ended signs in to no application', async () => {
    const user = await givenUser();
    const session = user.access;
    await ok(service.post('/logout', undefined, as(session)));
    await expect(signIn(service, session, wiki)).rejects.toThrow('the session has ended');
    expect(await service.count('application_sessions', 'sid = ?', [sidOf(session)])).toBe(0);
  });

  it('a user whose 1,500 sessions signed in is told to all applications, in statements of a thousand rows', async () => {
    const user = await givenUser();
    await signIn(service, user.access, wiki);
    const rows = Array.from({ length: 1499 }, (_, n) => [
      `sid-${user.name}-${n}`,
      wiki,
      user.uid,
      `out-${user.name}-${n}`,
    ]);
    await service.database.affected(
      `INSERT INTO application_sessions (sid, application_id, user_id, logout_id, began_at)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
      rows.flatMap((row) => [...row, service.clock.now()]),
    );
    await ok(admin.again('root-admin').then((one) => one.send('POST', `users/${user.uid}/revoke-sessions`)));
    expect(await service.count('application_logouts', 'user_id = ?', [user.uid])).toBe(1500);
    await service.database.affected('DELETE FROM application_logouts WHERE user_id = ?', [user.uid]);
  });

  it('a log-out costs one statement more, and none with OIDC=off; a login costs none', async () => {
    const off = await TestService.start({ OIDC: 'off' });
    const counts = await Promise.all(
      [off, service].map(async (one) => {
        const name = `counted-${one === off ? 'off' : 'on'}`;
        await one.givenUser(name);
        await one.session(name);
        const statements = listStatements(one.app.get(DataSource));
        let access = '';
        const login = await statements(async () => void (access = (await one.session(name)).access));
        const logout = await statements(() => one.post('/logout', undefined, as(access)));
        return {
          login: login.length,
          logout: logout.length,
          inserts: logout.filter((word) => word === 'INSERT').length,
        };
      }),
    );
    const [without, having] = counts;
    expect(having).toEqual({ ...without, logout: without!.logout + 1, inserts: without!.inserts + 1 });
    await off.stop();
  });
});
