import { TestService } from '../support/app';
import { element } from '../support/ber';
import { DirectoryStub, result } from '../support/directory-stub';
import { ldapLogin } from '../support/ldap';

/** Active Directory can need seconds for its in-chain rule. */
describe('a directory that does not answer the question about a nested group', () => {
  let directory: DirectoryStub;
  let service: TestService;
  let searches: number;

  beforeAll(async () => {
    directory = await DirectoryStub.start();
    service = await TestService.start({
      ...directory.settings,
      // Long enough for the first search on a busy machine.
      LDAP_TIMEOUT_MS: '3000',
      LDAP_JIT_PROVISIONING: 'true',
      LDAP_GROUP_REQUIRED: 'cn=portal,dc=example',
    });
  });

  afterAll(async () => {
    await service?.stop();
    await directory?.stop();
  });

  it('is an outage, not a person outside of the group, even if it then answers for direct members (T311)', async () => {
    searches = 0;
    const everybody = directory.entries;
    directory.lie = (question) => {
      if (question !== 'search') return undefined;
      searches++;
      // The first search finds the person, the second one asks for nested groups, the next two for direct members.
      directory.entries = searches === 3 || searches === 4 ? [] : everybody;
      return searches === 2 ? { bytes: Buffer.alloc(0), end: false } : undefined;
    };
    expect((await ldapLogin(service, 'somebody')).body.error_code).toBe('LOGIN_503001');
    expect(searches).toBeGreaterThanOrEqual(2);
  });

  /** The second search, for nested groups, gets this result code, and the next two, for direct members, find nothing. */
  function answerToNested(code: number): void {
    searches = 0;
    const everybody = ['uid=somebody,dc=example'];
    directory.lie = (question, id) => {
      if (question !== 'search') return undefined;
      searches++;
      directory.entries = searches === 3 || searches === 4 ? [] : everybody;
      return searches === 2 ? { bytes: element(0x30, id, result(0x65, { code })), end: false } : undefined;
    };
  }

  it.each([
    ['timeLimitExceeded', 3],
    ['adminLimitExceeded', 11],
    ['busy', 51],
    ['unavailable', 52],
  ])('that answers it with %s is an outage as well', async (_name, code) => {
    answerToNested(code);
    expect((await ldapLogin(service, 'somebody')).body.error_code).toBe('LOGIN_503001');
  });

  it.each([
    ['inappropriateMatching', 18],
    ['unwillingToPerform', 53],
  ])('but refuses the rule with %s is asked for direct members', async (_name, code) => {
    answerToNested(code);
    expect((await ldapLogin(service, 'somebody')).body.error_code).toBe('LOGIN_401012');
  });
});
