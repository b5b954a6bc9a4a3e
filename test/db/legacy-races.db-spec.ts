import { operatorAuthority } from '../../src/admin/authority';
import { UserAdministration } from '../../src/admin/user-administration';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { Database } from '../../src/platform/database/database';
import { ProviderMoves } from '../../src/users/provider-moves';
import { UsersRepository } from '../../src/users/users.repository';
import { tally, TestService } from '../support/app';
import { LegacyStandIn } from '../support/legacy-system';
import { codeOf, goodPassword, mailedToken, submit } from '../support/reset';

const old = 'Old-System-42-pass';

/** ADR 0049. SQLite deployments have one replica. */
describe('races of the first login of a user whose password the old system checks (T709)', () => {
  let legacy: LegacyStandIn;
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    legacy = await LegacyStandIn.start();
    // On a busy machine a burst waits longer for its hashes than the default allows. These tests do not check the wait.
    const settings = { ...legacy.settings, HASH_QUEUE_MAX_WAIT_MS: '60000', ADMIN_API: 'on' };
    service = await TestService.start(settings);
    const { store, clock } = service;
    other = __DATABASE__ === 'sqlite' ? service : await TestService.start(settings, { store, clock });
  });
  afterAll(async () => {
    if (other !== service) await other.stop({ keepStore: true });
    await service.stop();
    await legacy.stop();
  });
  afterEach(() => jest.restoreAllMocks());

  let made = 0;
  function given() {
    const name = `raced${++made}`;
    legacy.passwords.set(name, old);
    return service.givenUser(name, { password: null, legacyLogin: true });
  }
  const adoptions = (uid: string) =>
    service.count('audit_logs', "event = 'USER_PASSWORD_ADOPTED' AND user_id = ?", [uid]);

  it('of first logins at once all succeed, and one stores its hash, its audit row and its entry of the history', async () => {
    const { uid, loginName } = await given();
    const logins = Array.from({ length: 8 }, (_, n) => [service, other][n % 2]!.login(loginName, old));
    expect(tally(await Promise.all(logins))).toEqual({ success: 8 });
    const { password } = await service.userRow(uid);
    expect(await service.app.get(PasswordHasher).matches(old, String(password), { ip: 'test' })).toBe(true);
    expect(await adoptions(uid)).toBe(1);
    expect(await service.count('user_change_pwd_logs', 'user_id = ?', [uid])).toBe(1);
  });

  it('of parallel stores of different hashes one wins, and the others change nothing', async () => {
    const { uid } = await given();
    const user = (await service.app.get(UsersRepository).findByUid(uid))!;
    const hashes = Array.from({ length: 6 }, (_, n) => `$2b$04$${'abcdefghijklmnopqrstuu'}${String(n).repeat(31)}`);
    const store = (hash: string, n: number) => {
      const { app } = [service, other][n % 2]!;
      return app.get(Database).transaction((tx) => app.get(UsersRepository).adoptPassword(tx, user, hash, false));
    };
    const won = await Promise.all(hashes.map(store));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await service.userRow(uid)).toMatchObject({ password: hashes[won.indexOf(true)], legacy_login: 0 });
  });

  const winners: [what: string, change: (name: string, uid: string) => Promise<unknown>][] = [
    [
      'a password that an operator sets',
      async (name) => {
        const administration = other.app.get(UserAdministration);
        const user = await administration.find(name);
        const rules = { temporary: false, rules: 'waived' } as const;
        await administration.setPassword(operatorAuthority, user, goodPassword(1), rules);
      },
    ],
    [
      'a reset by mail',
      async (name) => {
        const token = await mailedToken(service, `${name}@example.com`);
        expect((await submit(service, token, goodPassword(1))).status).toBe(200);
      },
    ],
    [
      'a move to the directory',
      async (_name, uid) => {
        const user = (await other.app.get(UsersRepository).findByUid(uid))!;
        const moved = other.app.get(Database).transaction(async (tx) => {
          const won = await other.app.get(ProviderMoves).move(tx, user, { provider: 'ldap', identityProviderId: null });
          await other.app.get(UsersRepository).endEverythingIssued(tx, uid);
          return won;
        });
        expect(await moved).toBe(true);
      },
    ],
  ];
  it.each(winners)(
    '%s that commits while bcrypt runs wins, and the session of the login is none',
    async (_what, change) => {
      const { uid, loginName } = await given();
      const hasher = service.app.get(PasswordHasher);
      const hash = hasher.hash.bind(hasher);
      let raced: Record<string, unknown> | undefined;
      const spy = jest.spyOn(hasher, 'hash').mockImplementation(async (typed, client) => {
        const adopted = await hash(typed, client);
        if (typed !== old) return adopted;
        // The login has succeeded, and its hash is not stored yet.
        spy.mockRestore();
        await change(loginName, uid);
        raced = await service.userRow(uid);
        return adopted;
      });
      const { body } = await service.login(loginName, old);
      expect(raced).toMatchObject({ legacy_login: 0 });
      expect(await service.userRow(uid)).toMatchObject({ password: raced!.password, legacy_login: 0 });
      expect(await adoptions(uid)).toBe(0);
      const token = String(body.data.access_token);
      expect(codeOf(await service.get('/user/me', { bearer: token }))).toBe('AUTH_401004');
    },
  );
});
