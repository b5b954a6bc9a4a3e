import { PasswordChangeRequests } from '../../src/password-reset/password-change-requests';
import { changeType } from '../../src/shared/change-type';
import type { Language } from '../../src/shared/languages';
import { LoginLock } from '../../src/users/login-lock';
import { UserAccounts } from '../../src/users/user-accounts';
import { type User, userStatus } from '../../src/users/user.entity';
import type { Transaction } from '../../src/platform/database/database';
import { UsersRepository } from '../../src/users/users.repository';
import { Directory } from '../../src/directory/directory';
import { UnknownGuesses } from '../../src/auth/login/credentials/ldap/unknown-guesses';
import { accountDisabled } from '../../src/shared/errors/error-catalogue';
import { type Answer, password, tally, TestService } from '../support/app';
import { absentDirectory, foundPerson, freshName, ldapLogin } from '../support/ldap';
import { HeldComparisons } from '../support/held-comparisons';

/** On a busy machine a burst waits longer for its hashes than the default allows. These tests do not check the wait. */
const patientQueue = { HASH_QUEUE_MAX_WAIT_MS: '60000' };

/**
 * One guarded UPDATE after the credential check decides the lock (docs/spec/decisions.md#lock). A check before the
 * comparison alone would let a whole burst pass (docs/spec/attacks.md#w08): each of its logins finds the account open.
 */
describe('a burst of logins on one account in one process', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start(patientQueue);
  });
  afterAll(() => service.stop());

  const burst = (name: string, passwords: string[]) =>
    Promise.all(passwords.map((typed) => service.login(name, typed)));

  it('T025 of 100 parallel wrong passwords exactly 3 get LOGIN_401001, 97 get LOGIN_401004, and the counter is 3', async () => {
    const user = await service.givenUser('t025');
    expect(tally(await burst('t025', Array<string>(100).fill('wrong')))).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect((await service.userRow(user.uid)).login_failed_count).toBe(3);
  });

  it('T027 50 parallel logins with the right password all succeed, with 100 different token ids', async () => {
    const user = await service.givenUser('t027');
    expect(tally(await burst('t027', Array<string>(50).fill(password)))).toEqual({ success: 50 });
    expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(100);
  });

  it('T274 guesses against 40 accounts lock exactly these, and honest logins beside them all succeed', async () => {
    const attacked = Array.from({ length: 40 }, (_, n) => `attacked${n}`);
    const honest = Array.from({ length: 5 }, (_, n) => `honest${n}`);
    for (const name of [...attacked, ...honest]) await service.givenUser(name);
    const guesses: Answer[] = [];
    const logins: Answer[] = [];
    // Six guesses for each account, 20 at a time beside five honest logins.
    for (let turn = 0; turn < 12; turn++) {
      const targets = attacked.slice((turn % 2) * 20, (turn % 2) * 20 + 20);
      const [wrong, right] = await Promise.all([
        Promise.all(targets.map((name) => service.login(name, `guess ${turn}`))),
        Promise.all(honest.map((name) => service.login(name))),
      ]);
      guesses.push(...wrong);
      logins.push(...right);
    }
    expect(tally(guesses)).toEqual({ LOGIN_401001: 120, LOGIN_401004: 120 });
    expect(tally(logins)).toEqual({ success: 60 });
    expect(await service.count('users', "login_name LIKE 'attacked%' AND login_failed_count = 3")).toBe(40);
    expect(await service.count('users', "login_name LIKE 'honest%' AND login_failed_count = 0")).toBe(5);
  });

  it('T029 of 2 parallel wrong passwords at counter 2, one is counted and one gets LOGIN_401004', async () => {
    const user = await service.givenUser('t029');
    await service.login('t029', 'wrong');
    await service.login('t029', 'wrong');
    expect(tally(await burst('t029', ['wrong', 'wrong']))).toEqual({ LOGIN_401001: 1, LOGIN_401004: 1 });
    expect((await service.userRow(user.uid)).login_failed_count).toBe(3);
  });

  it.each([
    ['three failures', 'LOGIN_401004', 'login_failed_count = 3, last_login_failed_time = ?'],
    ['a disabling', 'LOGIN_401011', 'status = -1, last_login_failed_time = ?'],
    ['a new password', 'LOGIN_401001', 'credential_version = credential_version + 1, last_login_failed_time = ?'],
    [
      'three failures and a disabling',
      'LOGIN_401004',
      'status = -1, login_failed_count = 3, last_login_failed_time = ?',
    ],
    [
      'the account became dormant',
      'LOGIN_401008',
      "last_login_success_time = '2020-01-01', last_login_failed_time = ?",
    ],
    [
      'the account became dormant after an enabling long ago',
      'LOGIN_401008',
      "created_at = '2020-01-01', enabled_at = '2020-02-01', last_login_failed_time = ?",
    ],
  ])('W08 a right password that was compared before %s and recorded after it gets %s', async (what, code, change) => {
    const { uid } = await service.givenUser(`late after ${what}`, { email: null });
    const asItWasRead = await service.app.get(UsersRepository).findByUid(uid);
    await service.database.affected(`UPDATE users SET ${change} WHERE uid = ?`, [service.clock.now(), uid]);
    const before = await service.userRow(uid);
    await expect(service.app.get(LoginLock).recordSuccess(asItWasRead!)).rejects.toMatchObject({ entry: { code } });
    expect(await service.userRow(uid)).toEqual(before);
  });

  it('a right password of a dormant account that was compared before an administrator enables it, and recorded after it, signs in', async () => {
    const { uid } = await service.givenUser('late after enabling', { email: null });
    await service.database.affected("UPDATE users SET created_at = '2020-01-01' WHERE uid = ?", [uid]);
    const asItWasRead = (await service.app.get(UsersRepository).findByUid(uid))!;
    const record = () => service.app.get(LoginLock).recordSuccess(asItWasRead);
    await expect(record()).rejects.toMatchObject({ entry: { code: 'LOGIN_401008' } });
    const enabled = { status: userStatus.enabled };
    await service.database.transaction((tx) => service.app.get(UserAccounts).change(tx, asItWasRead, enabled));
    await expect(record()).resolves.toBe(asItWasRead);
  });

  type Change = (tx: Transaction, user: User) => Promise<unknown>;
  const unlock: Change = (tx, { uid }) => service.app.get(UserAccounts).unlock(tx, uid);
  const enable: Change = (tx, user) => service.app.get(UserAccounts).change(tx, user, { status: userStatus.enabled });

  /** The first guarded write finds the account as `state` says. Before the row is read again, an administrator changes it. */
  const changedJustAfter = async (
    write: 'recordLoginSuccess' | 'recordPasswordConfirmed',
    { what, state, change }: { readonly what: string; readonly state: string; readonly change: Change },
  ) => {
    const { uid } = await service.givenUser(`just after: ${what}`, { email: null });
    await service.database.affected(`UPDATE users SET ${state} WHERE uid = ?`, [service.clock.now(), uid]);
    const users = service.app.get(UsersRepository);
    const read = (await users.findByUid(uid))!;
    const original: UsersRepository['recordLoginSuccess'] = users[write].bind(users);
    const refused = jest.spyOn(users, write).mockImplementationOnce(async (user: User, language?: Language) => {
      const won = await original(user, language);
      await service.database.transaction((tx) => change(tx, read));
      return won;
    });
    return {
      read,
      firstWon: () => refused.mock.results[0]?.value as Promise<boolean>,
      restore: () => refused.mockRestore(),
    };
  };

  it.each([
    {
      what: 'enables a dormant account',
      state: "created_at = '2020-01-01', last_login_failed_time = ?",
      change: enable,
    },
    { what: 'unlocks an account', state: 'login_failed_count = 3, last_login_failed_time = ?', change: unlock },
  ])('a right password is not called wrong when an administrator $what just after its refusal', async (given) => {
    const { read, firstWon, restore } = await changedJustAfter('recordLoginSuccess', given);
    const recorded = await service.app.get(LoginLock).recordSuccess(read);
    expect(await firstWon()).toBe(false);
    restore();
    expect(recorded.uid).toBe(read.uid);
    expect((await service.userRow(read.uid)).last_login_success_time).not.toBeNull();
  });

  it('a right current password ends no session when an administrator unlocks the account just after its refusal', async () => {
    const state = 'login_failed_count = 3, last_login_failed_time = ?';
    const given = { what: 'unlocks before a confirmation', state, change: unlock };
    const { read, firstWon, restore } = await changedJustAfter('recordPasswordConfirmed', given);
    expect(await service.app.get(LoginLock).recordConfirmation(read)).toBe(true);
    expect(await firstWon()).toBe(false);
    restore();
  });

  it('20 parallel forced changes of one user leave one usable request', async () => {
    const user = await service.givenUser('forced', { temporary: true });
    const requests = service.app.get(PasswordChangeRequests);
    // Without the gate row, about one round of five leaves two usable requests.
    for (let round = 0; round < 25; round++) {
      await Promise.all(Array.from({ length: 20 }, () => requests.openForced(user, changeType.first)));
      expect(await service.count('user_change_password_request', 'user_id = ? AND status = 0', [user.uid])).toBe(1);
    }
  });
});

/**
 * Whatever the parallelism, exactly MAX_LOCK_COUNT guesses are answered (docs/spec/decisions.md#lock). The error
 * code of an account status also reveals that the password is right, so it counts as such an answer.
 */
describe('one right password among wrong ones on an account whose status refuses the login', () => {
  const inactive: [name: string, change: string, code: string][] = [
    ['disabled', 'status = -1', 'LOGIN_401011'],
    ['not enabled', 'status = 0', 'LOGIN_401012'],
    ['expired', 'status = -2', 'LOGIN_401012'],
    ['dormant', "created_at = '2020-01-01'", 'LOGIN_401008'],
  ];
  let service: TestService;
  let comparisons: HeldComparisons;
  beforeAll(async () => {
    service = await TestService.start(patientQueue);
    comparisons = new HeldComparisons(service);
  });
  afterAll(() => service.stop());

  /** Sends 39 wrong passwords and the right one. All logins find the account open and wait for their comparison. */
  async function givenForty(change: string) {
    const { uid, loginName } = await service.givenUser(freshName('forty'));
    await service.database.affected(`UPDATE users SET ${change} WHERE uid = ?`, [uid]);
    const wrong = Array.from({ length: 39 }, (_, n) => `wrong ${n}`);
    const answers = new Map([password, ...wrong].map((typed) => [typed, service.login(loginName, typed)]));
    await comparisons.arrived(40);
    /** Releases the comparisons of these passwords at the same time, and resolves with the answers. */
    const compare = (...typed: string[]): Promise<Answer[]> => {
      comparisons.release(...typed);
      return Promise.all(typed.map((one) => answers.get(one)!));
    };
    return { uid, wrong, compare };
  }

  it.each(inactive)(
    '%s: compared after three wrong ones, the right password gets LOGIN_401004',
    async (_name, change) => {
      const { uid, wrong, compare } = await givenForty(change);
      expect(tally(await compare(...wrong.slice(0, 3)))).toEqual({ LOGIN_401001: 3 });
      expect(tally(await compare(password))).toEqual({ LOGIN_401004: 1 });
      expect(tally(await compare(...wrong.slice(3)))).toEqual({ LOGIN_401004: 36 });
      expect((await service.userRow(uid)).login_failed_count).toBe(3);
    },
  );

  it.each(inactive)(
    '%s: compared after two wrong ones, the right password gets the code of the status and counts no failure',
    async (_name, change, code) => {
      const { uid, wrong, compare } = await givenForty(change);
      await compare(...wrong.slice(0, 2));
      expect(tally(await compare(password))).toEqual({ [code]: 1 });
      expect(tally(await compare(...wrong.slice(2)))).toEqual({ LOGIN_401001: 1, LOGIN_401004: 36 });
      expect((await service.userRow(uid)).login_failed_count).toBe(3);
    },
  );

  it.each(inactive)(
    '%s: compared in parallel with all others, three wrong ones get LOGIN_401001',
    async (_name, change, code) => {
      const { uid, wrong, compare } = await givenForty(change);
      const answers = await compare(...wrong.slice(0, 20), password, ...wrong.slice(20));
      expect([code, 'LOGIN_401004']).toContain(answers[20]?.body.error_code);
      expect(tally(answers.filter((_, n) => n !== 20))).toEqual({ LOGIN_401001: 3, LOGIN_401004: 36 });
      expect((await service.userRow(uid)).login_failed_count).toBe(3);
    },
  );
});

it('an account that the directory reports as disabled gets LOGIN_401004 when parallel failures lock it, also without a users row', async () => {
  const service = await TestService.start({ ...absentDirectory, LDAP_JIT_PROVISIONING: 'true' });
  try {
    const { uid, loginName } = await service.givenUser('told', { provider: 'ldap' });
    const judge = jest.spyOn(service.app.get(Directory), 'judge');
    jest
      .spyOn(service.app.get(Directory), 'find')
      .mockImplementation((query) => Promise.resolve(foundPerson('name' in query ? query.name : 'nobody')));
    const guesses = service.app.get(UnknownGuesses);
    judge.mockImplementation(async () => {
      for (let n = 0; n < 3; n++) await service.app.get(UsersRepository).recordLoginFailure(uid);
      return { kind: 'refused', answer: accountDisabled };
    });
    expect((await ldapLogin(service, loginName)).body.error_code).toBe('LOGIN_401004');

    judge.mockImplementation(async () => {
      for (let n = 0; n < 3; n++) await guesses.recordFailure('unknown').catch(() => undefined);
      return { kind: 'refused', answer: accountDisabled };
    });
    expect((await ldapLogin(service, 'unknown')).body.error_code).toBe('LOGIN_401004');
  } finally {
    await service.stop();
  }
});
