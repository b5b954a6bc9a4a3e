import { randomBytes } from 'node:crypto';
import { OwnPasskeys } from '../../src/passkeys/own-passkeys';
import type { CurrentSession } from '../../src/sessions/current-session';
import { LoginLock } from '../../src/users/login-lock';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { givenCaller } from '../support/admin';
import { type Answer, tally, TestService } from '../support/app';
import { SoftAuthenticator } from '../support/authenticator';
import { FakeClock } from '../support/fakes';
import { browser, dataOf, origin, PasskeyClient, passkeySettings } from '../support/passkeys';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

const settings = { ...passkeySettings, ADMIN_API: 'on' };

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes of passkeys', () => {
  let clients: [PasskeyClient, PasskeyClient];
  let first: PasskeyClient;
  /** Access tokens. */
  let administrators: string[];
  beforeAll(async () => {
    const clock = new FakeClock();
    const one = await TestService.start(settings, { clock });
    const two = __DATABASE__ === 'sqlite' ? one : await TestService.start(settings, { clock, store: one.store });
    clients = [new PasskeyClient(one), new PasskeyClient(two)];
    [first] = clients;
    const callers = [await givenCaller(one, { isAdmin: true }), await givenCaller(one, { isAdmin: true })];
    administrators = callers.map(({ bearer }) => bearer);
  });
  afterAll(async () => {
    if (clients[1].service !== clients[0].service) await clients[1].service.stop({ keepStore: true });
    await clients[0].service.stop();
  });

  const at = (n: number): PasskeyClient => clients[n % 2]!;
  const race = (racers: number, run: (n: number) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: racers }, (_, n) => run(n)));
  const count = (table: string, user: User, and = '1 = 1') =>
    first.service.count(table, `user_id = ? AND ${and}`, [user.uid]);
  const tokens = (user: User) => first.service.count('login_tokens', 'user_identity = ?', [user.uid]);
  /** Begins a registration for each authenticator before any of them ends, so that the ends can race. */
  const begun = async (access: string, authenticators: readonly SoftAuthenticator[], credentialId?: Buffer) => {
    const responses: Record<string, any>[] = [];
    for (const authenticator of authenticators) {
      responses.push(authenticator.create(dataOf(await first.options(access)).data, { credentialId }));
    }
    return responses;
  };
  const authenticators = (n: number) => Array.from({ length: n }, () => new SoftAuthenticator(origin));

  it('challenge: of 20 parallel logins with one assertion, one gets a session (T294)', async () => {
    const { user, authenticator } = await first.givenPasskey('replay');
    const before = await tokens(user);
    const { challenge_id, options } = await first.challenge();
    const response = authenticator.get(options);
    expect(tally(await race(20, (n) => at(n).submit(challenge_id, response)))).toEqual({
      success: 1,
      PASSKEY_401001: 19,
    });
    expect(await tokens(user)).toBe(before + 2);
  });

  it('challenge: of 20 parallel logins with one challenge and 20 good signatures, one gets a session', async () => {
    const { authenticator } = await first.givenPasskey('one-challenge', { synced: true });
    const { challenge_id, options } = await first.challenge();
    const responses = Array.from({ length: 20 }, () => authenticator.get(options));
    expect(tally(await race(20, (n) => at(n).submit(challenge_id, responses[n])))).toEqual({
      success: 1,
      PASSKEY_401001: 19,
    });
  });

  it('counter: of 20 parallel logins with one counter and a challenge each, one wins and the others are audited (T296)', async () => {
    const { user, authenticator } = await first.givenPasskey('counter');
    const logins = await Promise.all(Array.from({ length: 20 }, () => first.challenge()));
    const responses = logins.map(({ options }) => authenticator.get(options, { counter: 7 }));
    const answers = await race(20, (n) => at(n).submit(logins[n]!.challenge_id, responses[n]));
    expect(tally(answers)).toEqual({ success: 1, PASSKEY_401001: 19 });
    expect(await count('audit_logs', user, "event = 'PASSKEY_COUNTER_REFUSED'")).toBe(19);
    const [row] = await first.service.database.rows<{ counter: unknown }>(
      'SELECT counter FROM passkeys WHERE user_id = ?',
      [user.uid],
    );
    expect(Number(row!.counter)).toBe(7);
  });

  it('counter: 20 parallel logins of a passkey that does not count all succeed', async () => {
    const { authenticator } = await first.givenPasskey('synced', { synced: true });
    expect(tally(await race(20, (n) => at(n).logIn(authenticator)))).toEqual({ success: 20 });
  });

  it('limit: of 10 parallel registrations of a user with 18 passkeys, two succeed (T299)', async () => {
    const { user, access } = await first.givenPasskey('limit');
    for (let n = 1; n < 18; n++) dataOf(await first.register(access, new SoftAuthenticator(origin)));
    const responses = await begun(access, authenticators(10));
    const answers = await race(10, (n) => at(n).add(access, responses[n]));
    expect(tally(answers)).toEqual({ success: 2, PASSKEY_400001: 8 });
    expect(await count('passkeys', user)).toBe(20);
    expect(await count('audit_logs', user, "event = 'PASSKEY_ADDED'")).toBe(20);
  });

  it('credential: of 10 parallel registrations of one credential by two users, one succeeds (T299)', async () => {
    const owners = await Promise.all([first.givenPasskey('twin-1'), first.givenPasskey('twin-2')]);
    const credentialId = randomBytes(32);
    const responses = await Promise.all(owners.map(({ access }) => begun(access, authenticators(5), credentialId)));
    const answers = await race(10, (n) => at(n >> 1).add(owners[n % 2]!.access, responses[n % 2]![n >> 1]));
    expect(tally(answers)).toEqual({ success: 1, PASSKEY_400001: 9 });
  });

  it('registration: one challenge, answered by 10 authenticators in parallel, adds one passkey', async () => {
    const { user, access } = await first.givenPasskey('one-registration');
    const { data } = dataOf(await first.options(access));
    const responses = authenticators(10).map((one) => one.create(data));
    const answers = await race(10, (n) => at(n).add(access, responses[n]));
    expect(tally(answers)).toEqual({ success: 1, PASSKEY_400001: 9 });
    expect(await count('passkeys', user)).toBe(2);
  });

  it('registration: none is added by a request that runs beside the end of its session and comes later (T298)', async () => {
    const { user, access } = await first.givenPasskey('beside-logout');
    const responses = await begun(access, authenticators(8));
    const [answers] = await Promise.all([
      race(7, (n) => at(n).add(access, responses[n])),
      at(1).service.post('/logout', undefined, { bearer: access }),
    ]);
    for (const outcome of Object.keys(tally(answers))) expect(['success', 'AUTH_401004']).toContain(outcome);
    const added = await count('passkeys', user);
    expect(await first.add(access, responses[7])).toMatchObject({ body: { error_code: 'AUTH_401004' } });
    expect(added).toBe(1 + (tally(answers).success ?? 0));
    expect(await count('passkeys', user)).toBe(added);
  });

  it('removal: of 10 parallel requests, one removes the passkey and tells the owner', async () => {
    const { user, access, id } = await first.givenPasskey('removal');
    const answers = await race(10, (n) =>
      at(n).service.send('DELETE', `/passkeys/${id}`, undefined, { bearer: access }),
    );
    expect(tally(answers)).toEqual({ success: 1, USER_404001: 9 });
    expect(await count('audit_logs', user, "event = 'PASSKEY_REMOVED'")).toBe(1);
  });

  it('removal: of 10 parallel requests of administrators and of the owner, one removes the passkey and tells the owner', async () => {
    const { user, access, id } = await first.givenPasskey('removal-by-administrators');
    const paths = [`/admin/users/${user.uid}/passkeys/${id}`, `/passkeys/${id}`];
    const answers = await race(10, (n) => {
      const by = n % 4 < 2 ? { path: paths[0]!, bearer: administrators[n % 2]! } : { path: paths[1]!, bearer: access };
      return at(n).service.send('DELETE', by.path, undefined, { bearer: by.bearer });
    });
    expect(tally(answers)).toEqual({ success: 1, USER_404001: 9 });
    expect(await count('audit_logs', user, "event = 'PASSKEY_REMOVED'")).toBe(1);
    expect(await count('mail_outbox', user, "kind = 'passkey-changed'")).toBe(2);
  });

  it('removal by an administrator: logins beside it get a session or PASSKEY_401001, and none afterwards', async () => {
    const { user, authenticator, id } = await first.givenPasskey('beside-administrator', { synced: true });
    const [answers, removed] = await Promise.all([
      race(10, (n) => at(n).logIn(authenticator)),
      at(1).service.send('DELETE', `/admin/users/${user.uid}/passkeys/${id}`, undefined, {
        bearer: administrators[0]!,
      }),
    ]);
    expect(tally([removed])).toEqual({ success: 1 });
    for (const outcome of Object.keys(tally(answers))) expect(['success', 'PASSKEY_401001']).toContain(outcome);
    expect(tally([await first.logIn(authenticator)])).toEqual({ PASSKEY_401001: 1 });
  });

  it('removal and new name: a session that has ended between its check and the write changes nothing', async () => {
    const { user, id } = await first.givenPasskey('ended-session');
    const { service } = first;
    const accessToken = await first.openSession(user);
    const payload = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString());
    const session = { payload, user, credentialVersion: user.credentialVersion } as unknown as CurrentSession;
    await service.database.affected('UPDATE login_tokens SET is_revoked = 1 WHERE jti = ?', [payload.sid]);
    const passkeys = service.app.get(OwnPasskeys);
    const refused = { entry: { code: 'AUTH_401004' } };
    await expect(passkeys.remove(session, id, browser)).rejects.toMatchObject(refused);
    await expect(passkeys.rename(session, id, 'Mine now', browser)).rejects.toMatchObject(refused);
    expect(await count('passkeys', user, "name = 'Phone'")).toBe(1);
  });

  it('removal: logins beside it get a session or PASSKEY_401001, and none afterwards', async () => {
    const { authenticator, access, id } = await first.givenPasskey('beside-removal', { synced: true });
    const [answers] = await Promise.all([
      race(10, (n) => at(n).logIn(authenticator)),
      at(1).service.send('DELETE', `/passkeys/${id}`, undefined, { bearer: access }),
    ]);
    for (const outcome of Object.keys(tally(answers))) expect(['success', 'PASSKEY_401001']).toContain(outcome);
    expect(tally([await first.logIn(authenticator)])).toEqual({ PASSKEY_401001: 1 });
  });

  it('account: a password change between the look-up and the record of a success does not refuse a passkey', async () => {
    const { user } = await first.givenPasskey('changed');
    const { service } = first;
    const read = (await service.app.get(UsersRepository).findByUid(user.uid))!;
    await service.database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [
      user.uid,
    ]);
    const lock = service.app.get(LoginLock);
    await expect(lock.recordSuccess(read)).rejects.toMatchObject({ entry: { code: 'LOGIN_401001' } });
    expect(await lock.recordSuccess(read, false)).toMatchObject({ credentialVersion: read.credentialVersion + 1 });
    await service.database.affected('UPDATE users SET status = -1, credential_version = 9 WHERE uid = ?', [user.uid]);
    await expect(lock.recordSuccess(read, false)).rejects.toMatchObject({ entry: { code: 'LOGIN_401011' } });
  });

  it('no deadlock reached a request', async () => {
    if (__DATABASE__ === 'mariadb') {
      const deadlocks = await MariaDbDatabases.shared().deadlocks(first.service.store.url);
      expect(deadlocks).toEqual([]);
    }
  });
});
