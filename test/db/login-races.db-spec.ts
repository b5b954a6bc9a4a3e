import { PasswordChangeRequests } from '../../src/password-reset/password-change-requests';
import { LoginLock } from '../../src/users/login-lock';
import { UsersRepository } from '../../src/users/users.repository';
import { password, tally, TestService } from '../support/app';

/**
 * The lock is decided by one guarded UPDATE after the credential check (§3.1, W08). Before there was such a guard in
 * peers, all of a burst passed a check that each had made in time; here the database counts them one after the other.
 */
describe('bursts on one account, one process', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const burst = (name: string, passwords: string[]) =>
    Promise.all(passwords.map((typed) => service.login(name, typed)));

  it('T025 of 100 parallel wrong passwords exactly 3 are answered, 97 are told "locked", the counter is 3', async () => {
    const user = await service.givenUser('t025');
    expect(tally(await burst('t025', Array<string>(100).fill('wrong')))).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect((await service.userRow(user.uid)).login_failed_count).toBe(3);
  });

  it('T027 50 parallel right passwords all get in, with 100 different ids', async () => {
    const user = await service.givenUser('t027');
    expect(tally(await burst('t027', Array<string>(50).fill(password)))).toEqual({ success: 50 });
    expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(100);
  });

  it('T029 of 2 parallel wrong passwords at count 2 one is counted, one is told "locked"', async () => {
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
  ])('W08 a right password that was compared before %s but recorded after it is %s', async (what, code, change) => {
    const { uid } = await service.givenUser(`late after ${what}`, { email: null });
    const asItWasRead = await service.app.get(UsersRepository).findByUid(uid);
    await service.database.affected(`UPDATE users SET ${change} WHERE uid = ?`, [service.clock.now(), uid]);
    const before = await service.userRow(uid);
    await expect(service.app.get(LoginLock).recordSuccess(asItWasRead!)).rejects.toMatchObject({ entry: { code } });
    expect(await service.userRow(uid)).toEqual(before);
  });

  it('20 forced changes of one user at once leave one usable request', async () => {
    const user = await service.givenUser('forced', { temporary: true });
    const requests = service.app.get(PasswordChangeRequests);
    // Unserialised, two of them are left in about one round of five.
    for (let round = 0; round < 25; round++) {
      await Promise.all(Array.from({ length: 20 }, () => requests.openForced(user, 0)));
      expect(await service.count('user_change_password_request', 'user_id = ? AND status = 0', [user.uid])).toBe(1);
    }
  });
});
