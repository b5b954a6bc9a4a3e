import { TestService, tally } from '../support/app';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { type SilentServer, silentServer } from '../support/silent-server';

/** Logins that wait for a silent directory delay no other work. `ldap-outage` tests when such a login gives up. */
describe('a directory that is silent (W20)', () => {
  let silent: SilentServer;
  let service: TestService;

  afterEach(async () => {
    silent.stop();
    await service.stop();
  });

  it('100 logins that wait for it do not delay local logins and the database (T180)', async () => {
    silent = await silentServer();
    service = await TestService.start({
      LDAP_URL: silent.url,
      LDAP_BIND_DN: 'cn=service',
      LDAP_BIND_PASSWORD: 'service-password',
      LDAP_SEARCH_BASE: 'dc=example',
      DATABASE_POOL_SIZE: '2',
    });
    const givenUsers = (count: number, provider: 'ldap' | 'password') =>
      Promise.all(Array.from({ length: count }, () => service.givenUser(freshName(provider), { provider })));
    const [remote, local] = [await givenUsers(10, 'ldap'), await givenUsers(5, 'password')];
    let hanging = 100;
    const stuck = Array.from({ length: 100 }, (_, n) =>
      ldapLogin(service, remote[n % remote.length]!.loginName).finally(() => hanging--),
    );
    await eventually(() => silent.accepted() >= 20, { what: 'logins wait for the directory' });
    let mostOpen = 0;
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(local.map(({ loginName }) => service.login(loginName)));
      expect(tally(answers)).toEqual({ success: local.length });
      mostOpen = Math.max(mostOpen, silent.open());
    }
    // A local login that waited for the directory would end after some of the directory logins.
    expect(hanging).toBe(100);
    // At most three logins of each user, with one connection each.
    expect(mostOpen).toBeLessThanOrEqual(3 * remote.length);
    silent.stop();
    expect(tally(await Promise.all(stuck))).toEqual({ LOGIN_503001: 100 });
    expect(await service.count('users', 'login_failed_count > 0')).toBe(0);
  });

  it('when the first of two servers is silent, one login waits for its time-out and all succeed at the second', async () => {
    silent = await silentServer();
    const directory = await OpenLdap.start();
    try {
      service = await TestService.start(
        ldapSettings(directory, { LDAP_URL: `${silent.url},${directory.url}`, LDAP_TIMEOUT_MS: '4000' }),
      );
      const name = freshName();
      await givenPerson(directory, name);
      await service.givenUser(name, { provider: 'ldap' });
      for (let n = 0; n < 5; n++) expect((await ldapLogin(service, name)).status).toBe(200);
      expect((await ldapLogin(service, name, 'wrong')).body.error_code).toBe('LOGIN_401001');
      // Only the first login tried the silent server.
      expect(silent.accepted()).toBe(1);
      expect(service.logLines.filter(({ context }) => context === 'directory')).toHaveLength(1);
    } finally {
      await directory.stop();
    }
  });
});
