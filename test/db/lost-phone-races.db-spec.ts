import { RecoveryCodes } from '../../src/mfa/recovery-codes';
import { canonicalRecoveryCode } from '../../src/mfa/codes/recovery-code';
import { RecoveryCodeRows } from '../../src/mfa/persistence/recovery-code.repository';
import type { ClientInfo } from '../../src/shared/client-info';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { TrustedDevices } from '../../src/sessions/trusted-devices';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { resetSecondFactor } from '../support/operator';
import { tally, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { mfaSettings } from '../support/mfa';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

const client: ClientInfo = {
  ip: '127.0.0.1',
  userAgent: 'test',
  language: 'en',
  requestId: 'request',
  signal: new AbortController().signal,
};

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes of recovery codes and trusted devices', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const settings = { ...mfaSettings, MFA_REQUIRED: 'false', MFA_TRUSTED_DEVICE_DAYS: '30' };
    const first = await TestService.start(settings, { clock });
    const second = __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, { clock, store: first.store });
    services = [first, second];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  type Class<T> = abstract new (...args: any[]) => T;
  const at = (n: number): TestService => services[n % 2]!;
  const on = <T>(type: Class<T>, n = 0): T => at(n).app.get<T>(type);
  const race = <T>(racers: number, run: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: racers }, (_, n) => run(n)));
  const audited = (user: User, event: string) =>
    services[0].count('audit_logs', 'user_id = ? AND event = ?', [user.uid, event]);
  const read = async (user: User): Promise<User> => (await on(UsersRepository).findByUid(user.uid))!;

  async function givenTrusted(name: string): Promise<{ user: User; token: string }> {
    const user = await read(await services[0].givenUser(name));
    const token = await services[0].database.transaction((tx) => on(TrustedDevices).trust(tx, user, client));
    return { user, token: token! };
  }

  async function givenCodes(name: string): Promise<{ user: User; access: string; codes: string[] }> {
    const user = await services[0].givenUser(name);
    const { access } = await services[0].session(name);
    const { body } = await services[0].post('/recovery-codes', undefined, { bearer: access });
    return { user, access, codes: body.data.codes as string[] };
  }

  const isLive = async (accessToken: string) => (await at(0).get('/user/me', { bearer: accessToken })).status === 200;

  it('recovery code: one of 20 parallel calls spends it (T283)', async () => {
    const { user, codes } = await givenCodes('spend');
    const rows = on(RecoveryCodeRows);
    const id = (await rows.find(user.uid, canonicalRecoveryCode(codes[0]!)!))!;
    const results = await race(20, (n) =>
      at(n).database.transaction((tx) => on(RecoveryCodes, n).spend(tx, user, id, client)),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await on(RecoveryCodes).summary(user.uid)).toMatchObject({ left: 9 });
  });

  it('recovery codes: 20 parallel requests leave the ten codes of one of them', async () => {
    const { user, access } = await givenCodes('make');
    const answers = await race(20, (n) => at(n).post('/recovery-codes', undefined, { bearer: access }));
    expect(tally(answers)).toEqual({ success: 20 });
    expect(await services[0].count('recovery_codes', 'user_id = ?', [user.uid])).toBe(10);
    const valid = await Promise.all(
      answers.map(async ({ body }) => {
        const found = await Promise.all(
          (body.data.codes as string[]).map((code) =>
            on(RecoveryCodeRows).find(user.uid, canonicalRecoveryCode(code)!),
          ),
        );
        return found.filter((id) => id !== undefined).length;
      }),
    );
    expect(valid.sort((a, b) => b - a)).toEqual([10, ...Array<number>(19).fill(0)]);
  });

  it('recovery codes: none are left by requests that run beside the end of their session', async () => {
    for (const [name, end] of [
      [
        'beside-revoke',
        (user: User) => at(1).database.transaction((tx) => on(TokenRevoker, 1).revokeAll(tx, user.uid)),
      ],
      ['beside-logout', (_: User, access: string) => at(1).post('/logout', undefined, { bearer: access })],
    ] as const) {
      const user = await services[0].givenUser(name);
      const { access } = await services[0].session(name);
      const request = (n: number) => at(n).post('/recovery-codes', undefined, { bearer: access });
      const [answers] = await Promise.all([race(8, request), end(user, access)]);
      for (const key of Object.keys(tally(answers))) expect(['success', 'AUTH_401004']).toContain(key);
      expect(await request(0)).toMatchObject({ status: 401, body: { error_code: 'AUTH_401004' } });
    }
  });

  it('recovery code: a reset of the second factor that commits first wins', async () => {
    const { user, codes } = await givenCodes('reset-first');
    const id = (await on(RecoveryCodeRows).find(user.uid, canonicalRecoveryCode(codes[0]!)!))!;
    await resetSecondFactor(at(1), user);
    expect(await services[0].database.transaction((tx) => on(RecoveryCodes).spend(tx, user, id, client))).toBe(false);
  });

  it('device: 20 parallel logins with one token get a session each and the same successor', async () => {
    const { user, token } = await givenTrusted('parallel');
    const logins = await race(20, (n) => on(TrustedDevices, n).logIn(user, token, client));
    const successors = new Set(logins.map((login) => login?.deviceToken));
    expect(successors.size).toBe(1);
    expect(await audited(user, 'TRUSTED_DEVICE_TOKEN_REUSED')).toBe(0);
    const [successor] = [...successors];
    services[0].clock.advanceSeconds(11);
    expect(await on(TrustedDevices, 1).logIn(user, successor!, client)).toBeDefined();
  });

  it('device: of 20 parallel replays none gets a session, and one ends the device and is audited (T286)', async () => {
    const { user, token } = await givenTrusted('replays');
    await on(TrustedDevices).logIn(user, token, client);
    services[0].clock.advanceSeconds(11);
    const before = await services[0].count('login_tokens');
    const logins = await race(20, (n) => on(TrustedDevices, n).logIn(user, token, client));
    expect(logins.filter((login) => login !== undefined)).toEqual([]);
    expect(await services[0].count('login_tokens')).toBe(before);
    expect(await audited(user, 'TRUSTED_DEVICE_TOKEN_REUSED')).toBe(1);
    expect(await on(TrustedDevices).list(user)).toEqual([]);
  });

  it('device: a replay beside logins with the current token ends the device, and nothing fails', async () => {
    const { user, token } = await givenTrusted('mixed');
    const { deviceToken } = (await on(TrustedDevices).logIn(user, token, client))!;
    services[0].clock.advanceSeconds(11);
    await race(16, (n) => on(TrustedDevices, n).logIn(user, n % 4 === 0 ? token : deviceToken, client));
    expect(await on(TrustedDevices).list(user)).toEqual([]);
    expect(await audited(user, 'TRUSTED_DEVICE_TOKEN_REUSED')).toBe(1);
  });

  it.each([
    [
      'a password change',
      (user: User, n: number) => at(n).database.transaction((tx) => on(TokenRevoker, n).revokeAll(tx, user.uid)),
      'dead',
    ],
    ['user devices --revoke', (user: User, n: number) => on(TrustedDevices, n).revokeAll(user.uid), 'live'],
    ['a reset of the second factor', (user: User, n: number) => resetSecondFactor(at(n), user), 'live'],
  ] as const)('device: after %s that runs beside logins, no token of it works (T287)', async (what, end, sessions) => {
    const { user, token } = await givenTrusted(`beside-${what.length}`);
    const [logins] = await Promise.all([
      race(12, (n) => on(TrustedDevices, n).logIn(user, token, client)),
      end(user, 1),
    ]);
    const opened = logins.filter((login) => login !== undefined);
    // A login that was first is a login of before. Only a new credential version ends its session as well.
    for (const { tokens } of opened) expect(await isLive(tokens.accessToken)).toBe(sessions === 'live');
    const now = await read(user);
    for (const text of [token, ...opened.map(({ deviceToken }) => deviceToken)]) {
      expect(await on(TrustedDevices, 1).logIn(now, text, client)).toBeUndefined();
      // A login that has read the user before the end.
      expect(await on(TrustedDevices).logIn(user, text, client)).toBeUndefined();
    }
  });

  it('device: a removal by the owner is won by one of 16 parallel requests', async () => {
    const { user } = await givenTrusted('removed');
    const [device] = await on(TrustedDevices).list(user);
    const results = await race(16, (n) => on(TrustedDevices, n).remove(user, device!.id, client));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await audited(user, 'TRUSTED_DEVICE_REMOVED')).toBe(1);
  });

  if (__DATABASE__ === 'mariadb')
    it('the database has reported no deadlock', async () => {
      expect(await MariaDbDatabases.shared().deadlocks(services[0].store.url)).toEqual([]);
    });
});
