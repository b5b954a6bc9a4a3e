import { hash } from '@node-rs/bcrypt';
import { DataSource } from 'typeorm';
import { Directory } from '../../src/directory/directory';
import type { Finding, Verdict } from '../../src/directory/person';
import { BcryptPasswordHasher } from '../../src/hashing/bcrypt-password-hasher';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { stepMs } from '../../src/platform/http/answer-steps';
import { type Answer, password, tally, TestService } from '../support/app';
import { countHashing } from '../support/count-hashing';
import { listStatements } from '../support/count-statements';
import { isEverythingOn } from '../support/everything';
import { HeldComparisons } from '../support/held-comparisons';
import { absentDirectory, directoryPassword, foundPerson, ldapLogin } from '../support/ldap';
import { eventually } from '../support/servers/eventually';

const settings = { HIDE_ACCOUNT_EXISTENCE: 'true', BCRYPT_COST: '6' };
const configuredWork = { jobs: 1, rounds: 2 ** 6 };

/**
 * With HIDE_ACCOUNT_EXISTENCE no refusal of /login tells whether the name exists, is locked or belongs to the directory
 * (docs/spec/attacks.md#w10, docs/spec/attacks.md#w12). The tests count the work instead of measuring its time: an
 * attacker can average out the noise of a machine, a test cannot.
 */
describe('HIDE_ACCOUNT_EXISTENCE: every refused login gets the same answer after one hash of the configured cost (T021)', () => {
  /** One account of each kind that an attacker can name. */
  async function givenAccounts(service: TestService): Promise<void> {
    const locked = (uid: string) =>
      service.database.affected('UPDATE users SET login_failed_count = 3, last_login_failed_time = ? WHERE uid = ?', [
        service.clock.now(),
        uid,
      ]);
    await service.givenUser('local');
    await service.givenUser('without-password', { password: null });
    const old = await service.givenUser('lower-cost');
    await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [
      await hash(password, { cost: 4 }),
      old.uid,
    ]);
    await locked((await service.givenUser('locked')).uid);
    await service.givenUser('disabled', { status: -1 });
    await service.givenUser('directory', { provider: 'ldap' });
    await locked((await service.givenUser('locked-directory', { provider: 'ldap' })).uid);
  }

  async function expectOneAnswerAfterOneHash(
    service: TestService,
    logins: readonly (readonly [username: string, typed: string, provider: 'password' | 'ldap'])[],
  ): Promise<void> {
    const hashing = countHashing(service);
    for (const [username, typed, provider] of logins) {
      let answer: Answer | undefined;
      const work = await hashing(async () => {
        answer = await service.login(username, typed, { provider });
      });
      expect({ username, typed, provider, ...work, status: answer?.status, body: answer?.body }).toEqual({
        ...{ username, typed, provider, ...configuredWork, status: 401 },
        body: { error_code: 'LOGIN_401001', msg: expect.any(String) },
      });
    }
  }

  const byPassword = [
    ['unknown', password, 'password'],
    ['local', 'wrong', 'password'],
    ['local', 'a'.repeat(73), 'password'],
    ['without-password', 'any', 'password'],
    ['lower-cost', 'wrong', 'password'],
    ['locked', 'wrong', 'password'],
    ['locked', password, 'password'],
    ['disabled', 'wrong', 'password'],
    ['directory', 'any', 'password'],
    ['locked-directory', 'any', 'password'],
  ] as const;
  const byDirectory = [
    ['unknown', directoryPassword, 'ldap'],
    ['unknown', ' ', 'ldap'],
    ['local', password, 'ldap'],
    ['locked', password, 'ldap'],
    ['disabled', 'any', 'ldap'],
    ['directory', directoryPassword, 'ldap'],
    ['locked-directory', directoryPassword, 'ldap'],
  ] as const;

  it('when no directory is configured', async () => {
    const service = await TestService.start(settings);
    try {
      await givenAccounts(service);
      await expectOneAnswerAfterOneHash(service, [...byPassword, ...byDirectory]);
    } finally {
      await service.stop();
    }
  });

  it.each([
    ['false', 'wrong'],
    ['true', 'wrong'],
    ['true', 'unknown'],
  ] as const)('when a directory is configured, with LDAP_JIT_PROVISIONING %s and the verdict %s', async (jit, kind) => {
    const service = await TestService.start({ ...settings, ...absentDirectory, LDAP_JIT_PROVISIONING: jit });
    try {
      const directory = service.app.get(Directory);
      jest.spyOn(directory, 'find').mockImplementation((query) => {
        const known = kind === 'wrong' && 'name' in query;
        return Promise.resolve(known ? foundPerson(query.name) : { kind: 'nobody' });
      });
      jest.spyOn(directory, 'judge').mockResolvedValue({ kind: 'wrong' });
      await givenAccounts(service);
      await expectOneAnswerAfterOneHash(service, byDirectory);
    } finally {
      await service.stop();
    }
  });

  it('when the account is locked while guesses wait for their hash', async () => {
    const service = await TestService.start(settings);
    try {
      await givenAccounts(service);
      const hashing = countHashing(service);
      const comparisons = new HeldComparisons(service);
      const typed = ['a', 'b', 'c', 'd', 'e', password];
      const guesses = typed.map((one) => service.login('local', one));
      await comparisons.arrived(typed.length);
      const work = await hashing(async () => {
        for (const [n, one] of typed.entries()) {
          comparisons.release(one);
          expect((await guesses[n])?.body.error_code).toBe('LOGIN_401001');
        }
      });
      expect(work).toEqual({ jobs: 6, rounds: 6 * 2 ** 6 });
      const logged = await service.database.rows<{ outcome: string }>('SELECT outcome FROM login_logs ORDER BY id');
      expect(logged.map(({ outcome }) => outcome)).toEqual([
        ...Array<string>(3).fill('LOGIN_401001'),
        ...Array<string>(3).fill('LOGIN_401004'),
      ]);
    } finally {
      await service.stop();
    }
  });

  describe('with a directory', () => {
    let service: TestService;
    let find: jest.SpyInstance<Promise<Finding>>;
    let judge: jest.SpyInstance<Promise<Verdict>>;
    beforeEach(async () => {
      service = await TestService.start({
        ...settings,
        ...absentDirectory,
        HASH_QUEUE_LIMIT: '1',
        HASH_QUEUE_MAX_WAIT_MS: '60000',
      });
      await givenAccounts(service);
      find = jest.spyOn(service.app.get(Directory), 'find').mockResolvedValue(foundPerson('directory'));
      judge = jest.spyOn(service.app.get(Directory), 'judge');
    });
    afterEach(() => service.stop());

    it('the hash runs in parallel with the directory check, and the answer waits for the slower of the two', async () => {
      const comparisons = new HeldComparisons(service);
      let decide!: (verdict: Verdict) => void;
      judge.mockReturnValue(new Promise((resolve) => (decide = resolve)));
      let answered = false;
      const login = ldapLogin(service, 'directory').finally(() => (answered = true));
      await comparisons.arrived(1);
      await eventually(() => judge.mock.calls.length === 1, { what: 'the directory check has begun' });
      decide({ kind: 'wrong' });
      await eventually(async () => (await service.count('users', 'login_failed_count = 1')) === 1, {
        what: 'the wrong credential is counted',
      });
      expect(answered).toBe(false);
      comparisons.release(directoryPassword);
      expect((await login).body.error_code).toBe('LOGIN_401001');
    });

    it('a right credential opens a session', async () => {
      judge.mockResolvedValue({ kind: 'right' });
      expect(tally([await ldapLogin(service, 'directory')])).toEqual({ success: 1 });
    });

    it('the first login of a just-in-time user takes one hash, as every refusal does', async () => {
      const other = await TestService.start({ ...settings, ...absentDirectory, LDAP_JIT_PROVISIONING: 'true' });
      try {
        const directory = other.app.get(Directory);
        jest.spyOn(directory, 'find').mockResolvedValue(foundPerson('newcomer'));
        const judged = jest.spyOn(directory, 'judge').mockResolvedValue({ kind: 'right' });
        const work = await countHashing(other)(async () => {
          expect(tally([await ldapLogin(other, 'newcomer')])).toEqual({ success: 1 });
        });
        expect(work).toEqual(configuredWork);
        expect(judged).toHaveBeenCalledTimes(1);
      } finally {
        await other.stop();
      }
    });

    it('a login of a known user under another name takes one hash, whether the password is right or wrong', async () => {
      const other = await TestService.start({ ...settings, ...absentDirectory, LDAP_JIT_PROVISIONING: 'true' });
      try {
        const id = '00000000-0000-4000-8000-000000000001';
        await other.givenUser('known', { provider: 'ldap', directoryId: id });
        const directory = other.app.get(Directory);
        jest.spyOn(directory, 'find').mockResolvedValue(foundPerson('known', { id }));
        const judged = jest.spyOn(directory, 'judge');
        const hashing = countHashing(other);
        for (const [kind, outcome] of [
          ['right', 'success'],
          ['wrong', 'LOGIN_401001'],
        ] as const) {
          judged.mockResolvedValue({ kind });
          const work = await hashing(async () => {
            expect(tally([await ldapLogin(other, 'known@example.test')])).toEqual({ [outcome]: 1 });
          });
          expect(work).toEqual(configuredWork);
        }
      } finally {
        await other.stop();
      }
    });

    it('logins beyond HASH_QUEUE_LIMIT are refused alike for every name, before the directory check', async () => {
      const hasher = service.app.get<BcryptPasswordHasher>(PasswordHasher);
      let end!: (same: boolean) => void;
      const ended = new Promise<boolean>((resolve) => (end = resolve));
      jest.spyOn(hasher['engine'], 'verify').mockReturnValue(ended);
      const before = Array.from({ length: hasher.stats().concurrency + 1 }, (_, n) =>
        hasher.matches('x', null, { ip: `client ${n}` }),
      );
      const answers = [await ldapLogin(service, 'unknown'), await ldapLogin(service, 'directory')];
      expect(tally(answers)).toEqual({ COMMON_503001: 2 });
      expect(find).not.toHaveBeenCalled();
      expect(judge).not.toHaveBeenCalled();
      end(false);
      await Promise.all(before);
    });
  });

  it.each(['true', 'false'])(
    'every endpoint that is asked with a name, an address or a uid answers in steps: %s',
    async (hide) => {
      const service = await TestService.start({ ...settings, HIDE_ACCOUNT_EXISTENCE: hide });
      try {
        await givenAccounts(service);
        const uid = '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab';
        const requests: [string, () => Promise<Answer>][] = [
          ['a login', () => service.login('local')],
          ['a refused login', () => service.login('unknown')],
          ['a reset', () => service.post('/forget-password', { email: 'local@example.com' })],
          ['a reset of nobody', () => service.post('/forget-password', { email: 'unknown@example.com' })],
          ['a code', () => service.post('/otp-verify', { uid, type: 'email', code: '123456' })],
          ['another mail', () => service.post('/otp-resend', { uid, type: 'email' })],
          ['a picture', () => service.get(`/otp-qrcode/${uid}`)],
        ];
        const timers = jest.spyOn(global, 'setInterval');
        for (const [what, send] of requests) {
          timers.mockClear();
          await send();
          const steps = timers.mock.calls.filter(([, ms]) => ms === stepMs).length;
          expect({ what, steps }).toEqual({ what, steps: hide === 'true' ? 1 : 0 });
        }
        timers.mockRestore();
      } finally {
        await service.stop();
      }
    },
  );

  it('every refusal causes the same statements, whether a failure is counted or not (T021)', async () => {
    const service = await TestService.start(settings);
    try {
      await givenAccounts(service);
      const statements = listStatements(service.app.get(DataSource));
      const refusals = [];
      for (const [username, provider] of [
        ['unknown', 'password'],
        ['local', 'password'],
        ['without-password', 'password'],
        ['directory', 'password'],
        ['locked', 'password'],
        ['locked-directory', 'password'],
        ['unknown', 'ldap'],
        ['local', 'ldap'],
        ['locked', 'ldap'],
        ['locked-directory', 'ldap'],
      ] as const) {
        refusals.push(await statements(() => service.login(username, 'wrong', { provider })));
      }
      // The row of the log, its event for the webhook and the one for further receivers are one transaction.
      const written = isEverythingOn ? ['BEGIN', 'INSERT', 'INSERT', 'INSERT', 'COMMIT'] : ['INSERT'];
      expect(refusals).toEqual(Array(refusals.length).fill(['SELECT', 'UPDATE', ...written]));
      // The stand-in for the counter of failures counts nobody's.
      expect(await service.count('users', 'login_failed_count = 3')).toBe(2);
      expect(await service.count('users', 'login_failed_count > 0')).toBe(5);
    } finally {
      await service.stop();
    }
  });
});
