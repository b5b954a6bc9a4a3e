import { TokenRevoker } from '../../src/sessions/token-revoker';
import { LiveSessions } from '../../src/sessions/live-sessions';
import { type PendingLogin, PendingLogins } from '../../src/sessions/pending-login.repository';
import type { CurrentSession } from '../../src/sessions/current-session';
import { EnrolmentConfirmation } from '../../src/mfa/enrolment/enrolment-confirmation';
import { OpenEnrolments } from '../../src/mfa/enrolment/open-enrolments';
import type { TotpSecret } from '../../src/mfa/persistence/totp-secret.entity';
import { TotpSecrets } from '../../src/mfa/persistence/totp-secret.repository';
import type { Transaction } from '../../src/platform/database/database';
import type { ClientInfo } from '../../src/shared/client-info';
import { SecondFactor } from '../../src/users/second-factor';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { FakeClock } from '../support/fakes';
import { TestService } from '../support/app';
import { eventually } from '../support/servers/eventually';
import { authenticatorCode, mailsStay } from '../support/mfa';

const client: ClientInfo = {
  ip: '127.0.0.1',
  userAgent: 'test',
  language: 'en',
  requestId: 'request',
  signal: new AbortController().signal,
};

/** Waits until another connection waits for a row lock of `tx`. On SQLite, a waiting query runner cannot be seen. */
async function waits(tx: Transaction): Promise<void> {
  const waiting = `SELECT COUNT(*) AS n FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`;
  if (__DATABASE__ === 'sqlite') for (let n = 0; n < 20; n++) await tx.row('SELECT 1 AS one');
  // InnoDB refreshes the table innodb_trx at most every 100 ms.
  else
    await eventually(async () => Number((await tx.row<{ n: number }>(waiting))?.n) > 0, {
      what: 'a lock wait',
      interval: 150,
    });
}

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes of the second factor', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start(mailsStay, { clock });
    const second =
      __DATABASE__ === 'sqlite' ? first : await TestService.start(mailsStay, { clock, store: first.store });
    services = [first, second];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  type Class<T> = abstract new (...args: any[]) => T;
  const on = <T>(type: Class<T>, n = 0): T => services[n % 2]!.app.get<T>(type);
  const race = <T>(racers: number, run: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: racers }, (_, n) => run(n)));
  const won = (results: boolean[]) => results.filter(Boolean).length;
  const tally = (results: string[]) =>
    Object.fromEntries(
      [...new Set(results)].sort().map((one) => [one, results.filter((other) => other === one).length]),
    );
  const again = async (user: User) => (await on(UsersRepository).findByUid(user.uid))!;
  const change = (statement: string, user: User) => services[0].database.affected(statement, [user.uid]);

  async function givenPending(name: string): Promise<{ user: User; pending: PendingLogin; mfaToken: string }> {
    const user = await services[0].givenUser(name);
    const { mfaToken } = await on(PendingLogins).open(services[0].database, user, 'totp', client);
    const found = await on(PendingLogins).find(user.uid, { mfaToken, ip: '' });
    return { user, pending: found!.pending, mfaToken };
  }

  async function givenEnrolment(name: string): Promise<{ user: User; row: TotpSecret }> {
    const user = await services[0].givenUser(name);
    const expires = services[0].clock.secondsFromNow(300);
    await services[0].database.transaction((tx) =>
      on(TotpSecrets).openEnrolment(tx, {
        userId: user.uid,
        secret: 's',
        uri: 'u',
        sid: 'sid',
        ip: client.ip,
        expires,
      }),
    );
    return { user, row: (await on(TotpSecrets).find(user.uid))! };
  }

  it('account: of 40 parallel attempts, ten are granted, the tenth starts the block, and after the block ten are granted again', async () => {
    const user = await services[0].givenUser('budget');
    for (let round = 0; round < 2; round++) {
      const results = await race(40, (n) => on(SecondFactor, n).reserveAttempt(user.uid));
      expect(tally(results)).toEqual({ granted: 9, last: 1, refused: 30 });
      expect(await on(SecondFactor).reserveAttempt(user.uid)).toBe('refused');
      const row = await again(user);
      expect(row.mfaFailedCount).toBe(0);
      expect(row.mfaBlockedUntil).toEqual(services[0].clock.secondsFromNow(900));
      services[0].clock.advanceSeconds(900);
    }
  });

  it('pending login: of 40 parallel attempts, five are granted', async () => {
    const { pending } = await givenPending('attempts');
    const results = await race(40, (n) => on(PendingLogins, n).reserveAttempt(pending));
    expect(tally(results)).toEqual({ granted: 4, last: 1, refused: 35 });
  });

  it('enrolment: of 40 parallel attempts, five are granted', async () => {
    const { row } = await givenEnrolment('enrolment-attempts');
    const results = await race(40, (n) => on(TotpSecrets, n).reserveAttempt(row));
    expect(tally(results)).toEqual({ granted: 4, last: 1, refused: 35 });
  });

  it('a count above a lowered limit blocks the account at the next code, and a pending login gets no further attempt', async () => {
    const { user, pending } = await givenPending('lowered');
    await change('UPDATE users SET mfa_failed_count = 50 WHERE uid = ?', user);
    await change('UPDATE pending_logins SET attempts = 50 WHERE user_id = ?', user);
    expect(await on(SecondFactor).reserveAttempt(user.uid)).toBe('last');
    expect(await on(SecondFactor).reserveAttempt(user.uid)).toBe('refused');
    expect(await on(PendingLogins).reserveAttempt(pending)).toBe('refused');
  });

  it('consume: one of 16 parallel calls wins', async () => {
    const { pending } = await givenPending('consume');
    const results = await race(16, (n) =>
      services[n % 2]!.database.transaction((tx) => on(PendingLogins, n).consume(tx, pending)),
    );
    expect(won(results)).toBe(1);
  });

  it('consume: fails when the code was replaced after the comparison', async () => {
    const { user, pending } = await givenPending('replaced');
    const { database, clock } = services[0];
    const logins = on(PendingLogins);
    await database.transaction((tx) => logins.setCode(tx, pending, 'a'.repeat(64), clock.secondsFromNow(300)));
    const compared = { ...pending, codeHash: 'a'.repeat(64) };
    await database.transaction((tx) => logins.setCode(tx, pending, 'b'.repeat(64), clock.secondsFromNow(300)));
    expect(await database.transaction((tx) => logins.consume(tx, compared))).toBe(false);
    expect(await database.transaction((tx) => logins.consume(tx, { ...pending, codeHash: 'b'.repeat(64) }))).toBe(true);
    // A consumed pending login accepts no new code.
    expect(
      await database.transaction((tx) => logins.setCode(tx, pending, 'c'.repeat(64), clock.secondsFromNow(300))),
    ).toBe(false);
    expect(await services[0].count('pending_logins', 'user_id = ?', [user.uid])).toBe(1);
  });

  it('opening: 20 parallel first logins of a user leave one row, which belongs to one of them', async () => {
    for (const name of ['first-login', 'first-login-2', 'first-login-3']) {
      const user = await services[0].givenUser(name);
      const opened = await race(20, (n) => on(PendingLogins, n).open(services[n % 2]!.database, user, 'totp', client));
      expect(await services[0].count('pending_logins', 'user_id = ?', [user.uid])).toBe(1);
      const owners = await Promise.all(
        opened.map(({ mfaToken }) => on(PendingLogins).find(user.uid, { mfaToken, ip: '' })),
      );
      expect(owners.filter((found) => found !== undefined)).toHaveLength(1);
    }
  });

  it('opening: nothing of the former pending login applies to the new pending login', async () => {
    const { user, pending } = await givenPending('former');
    await race(5, () => on(PendingLogins).reserveAttempt(pending));
    await on(PendingLogins).open(services[0].database, user, 'email', client);
    expect(await on(PendingLogins).reserveAttempt(pending)).toBe('refused');
    expect(await services[0].database.transaction((tx) => on(PendingLogins).consume(tx, pending))).toBe(false);
    const found = await on(PendingLogins).find(user.uid, { mfaToken: undefined, ip: client.ip });
    expect(found?.pending).toMatchObject({ attempts: 0, channel: 'email', codeHash: null });
  });

  it('time step: one of 16 parallel uses wins, and an earlier step is never accepted afterwards', async () => {
    const { user } = await givenEnrolment('step');
    const use = (step: number, n = 0) =>
      services[n % 2]!.database.transaction((tx) => on(TotpSecrets, n).useStep(tx, user.uid, step));
    expect(won(await race(16, (n) => use(57_000_000, n)))).toBe(1);
    expect(await use(56_999_999)).toBe(false);
    expect(await use(57_000_001)).toBe(true);
    expect((await on(TotpSecrets).find(user.uid))?.lastUsedStep).toBe(57_000_001);
  });

  it('QR code: five of 20 parallel requests get it', async () => {
    const { row } = await givenEnrolment('fetches');
    expect(won(await race(20, (n) => on(TotpSecrets, n).countFetch(row)))).toBe(5);
  });

  it('confirmation: one of 16 parallel calls wins, and the enrolment cannot be used afterwards', async () => {
    const { row } = await givenEnrolment('confirmation');
    const results = await race(16, (n) =>
      services[n % 2]!.database.transaction((tx) => on(TotpSecrets, n).confirm(tx, row, 57_000_000)),
    );
    expect(won(results)).toBe(1);
    expect(await on(TotpSecrets).reserveAttempt(row)).toBe('refused');
    expect(await on(TotpSecrets).countFetch(row)).toBe(false);
  });

  it.each([
    ['disabled', 'UPDATE users SET status = -1 WHERE uid = ?'],
    ['ended', 'UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?'],
    ['another-secret', "UPDATE users SET topt_secret = 'another' WHERE uid = ?"],
  ])('acceptance: fails when the user has changed since the row was read (%s)', async (name, statement) => {
    const user = await again(await services[0].givenUser(name));
    const { database } = services[0];
    expect(await database.transaction((tx) => on(SecondFactor).acceptCode(tx, user))).toBe(true);
    await change(statement, user);
    expect(await database.transaction((tx) => on(SecondFactor).acceptCode(tx, user))).toBe(false);
    expect(await database.transaction((tx) => on(SecondFactor).hold(tx, user))).toBe(false);
    expect(await database.transaction((tx) => on(SecondFactor).activateSecret(tx, user, 'new'))).toBe(false);
  });

  it('activation: one of 8 parallel calls activates its secret', async () => {
    const user = await again(await services[0].givenUser('activation'));
    const results = await race(8, (n) =>
      services[n % 2]!.database.transaction((tx) => on(SecondFactor, n).activateSecret(tx, user, `secret-${n}`)),
    );
    expect(won(results)).toBe(1);
    expect((await again(user)).totpSecret).toBe(`secret-${results.indexOf(true)}`);
  });

  it('a logout waits for the transaction that holds the session, and a session that was logged out cannot be held', async () => {
    const user = await services[0].givenUser('held');
    const { access } = await services[0].session('held');
    const sid = (JSON.parse(Buffer.from(access.split('.')[1]!, 'base64url').toString()) as { sid: string }).sid;
    const order: string[] = [];
    let logout: Promise<unknown> | undefined;
    const held = await services[0].database.transaction(async (tx) => {
      const holds = await on(LiveSessions).hold(tx, sid, user);
      const session = { payload: { sid, sub: user.uid } } as CurrentSession;
      logout = on(TokenRevoker, 1)
        .revokeSession(session, client)
        .then(() => order.push('logout'));
      await waits(tx);
      order.push('transaction ends');
      return holds;
    });
    await logout;
    expect(held).toBe(true);
    expect(order).toEqual(['transaction ends', 'logout']);
    expect(await services[0].database.transaction((tx) => on(LiveSessions).hold(tx, sid, user))).toBe(false);
    expect(await on(LiveSessions).find(sid, user)).toBeUndefined();
  });

  it.each([
    ['a logout', (session: CurrentSession) => on(TokenRevoker, 1).revokeSession(session, client)],
    [
      'a disabling',
      ({ payload }: CurrentSession) =>
        services[0].database.affected('UPDATE users SET status = -1 WHERE uid = ?', [payload.sub]),
    ],
  ])('confirmation: %s between the check of the code and its acceptance wins', async (what, end) => {
    const name = `late-${what.length}`;
    const user = await services[0].givenUser(name);
    const { access } = await services[0].session(name);
    const { secret } = (await services[0].post('/totp-secret', {}, { bearer: access })).body.data as { secret: string };
    const { sid } = JSON.parse(Buffer.from(access.split('.')[1]!, 'base64url').toString()) as { sid: string };
    const session = { payload: { sid, sub: user.uid } } as CurrentSession;
    const enrolment = (await on(OpenEnrolments).find(user.uid, { session, ip: '' }))!;
    const accept = on(EnrolmentConfirmation).by(
      authenticatorCode(secret, services[0].clock.now()),
      enrolment,
      client,
      false,
    )!;
    await end(session);
    await services[0].database.transaction(async (tx) => expect(await accept(tx)).toBeUndefined());
    expect(await on(OpenEnrolments).find(user.uid, { session, ip: '' })).toBeUndefined();
  });

  it('revoking all tokens of a user, as a password change and a disabling do, closes the pending login', async () => {
    const { user, pending } = await givenPending('revoked');
    await services[0].database.transaction((tx) => on(TokenRevoker).revokeAll(tx, user.uid));
    expect(await services[0].count('pending_logins', 'user_id = ? AND is_closed = 1', [user.uid])).toBe(1);
    expect(await on(PendingLogins, 1).reserveAttempt(pending)).toBe('refused');
  });
});
