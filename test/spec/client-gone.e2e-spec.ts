import { LoginService } from '../../src/auth/login/login.service';
import { ChangePasswordService } from '../../src/password-reset/links/change-password.service';
import type { ClientInfo } from '../../src/shared/client-info';
import { ClientGone } from '../../src/shared/errors/client-gone';
import { LoginLock } from '../../src/users/login-lock';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { password, TestService } from '../support/app';
import { goodPassword, mailedToken, submit } from '../support/reset';
import { captchaToken } from '../support/settings';

/**
 * The rows that a request leaves when its client disconnects. test/process/hash-clients-gone shows that the hash of
 * such a client leaves the hash queue.
 */
describe('a client that disconnects', () => {
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

  const disconnect = () => connection.abort(new ClientGone());
  const login = (username: string, typed: string) =>
    service.app
      .get(LoginService)
      .login({ username, password: typed, provider: 'password', captchaToken, deviceToken: undefined }, client);

  it.each([
    ['a wrong password', 'known', 'wrong'],
    ['the right password', 'right', password],
    ['an unknown name', undefined, 'wrong'],
  ])('before its hash begins: %s is not compared, not counted and not in login_logs', async (_case, name, typed) => {
    const user = name === undefined ? undefined : await service.givenUser(name);
    const { completed } = service.app.get(PasswordHasher).stats();
    disconnect();
    await expect(login(name ?? 'nobody', typed)).rejects.toBeInstanceOf(ClientGone);
    expect(service.app.get(PasswordHasher).stats().completed).toBe(completed);
    expect(await service.count('login_logs')).toBe(0);
    if (user !== undefined) expect((await service.userRow(user.uid)).login_failed_count).toBe(0);
  });

  it('while its wrong password is compared: the failure is counted', async () => {
    const user = await service.givenUser('compared');
    const hasher = service.app.get(PasswordHasher);
    const matches = hasher.matches.bind(hasher);
    jest.spyOn(hasher, 'matches').mockImplementationOnce(async (...asked) => {
      const verdict = matches(...asked);
      disconnect();
      return verdict;
    });
    await expect(login('compared', 'wrong')).rejects.toMatchObject({ entry: { code: 'LOGIN_401001' } });
    expect((await service.userRow(user.uid)).login_failed_count).toBe(1);
  });

  it('before its hash of a lower cost is replaced: the login succeeds and the hash stays for the next login', async () => {
    const user = await service.givenUser('old-hash');
    // Of cost 4; the service is configured with cost 5.
    const older = '$2b$04$abcdefghijklmnopqrstuu3Vu4rJzW0bCqkqT5sX0mQ0bV8O0bG1C';
    await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [older, user.uid]);
    jest.spyOn(service.app.get(PasswordHasher), 'matches').mockResolvedValueOnce(true);
    const lock = service.app.get(LoginLock);
    const recordSuccess = lock.recordSuccess.bind(lock);
    jest.spyOn(lock, 'recordSuccess').mockImplementationOnce(async (...given) => {
      const recorded = await recordSuccess(...given);
      disconnect();
      return recorded;
    });
    await expect(login('old-hash', password)).resolves.toMatchObject({ kind: 'session' });
    expect((await service.userRow(user.uid)).password).toBe(older);
    expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(2);
  });

  it('before its new password is compared or hashed: nothing changes, and the reset link can still be used', async () => {
    const user = await service.givenUser('link');
    const token = await mailedToken(service, 'link@example.com');
    const before = await service.userRow(user.uid);
    disconnect();
    const command = { token, password: goodPassword(1), confirmation: goodPassword(1) };
    await expect(service.app.get(ChangePasswordService).change(command, client)).rejects.toBeInstanceOf(ClientGone);
    expect(await service.userRow(user.uid)).toEqual(before);
    expect((await submit(service, token, goodPassword(1))).status).toBe(200);
  });
});
