import { DataSource } from 'typeorm';
import { Directory } from '../../src/directory/directory';
import type { Finding } from '../../src/directory/person';
import { TestService, tally } from '../support/app';
import { countStatements } from '../support/count-statements';
import { DirectoryStub } from '../support/directory-stub';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';

const recheckSeconds = 300;
const graceSeconds = 14_400;

/** docs/spec/extensions.md#c: somebody who is dismissed does not keep a refresh token for days. */
describe('a refresh asks the directory about its user (LDAP_RECHECK_SECONDS)', () => {
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

  async function givenService(more: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.start(
      ldapSettings(directory, {
        LDAP_URL: `ldap://127.0.0.1:${proxy.port}`,
        LDAP_JIT_PROVISIONING: 'true',
        ...more,
      }),
    );
    services.push(service);
    return service;
  }

  async function givenSession(service: TestService, name = freshName()) {
    await givenPerson(directory, name).catch(() => undefined);
    return sessionOf(service, name);
  }

  async function sessionOf(service: TestService, name: string) {
    const { status, body } = await ldapLogin(service, name);
    expect(status).toBe(200);
    const { access_token: access, refresh_token: refresh, user_info: info } = body.data;
    return { name, uid: info.uid as string, access: access as string, refresh: refresh as string };
  }

  const refresh = (service: TestService, bearer: string) => service.post('/refresh', undefined, { bearer });
  /** `success`, or the code of the answer. */
  const outcome = async (service: TestService, bearer: string) =>
    Object.keys(tally([await refresh(service, bearer)]))[0];
  const isDue = (service: TestService) => service.clock.advanceSeconds(recheckSeconds + 1);
  /** Connections to the directory that `run` causes. */
  async function looks(run: () => Promise<unknown>): Promise<number> {
    const before = proxy.connectionCount;
    await run();
    return proxy.connectionCount - before;
  }
  const endings = (service: TestService, uid: string) =>
    service.database.rows<{ detail: string }>(
      `SELECT detail FROM audit_logs WHERE event = 'USER_DIRECTORY_SESSIONS_ENDED' AND user_id = ?`,
      [uid],
    );

  /** Holds all questions to the directory until the test answers them. */
  function holdLooks(service: TestService) {
    let release!: (finding: Finding) => void;
    const held = new Promise<Finding>((resolve) => (release = resolve));
    const find = jest.spyOn(service.app.get(Directory), 'find').mockReturnValue(held);
    return { release, asked: () => find.mock.calls.length };
  }

  it('looks when the last look is older, and only then; a login is a look', async () => {
    const service = await givenService();
    const { refresh: token } = await givenSession(service);
    const success = async () => expect(await outcome(service, token)).toBe('success');
    expect(await looks(success)).toBe(0);
    service.clock.advanceSeconds(recheckSeconds - 1);
    expect(await looks(success)).toBe(0);
    service.clock.advanceSeconds(2);
    expect(await looks(success)).toBe(1);
    expect(await looks(success)).toBe(0);
    isDue(service);
    expect(await looks(success)).toBe(1);
  });

  it('LDAP_RECHECK_SECONDS=0 never looks', async () => {
    const service = await givenService({ LDAP_RECHECK_SECONDS: '0' });
    const { name, refresh: token } = await givenSession(service);
    await directory.removeUser(name);
    service.clock.advanceSeconds(100_000);
    expect(await looks(async () => expect(await outcome(service, token)).toBe('success'))).toBe(0);
  });

  describe.each(['false', 'true'])('with REFRESH_TOKEN_ROTATION=%s', (rotation) => {
    const settings = { REFRESH_TOKEN_ROTATION: rotation };

    it.each([
      ['gone', 'the directory entry is gone', (name: string) => directory.removeUser(name)],
      [
        'made again under the old name',
        'the directory entry is gone',
        async (name: string) => {
          await directory.removeUser(name);
          await givenPerson(directory, name);
        },
      ],
      [
        'disabled',
        'disabled in the directory',
        (name: string) => directory.changeUser(name, 'pwdAccountLockedTime', '000001010000Z'),
      ],
      ['out of the group', 'no longer in LDAP_GROUP_REQUIRED', () => directory.setMembers(group, [directory.adminDn])],
      [
        'refused by LDAP_SEARCH_FILTER',
        'the directory entry is gone',
        (name: string) => directory.changeUser(name, 'description', 'left'),
      ],
    ])(
      'an entry that is %s ends all sessions (AUTH_401006), and the audit says why (T303)',
      async (_what, reason, change) => {
        const service = await givenService({
          ...settings,
          LDAP_GROUP_REQUIRED: group,
          LDAP_SEARCH_FILTER: '(&(uid={{username}})(!(description=left)))',
        });
        const name = freshName();
        await directory.setMembers(group, [await givenPerson(directory, name)]);
        const [one, other] = [await sessionOf(service, name), await sessionOf(service, name)];
        await change(name);
        expect(await outcome(service, one.refresh)).toBe('success');
        const { refresh: token } = await sessionAfterRefresh(service, other.refresh);
        isDue(service);
        expect(await outcome(service, token)).toBe('AUTH_401006');
        expect(await outcome(service, token)).toBe('AUTH_401006');
        expect(await outcome(service, one.refresh)).toBe('AUTH_401006');
        expect((await service.get('/user/me', { bearer: one.access })).status).toBe(401);
        expect((await endings(service, one.uid)).map(({ detail }) => JSON.parse(detail) as unknown)).toEqual([
          { reason },
        ]);
      },
    );

    async function sessionAfterRefresh(service: TestService, token: string) {
      const { body } = await refresh(service, token);
      return { refresh: body.data.refresh_token as string };
    }

    it('while the directory does not answer, refreshes succeed and each asks again, until the end of the grace period (T304)', async () => {
      const service = await givenService(settings);
      const { uid, refresh: first } = await givenSession(service);
      let token = first;
      proxy.reset();
      isDue(service);
      for (let n = 0; n < 3; n++) {
        const made = await looks(async () => {
          const { status, body } = await refresh(service, token);
          expect(status).toBe(200);
          token = body.data.refresh_token as string;
        });
        expect(made).toBe(1);
        service.clock.advanceSeconds(1);
      }
      service.clock.advanceSeconds(graceSeconds - recheckSeconds - 10);
      token = (await refresh(service, token)).body.data.refresh_token as string;
      service.clock.advanceSeconds(10);
      const late = await refresh(service, token);
      expect(late).toMatchObject({ status: 503, body: { error_code: 'LOGIN_503001' } });
      expect(late.headers['retry-after']).toBeDefined();
      expect(await endings(service, uid)).toHaveLength(0);

      await proxy.forward();
      const again = await refresh(service, token);
      expect(again.status).toBe(200);
      token = again.body.data.refresh_token as string;
      proxy.reset();
      service.clock.advanceSeconds(graceSeconds - 10);
      expect((await refresh(service, token)).body.error_code ?? 'success').toBe('success');
    });
  });

  it('a renamed entry keeps its sessions', async () => {
    const service = await givenService();
    const { name, refresh: token } = await givenSession(service);
    await directory.renameUser(name, `${name}-new`);
    isDue(service);
    expect(await outcome(service, token)).toBe('success');
  });

  it('an administrator who left LDAP_GROUP_ADMIN loses the rights and the sessions (T310)', async () => {
    const admins = await directory.addGroup(freshName('admins'), [directory.adminDn]);
    const service = await givenService({ LDAP_GROUP_ADMIN: admins });
    const name = freshName();
    await directory.setMembers(admins, [await givenPerson(directory, name)]);
    const { uid, refresh: token } = await sessionOf(service, name);
    expect(await service.userRow(uid)).toMatchObject({ is_admin: 1 });
    await directory.setMembers(admins, [directory.adminDn]);
    isDue(service);
    expect(await outcome(service, token)).toBe('AUTH_401006');
    expect(await service.userRow(uid)).toMatchObject({ is_admin: 0 });
    expect((await sessionOf(service, name)).uid).toBe(uid);
  });

  describe('one look per user at a time', () => {
    it.each(['false', 'true'])(
      '30 parallel refreshes make one look (REFRESH_TOKEN_ROTATION=%s) (T305)',
      async (rotation) => {
        const service = await givenService({ REFRESH_TOKEN_ROTATION: rotation });
        const name = freshName();
        await givenPerson(directory, name);
        const sessions = await Promise.all(Array.from({ length: 30 }, () => sessionOf(service, name)));
        for (const seconds of [recheckSeconds, graceSeconds]) {
          service.clock.advanceSeconds(seconds + 1);
          const tokens = sessions.map((session) => session.refresh);
          const made = await looks(async () => {
            const answers = await Promise.all(tokens.map((token) => refresh(service, token)));
            expect(tally(answers)).toEqual({ success: 30 });
            answers.forEach(({ body }, n) => (sessions[n]!.refresh = body.data.refresh_token as string));
          });
          expect(made).toBe(1);
        }
      },
    );

    it('of 20 parallel refreshes in an outage after the grace period none gets a token (T304)', async () => {
      const service = await givenService();
      const { refresh: token } = await givenSession(service);
      service.clock.advanceSeconds(graceSeconds + 1);
      proxy.reset();
      const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(service, token)));
      expect(tally(answers)).toEqual({ LOGIN_503001: 20 });
    });

    it('a claim of a replica that was killed ends by itself, and until then refreshes do not look (T305)', async () => {
      const service = await givenService();
      const { uid, refresh: token } = await givenSession(service);
      isDue(service);
      await service.database.affected('UPDATE users SET directory_look_until = ? WHERE uid = ?', [
        service.clock.secondsFromNow(15),
        uid,
      ]);
      expect(await looks(() => refresh(service, token))).toBe(0);
      service.clock.advanceSeconds(16);
      expect(await looks(() => refresh(service, token))).toBe(1);
    });

    it('a bad look does not end the session of a login that came later', async () => {
      const service = await givenService();
      const { uid, refresh: token } = await givenSession(service);
      isDue(service);
      const answer = holdLooks(service);
      const slow = refresh(service, token);
      await eventually(() => answer.asked() === 1, { what: 'the look began' });
      await service.database.affected('UPDATE users SET last_login_success_time = ? WHERE uid = ?', [
        service.clock.now(),
        uid,
      ]);
      answer.release({ kind: 'nobody' });
      expect((await slow).status).toBe(200);
      expect((await service.userRow(uid)).credential_version).toBe(0);
    });
  });

  describe('a slow directory', () => {
    it('does not delay refreshes of local users, and holds no connection of the database', async () => {
      const service = await givenService({ DATABASE_POOL_SIZE: '1' });
      const sessions = await Promise.all(Array.from({ length: 5 }, () => givenSession(service)));
      await service.givenUser('local');
      const local = await service.session('local');
      isDue(service);
      let hanging = sessions.length;
      const answer = holdLooks(service);
      const slow = sessions.map(({ refresh: token }) => refresh(service, token).finally(() => hanging--));
      await eventually(() => answer.asked() === sessions.length, { what: 'all looks hang' });
      expect(await outcome(service, local.refresh)).toBe('success');
      expect(hanging).toBe(sessions.length);
      answer.release({ kind: 'nobody' });
      expect(tally(await Promise.all(slow))).toEqual({ AUTH_401006: sessions.length });
    });

    it('a refresh of a local user takes two statements, with and without the rule', async () => {
      for (const LDAP_RECHECK_SECONDS of ['0', '1']) {
        const service = await givenService({ LDAP_RECHECK_SECONDS });
        await service.givenUser('local');
        const { refresh: token } = await service.session('local');
        isDue(service);
        const statements = countStatements(service.app.get(DataSource));
        expect(await statements(() => refresh(service, token))).toBe(2);
      }
    });
  });

  describe('the state of an account in Active Directory', () => {
    it.each([
      ['userAccountControl', '514', 'disabled in the directory'],
      ['accountExpires', '134169120000000000', 'expired in the directory'],
    ])('%s %s ends the session (T303)', async (attribute, value, reason) => {
      const stub = await DirectoryStub.start();
      const service = await TestService.start(stub.settings);
      try {
        const { uid, loginName } = await service.givenUser(freshName(), { provider: 'ldap' });
        stub.attributes = { userAccountControl: '512', accountExpires: '9223372036854775807' };
        const { body } = await ldapLogin(service, loginName, 'some-password');
        isDue(service);
        expect(await outcome(service, body.data.refresh_token as string)).toBe('success');
        stub.attributes[attribute] = value;
        isDue(service);
        expect(await outcome(service, body.data.refresh_token as string)).toBe('AUTH_401006');
        expect((await endings(service, uid)).map(({ detail }) => detail)).toEqual([JSON.stringify({ reason })]);
      } finally {
        await service.stop();
        await stub.stop();
      }
    });
  });
});
