import { decodeJwt } from 'jose';
import { password, tally, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { MfaClient, mailsStay, pairOf } from '../support/mfa';
import { codeOf, goodPassword } from '../support/reset';

interface Session {
  readonly access: string;
  readonly refresh: string;
}

/** Parallel requests go to two replicas in turn. SQLite deployments have one replica. */
describe('races at POST /user/reauthenticate', () => {
  let services: [TestService, TestService];
  let mfa: MfaClient;
  beforeAll(async () => {
    const clock = new FakeClock();
    // A burst on a busy machine waits longer for its hashes than the default allows.
    const settings = {
      ...mailsStay,
      ...{ MFA_REQUIRED: 'false', REFRESH_TOKEN_ROTATION: 'true', RATE_LIMIT: 'off', HASH_QUEUE_MAX_WAIT_MS: '60000' },
    };
    const first = await TestService.start(settings, { clock });
    const second = __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, { clock, store: first.store });
    services = [first, second];
    mfa = new MfaClient(first);
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const at = (n: number): TestService => services[n % 2]!;
  let users = 0;
  const given = async () => {
    const name = `racer${++users}`;
    const user = await services[0].givenUser(name);
    return { user, name, session: (await services[0].session(name)) as Session };
  };
  const confirm = ({ access: bearer }: Session, n = 0, body: Record<string, unknown> = {}) =>
    at(n).post('/user/reauthenticate', { password, ...body }, { bearer });
  const refresh = (bearer: string, n = 0) => at(n).post('/refresh', undefined, { bearer });
  const me = async (bearer: string) => codeOf(await services[0].get('/user/me', { bearer }));
  const audited = (uid: string, event: string) =>
    services[0].count('audit_logs', 'user_id = ? AND event = ?', [uid, event]);
  const endings: [string, (session: Session) => Promise<unknown>][] = [
    ['a logout', ({ access: bearer }) => at(1).post('/logout', undefined, { bearer })],
    [
      'a change of the password',
      ({ access: bearer }) => {
        const next = goodPassword(1);
        const body = { current_password: password, password: next, confirm_password: next };
        return at(1).post('/user/change-password', body, { bearer });
      },
    ],
  ];

  it.each(endings)('%s beside it leaves no usable token of the session (T406)', async (_what, end) => {
    for (let round = 0; round < 6; round++) {
      const { session } = await given();
      const [answer, other] = await Promise.all([confirm(session, 0), confirm(session, 1), end(session)]);
      for (const { status, body } of [answer, other]) {
        if (status !== 200) continue;
        expect(await me(body.data.access_token as string)).toBe('AUTH_401004');
        expect(codeOf(await refresh(body.data.refresh_token as string))).toBe('AUTH_401006');
      }
      expect(await me(session.access)).toBe('AUTH_401004');
    }
  });

  it('a session that ends after the password was compared gets no token (T406)', async () => {
    const { user, session } = await given();
    const before = await services[0].count('login_tokens', 'user_identity = ?', [user.uid]);
    const { database } = services[0];
    const transaction = database.transaction.bind(database);
    const spy = jest.spyOn(database, 'transaction').mockImplementation(async (work) => {
      spy.mockRestore();
      await at(1).post('/logout', undefined, { bearer: session.access });
      return transaction(work);
    });
    expect(codeOf(await confirm(session))).toBe('AUTH_401004');
    expect(await services[0].count('login_tokens', 'user_identity = ?', [user.uid])).toBe(before);
    expect(await audited(user.uid, 'SESSION_CONFIRMED')).toBe(0);
  });

  it('refreshes of other tabs beside it end no session as a reuse, and all lead to one refresh token', async () => {
    for (let round = 0; round < 6; round++) {
      const { user, session } = await given();
      const [own, ...tabs] = await Promise.all([
        confirm(session, round),
        ...Array.from({ length: 6 }, (_, n) => refresh(session.refresh, n)),
      ]);
      expect(tally([own, ...tabs])).toEqual({ success: 7 });
      expect(await audited(user.uid, 'REFRESH_TOKEN_REUSED')).toBe(0);
      // Within the grace period each of them leads to the token that is in use.
      const last = decodeJwt(pairOf(own).refresh).jti;
      for (const tab of tabs) {
        const { refresh: token } = pairOf(tab);
        if (decodeJwt(token).jti !== last) expect(decodeJwt(pairOf(await refresh(token)).refresh).jti).toBe(last);
      }
      expect(codeOf(await refresh(pairOf(own).refresh))).toBe('success');
      expect(await audited(user.uid, 'REFRESH_TOKEN_REUSED')).toBe(0);
    }
  });

  it('of parallel confirmations each gets a pair, and one refresh token is in use after them', async () => {
    const { user, session } = await given();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => confirm(session, n)));
    expect(tally(answers)).toEqual({ success: 8 });
    const open = "user_identity = ? AND token_type = 'refresh' AND successor_jti IS NULL";
    expect(await services[0].count('login_tokens', open, [user.uid])).toBe(1);
    for (const answer of answers) expect(await me(pairOf(answer).access)).toBe('success');
  });

  it('100 parallel guesses here and at /login get three guesses in all (T407)', async () => {
    const { user, name, session } = await given();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const guess = `wrong ${n}`;
        return n % 4 < 2 ? confirm(session, n, { password: guess }) : at(n).login(name, guess);
      }),
    );
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect((await services[0].userRow(user.uid)).login_failed_count).toBe(3);
  });

  it('of 20 parallel codes for one pending confirmation one gets a pair', async () => {
    const { user, session } = await given();
    const { data } = (await confirm(session, 0, { second_factor: true })).body;
    const code = await mfa.lastCode(user);
    const body = { uid: user.uid, type: 'email', code, mfa_token: data.mfa_token as string };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => at(n).post('/otp-verify', body)));
    expect(tally(answers)).toEqual({ success: 1, MFA_401001: 19 });
    expect(await audited(user.uid, 'SESSION_CONFIRMED')).toBe(1);
  });

  it('a logout beside the code leaves no usable token of the session (T406)', async () => {
    for (let round = 0; round < 6; round++) {
      const { user, session } = await given();
      const { data } = (await confirm(session, 0, { second_factor: true })).body;
      const code = await mfa.lastCode(user);
      const body = { uid: user.uid, type: 'email', code, mfa_token: data.mfa_token as string };
      const [answer] = await Promise.all([
        at(0).post('/otp-verify', body),
        at(1).post('/logout', undefined, { bearer: session.access }),
      ]);
      if (answer.status === 200) expect(await me(answer.body.data.access_token as string)).toBe('AUTH_401004');
      else expect(codeOf(answer)).toBe('MFA_401001');
      expect(await me(session.access)).toBe('AUTH_401004');
    }
  });
});
