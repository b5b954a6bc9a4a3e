import { TestService, tally } from '../support/app';
import { DirectoryStub, type StubAnswer } from '../support/directory-stub';
import { freshName, ldapLogin } from '../support/ldap';
import { eventually } from '../support/servers/eventually';

/** As Active Directory words it. */
const activeDirectory = (subCode: string): StubAnswer => ({
  code: 49,
  message: `80090308: LdapErr: DSID-0C09042A, comment: AcceptSecurityContext error, data ${subCode}, v4563\u0000`,
});

describe('what a directory may answer', () => {
  let stub: DirectoryStub;
  let service: TestService;

  beforeEach(async () => {
    stub = await DirectoryStub.start();
    service = await TestService.start(stub.settings);
  });

  afterEach(async () => {
    await service.stop();
    await stub.stop();
  });

  /** The code of one login and what it left in the counter. */
  async function outcome(): Promise<string> {
    const { uid, loginName } = await service.givenUser(freshName(), { provider: 'ldap' });
    const { status, body } = await ldapLogin(service, loginName, 'some-password');
    const { login_failed_count: count } = await service.userRow(uid);
    return `${status === 200 ? 'success' : body.error_code} counted ${count}`;
  }

  it('a stub that says yes lets in', async () => {
    expect(await outcome()).toBe('success counted 0');
  });

  describe('Active Directory says why', () => {
    it.each([
      ['52e', 'wrong password', 'LOGIN_401001 counted 1'],
      ['525', 'no such user', 'LOGIN_401001 counted 1'],
      ['530', 'not at this time', 'LOGIN_401012 counted 0'],
      ['531', 'not from here', 'LOGIN_401012 counted 0'],
      ['532', 'password expired', 'LOGIN_401012 counted 0'],
      ['533', 'disabled', 'LOGIN_401011 counted 0'],
      ['701', 'account expired', 'LOGIN_401012 counted 0'],
      ['773', 'password must change', 'LOGIN_401012 counted 0'],
      ['775', 'locked there', 'LOGIN_401004 counted 0'],
      ['999', 'something new', 'LOGIN_401001 counted 1'],
    ])('data %s (%s)', async (subCode, _what, expected) => {
      stub.userBind = activeDirectory(subCode);
      expect(await outcome()).toBe(expected);
    });

    it.each(['52e', '533', '701', '775'])('data %s of the service account is an outage (T187)', async (subCode) => {
      stub.serviceBind = activeDirectory(subCode);
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
      expect(JSON.stringify(service.logLines)).toContain('service account refused');
    });
  });

  it.each([
    ['constraint violation (locked by a password policy)', 19, 'LOGIN_401004 counted 0'],
    ['inappropriate authentication (an entry without a password)', 48, 'LOGIN_401001 counted 1'],
    ['unwilling to perform (inactivated)', 53, 'LOGIN_401012 counted 0'],
    ['no such object (gone since the search)', 32, 'LOGIN_401001 counted 1'],
    ['busy', 51, 'LOGIN_503001 counted 0'],
    ['unavailable', 52, 'LOGIN_503001 counted 0'],
    ['confidentiality required', 13, 'LOGIN_503001 counted 0'],
    ['other', 80, 'LOGIN_503001 counted 0'],
  ])('a bind as the user is answered: %s', async (_what, code, expected) => {
    stub.userBind = { code };
    expect(await outcome()).toBe(expected);
  });

  it.each([1, 3, 4, 11, 32, 50, 51, 53, 80])('a search that ends with result %d is an outage', async (code) => {
    stub.searchResult = { code };
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
    expect(stub.userBinds).toBe(0);
  });

  it.each([97, 127])('the result code %d, which nobody has a name for, is an outage and ends nothing', async (code) => {
    stub.userBind = { code };
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
    expect(JSON.stringify(service.logLines)).toContain(`search or bind refused (${code})`);
    stub.searchResult = { code };
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
    stub.serviceBind = { code };
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
  });

  it('no entry is a wrong credential', async () => {
    stub.entries = [];
    expect(await outcome()).toBe('LOGIN_401001 counted 1');
  });

  it('two entries: refused, and neither is bound as (T178)', async () => {
    stub.entries = ['uid=one,dc=example', 'uid=two,dc=example'];
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
    expect(stub.userBinds).toBe(0);
  });

  it('an entry without a DN proves nothing, although a bind without a name succeeds (T178)', async () => {
    stub.entries = [''];
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
  });

  it('1000 logins whose bind is never answered: all LOGIN_503001, nothing counted, no connection left (T181)', async () => {
    stub.mute = true;
    const impatient = await TestService.start({ ...stub.settings, LDAP_TIMEOUT_MS: '80' });
    try {
      const users = await Promise.all(
        Array.from({ length: 20 }, () => impatient.givenUser(freshName(), { provider: 'ldap' })),
      );
      for (let round = 0; round < 50; round++) {
        const answers = await Promise.all(users.map(({ loginName }) => ldapLogin(impatient, loginName)));
        expect(tally(answers)).toEqual({ LOGIN_503001: users.length });
      }
      // On a busy machine some run out of their time before they come so far.
      expect(stub.userBinds).toBeGreaterThan(0);
      expect(await impatient.count('users', 'login_failed_count > 0')).toBe(0);
      await eventually(() => stub.openConnections === 0, { what: 'all connections are closed' });
    } finally {
      await impatient.stop();
    }
  }, 180_000);

  describe('referrals are not followed (T183)', () => {
    let elsewhere: DirectoryStub;

    beforeEach(async () => {
      elsewhere = await DirectoryStub.start();
    });

    afterEach(async () => {
      expect(elsewhere.connections).toBe(0);
      await elsewhere.stop();
    });

    it('of the bind', async () => {
      stub.userBind = { code: 10, referral: `${elsewhere.url}/uid=somebody,dc=example` };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
    });

    it('of the search', async () => {
      stub.entries = [];
      stub.searchResult = { code: 10, referral: `${elsewhere.url}/dc=example` };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
    });

    it('among the entries', async () => {
      stub.references = [`${elsewhere.url}/ou=more,dc=example`];
      expect(await outcome()).toBe('success counted 0');
      stub.entries = [];
      expect(await outcome()).toBe('LOGIN_401001 counted 1');
    });
  });
});
