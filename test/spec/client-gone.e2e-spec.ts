import { LoginReporter } from '../../src/auth/login/login-reporter';
import { ChangePasswordService } from '../../src/password-reset/change/change-password.service';
import type { ClientInfo } from '../../src/shared/client-info';
import { ClientGone } from '../../src/shared/errors/client-gone';
import { LoginLock } from '../../src/users/login-lock';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { password, TestService } from '../support/app';
import { goodPassword, mailedToken, submit } from '../support/reset';
import { captchaToken } from '../support/settings';

/** What is left behind by a request whose client hangs up on the way. How it leaves the queue is a process test. */
describe('a client that has hung up', () => {
  let service: TestService;
  let connection: AbortController;
  let client: ClientInfo;

  beforeAll(async () => {
    service = await TestService.start({ BCRYPT_COST: '5' });
  });
  afterAll(() => service.stop());
  beforeEach(() => {
    connection = new AbortController();
    client = { ip: '127.0.0.1', userAgent: 'test', language: 'en', requestId: 'gone', signal: connection.signal };
  });
  afterEach(() => jest.restoreAllMocks());

  const hangUp = () => connection.abort(new ClientGone());
  const login = (username: string, typed: string) =>
    service.app.get(LoginReporter).login({ username, password: typed, provider: 'password', captchaToken }, client);

  it.each([
    ['a wrong password', 'known', 'wrong'],
    ['the right password', 'right', password],
    ['an unknown name', undefined, 'wrong'],
  ])('before its hash begins: %s is not judged, not counted and not in the journal', async (_case, name, typed) => {
    const user = name === undefined ? undefined : await service.givenUser(name);
    const { completed } = service.app.get(PasswordHasher).stats();
    hangUp();
    await expect(login(name ?? 'nobody', typed)).rejects.toBeInstanceOf(ClientGone);
    expect(service.app.get(PasswordHasher).stats().completed).toBe(completed);
    expect(await service.count('login_logs')).toBe(0);
    if (user !== undefined) expect((await service.userRow(user.uid)).login_failed_count).toBe(0);
  });

  it('while its wrong password is judged: the guess is counted', async () => {
    const user = await service.givenUser('judged');
    const hasher = service.app.get(PasswordHasher);
    const matches = hasher.matches.bind(hasher);
    jest.spyOn(hasher, 'matches').mockImplementationOnce(async (...asked) => {
      const verdict = matches(...asked);
      hangUp();
      return verdict;
    });
    await expect(login('judged', 'wrong')).rejects.toMatchObject({ entry: { code: 'LOGIN_401001' } });
    expect((await service.userRow(user.uid)).login_failed_count).toBe(1);
  });

  it('before its old hash is renewed: the login is finished, the next one renews the hash', async () => {
    const user = await service.givenUser('old-hash');
    // Of cost 4, made by a service that was configured so.
    const older = '$2b$04$abcdefghijklmnopqrstuu3Vu4rJzW0bCqkqT5sX0mQ0bV8O0bG1C';
    await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [older, user.uid]);
    jest.spyOn(service.app.get(PasswordHasher), 'matches').mockResolvedValueOnce(true);
    const lock = service.app.get(LoginLock);
    const recordSuccess = lock.recordSuccess.bind(lock);
    jest.spyOn(lock, 'recordSuccess').mockImplementationOnce(async (...given) => {
      await recordSuccess(...given);
      hangUp();
    });
    await expect(login('old-hash', password)).resolves.toMatchObject({ kind: 'session' });
    expect((await service.userRow(user.uid)).password).toBe(older);
    expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(2);
  });

  it('before its new password is compared or hashed: nothing is changed, and the link can still be used', async () => {
    const user = await service.givenUser('link');
    const token = await mailedToken(service, 'link@example.com');
    const before = await service.userRow(user.uid);
    hangUp();
    const command = { token, password: goodPassword(1), confirmation: goodPassword(1) };
    await expect(service.app.get(ChangePasswordService).change(command, client)).rejects.toBeInstanceOf(ClientGone);
    expect(await service.userRow(user.uid)).toEqual(before);
    expect((await submit(service, token, goodPassword(1))).status).toBe(200);
  });
});
