import { TestService, tally } from '../support/app';
import { element } from '../support/ber';
import { DirectoryStub, result, type StubAnswer } from '../support/directory-stub';
import { freshName, ldapLogin } from '../support/ldap';
import { eventually } from '../support/servers/eventually';

/** A refusal with the message that Active Directory sends. */
const activeDirectory = (subCode: string): StubAnswer => ({
  code: 49,
  message: `80090308: LdapErr: DSID-0C09042A, comment: AcceptSecurityContext error, data ${subCode}, v4563\u0000`,
});

describe('the answer to a login for each answer of the directory', () => {
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

  /** Logs in once. Returns the code of the answer and the failure counter of the user. */
  async function outcome(): Promise<string> {
    const { uid, loginName } = await service.givenUser(freshName(), { provider: 'ldap' });
    const { status, body } = await ldapLogin(service, loginName, 'some-password');
    const { login_failed_count: count } = await service.userRow(uid);
    return `${status === 200 ? 'success' : body.error_code} counted ${count}`;
  }

  it('a successful bind opens a session', async () => {
    expect(await outcome()).toBe('success counted 0');
  });

  describe('a sub-code of Active Directory', () => {
    it.each([
      ['52e', 'wrong password', 'LOGIN_401001 counted 1'],
      ['525', 'no such user', 'LOGIN_401001 counted 1'],
      ['530', 'outside of the logon hours', 'LOGIN_401012 counted 0'],
      ['531', 'not from this workstation', 'LOGIN_401012 counted 0'],
      ['532', 'password expired', 'LOGIN_401012 counted 0'],
      ['533', 'account disabled', 'LOGIN_401011 counted 0'],
      ['534', 'this type of logon is not granted', 'LOGIN_401012 counted 0'],
      ['701', 'account expired', 'LOGIN_401012 counted 0'],
      ['773', 'password must be changed', 'LOGIN_401012 counted 0'],
      ['775', 'locked at the directory', 'LOGIN_401004 counted 0'],
      ['999', 'unknown sub-code', 'LOGIN_401001 counted 1'],
    ])('%s (%s) to the bind of the user is %s', async (subCode, _what, expected) => {
      stub.userBind = activeDirectory(subCode);
      expect(await outcome()).toBe(expected);
    });

    it.each(['52e', '533', '701', '775'])(
      '%s to the bind of the service account is an outage (T187)',
      async (subCode) => {
        stub.serviceBind = activeDirectory(subCode);
        expect(await outcome()).toBe('LOGIN_503001 counted 0');
        expect(JSON.stringify(service.logLines)).toContain('service account refused');
      },
    );
  });

  it.each([
    ['constraint violation (locked by a password policy)', 19, 'LOGIN_401004 counted 0'],
    ['inappropriate authentication (an entry without a password)', 48, 'LOGIN_401001 counted 1'],
    ['unwilling to perform (inactivated)', 53, 'LOGIN_401012 counted 0'],
    ['no such object (deleted since the search)', 32, 'LOGIN_401001 counted 1'],
    ['busy', 51, 'LOGIN_503001 counted 0'],
    ['unavailable', 52, 'LOGIN_503001 counted 0'],
    ['confidentiality required', 13, 'LOGIN_503001 counted 0'],
    ['other', 80, 'LOGIN_503001 counted 0'],
  ])('%s, result code %d, to the bind of the user is %s', async (_what, code, expected) => {
    stub.userBind = { code };
    expect(await outcome()).toBe(expected);
  });

  it.each([1, 3, 4, 11, 32, 50, 51, 53, 80])('a search with the result code %d is an outage', async (code) => {
    stub.searchResult = { code };
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
    expect(stub.userBinds).toBe(0);
  });

  it.each([97, 127])(
    'the result code %d, which has no name, is an outage and does not end the process',
    async (code) => {
      stub.userBind = { code };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
      expect(JSON.stringify(service.logLines)).toContain(`search or bind refused (${code})`);
      stub.searchResult = { code };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
      stub.serviceBind = { code };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
    },
  );

  describe('the questions about LDAP_GROUP_REQUIRED', () => {
    /** Answers the searches after the one that finds the entry with these result codes, without an entry. */
    function answerGroups(...codes: number[]): void {
      let searches = 0;
      stub.lie = (question, id) => {
        const code = question === 'search' ? codes[searches++ - 1] : undefined;
        return code === undefined ? undefined : { bytes: element(0x30, id, result(0x65, { code })), end: false };
      };
    }

    async function inGroup(): Promise<string> {
      await service.stop();
      service = await TestService.start({ ...stub.settings, LDAP_GROUP_REQUIRED: 'cn=portal,dc=elsewhere' });
      return outcome();
    }

    it('a match is a member', async () => expect(await inGroup()).toBe('success counted 0'));

    it.each([
      ['refuses the rule for nested groups as a critical extension', 12],
      ['refuses it as inappropriate matching', 18],
      ['refuses it as a protocol error', 2],
    ])('a server that %s is asked for memberOf alone', async (_what, code) => {
      answerGroups(code);
      expect(await inGroup()).toBe('success counted 0');
    });

    it.each([
      ['that does not exist', 32],
      ['of another server', 10],
      ['that the service account may not read', 50],
    ])('a group %s has no members', async (_what, code) => {
      answerGroups(0, code);
      expect(await inGroup()).toBe('LOGIN_401012 counted 0');
    });

    it('a server that cannot tell is an outage', async () => {
      answerGroups(51, 51);
      expect(await inGroup()).toBe('LOGIN_503001 counted 0');
    });
  });

  it('a search without an entry is a wrong credential', async () => {
    stub.entries = [];
    expect(await outcome()).toBe('LOGIN_401001 counted 1');
  });

  it('a search with two entries is a wrong credential, and the service binds as neither (T178)', async () => {
    stub.entries = ['uid=one,dc=example', 'uid=two,dc=example'];
    expect(await outcome()).toBe('LOGIN_401001 counted 1');
    expect(stub.userBinds).toBe(0);
  });

  it('an entry without a DN is an outage, although a bind with an empty DN succeeds (T178)', async () => {
    stub.entries = [''];
    expect(await outcome()).toBe('LOGIN_503001 counted 0');
  });

  it('1000 logins whose bind is never answered are LOGIN_503001, count nothing and leave no connection (T181)', async () => {
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
      // On a busy machine some logins reach their time limit before their bind.
      expect(stub.userBinds).toBeGreaterThan(0);
      expect(await impatient.count('users', 'login_failed_count > 0')).toBe(0);
      await eventually(() => stub.openConnections === 0, { what: 'all connections are closed' });
    } finally {
      await impatient.stop();
    }
  }, 180_000);

  describe('a referral is not followed (T183)', () => {
    let elsewhere: DirectoryStub;

    beforeEach(async () => {
      elsewhere = await DirectoryStub.start();
    });

    afterEach(async () => {
      expect(elsewhere.connections).toBe(0);
      await elsewhere.stop();
    });

    it('in the answer to the bind', async () => {
      stub.userBind = { code: 10, referral: `${elsewhere.url}/uid=somebody,dc=example` };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
    });

    it('in the result of the search', async () => {
      stub.entries = [];
      stub.searchResult = { code: 10, referral: `${elsewhere.url}/dc=example` };
      expect(await outcome()).toBe('LOGIN_503001 counted 0');
    });

    it('as references among the entries', async () => {
      stub.references = [`${elsewhere.url}/ou=more,dc=example`];
      expect(await outcome()).toBe('success counted 0');
      stub.entries = [];
      expect(await outcome()).toBe('LOGIN_401001 counted 1');
    });
  });
});
