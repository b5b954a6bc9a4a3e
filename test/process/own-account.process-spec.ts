import { decodeJwt } from 'jose';
import { createConnection } from 'mysql2/promise';
import { tally } from '../support/app';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';

const right = 'Correct-Horse-7';
const next = (n: number | string) => `Another-Horse-7-${n}`;

interface Session {
  readonly access: string;
  readonly refresh: string;
}

const sidOf = ({ access }: Session) => String(decodeJwt(access).sid);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The requests go to two processes in turn, so only the database can keep these guarantees. */
describe.each(['false', 'true'])('the own account over two processes, REFRESH_TOKEN_ROTATION=%s', (rotation) => {
  let replicas: Replicas;
  beforeAll(async () => {
    // On a busy machine a burst waits longer for its hashes than the default allows. These tests do not check the wait.
    replicas = await Replicas.start({ HASH_QUEUE_MAX_WAIT_MS: '60000', REFRESH_TOKEN_ROTATION: rotation });
  });
  afterEach(async () => expect(await replicas.deadlocks()).toEqual([]));
  afterAll(() => replicas.stop());

  let users = 0;
  const given = async () => {
    const name = `owner${++users}`;
    return { uid: await replicas.givenUser(name, { password: right, email: null }), name };
  };
  const logIn = async (name: string, n = 0, typed = right): Promise<Session> => {
    const { status, body } = await replicas.login(name, typed, n);
    if (status !== 200) throw new Error(`the login answered ${body.error_code}`);
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  };
  const change = ({ access }: Session, current: string, password: string, n = 0) =>
    replicas.post(
      '/user/change-password',
      { current_password: current, password, confirm_password: password },
      n,
      bearer(access),
    );
  const confirm = ({ access }: Session, n = 0, password = right) =>
    replicas.post('/user/reauthenticate', { password }, n, bearer(access));
  const remove = (path: string, { access }: Session, n = 0) => replicas.remove(path, n, bearer(access));
  const me = async ({ access }: Session, n = 0) => (await replicas.get('/user/me', n, bearer(access))).status;
  const refresh = ({ refresh: token }: Session, n = 0) => replicas.post('/refresh', {}, n, bearer(token));
  const failures = async (uid: string) =>
    Number((await replicas.rows('SELECT login_failed_count AS n FROM users WHERE uid = ?', [uid]))[0]?.n);

  it('100 parallel wrong current passwords mixed with /login get three guesses in all (T276)', async () => {
    const { uid, name } = await given();
    const session = await logIn(name);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        // Two requests in turn to each process, so that both kinds reach both processes.
        n % 4 < 2 ? change(session, `wrong ${n}`, next(1), n) : replicas.login(name, `wrong ${n}`, n),
      ),
    );
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await failures(uid)).toBe(3);
    expect((await change(session, right, next(1))).body.error_code).toBe('LOGIN_401004');
    expect(await me(session)).toBe(200);
  });

  it('100 parallel guesses at /login of one replica and /user/reauthenticate of the other get three in all (T407)', async () => {
    const { uid, name } = await given();
    const session = await logIn(name);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        n % 2 === 0 ? replicas.login(name, `wrong ${n}`, 0) : confirm(session, 1, `wrong ${n}`),
      ),
    );
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await failures(uid)).toBe(3);
    for (const n of [0, 1]) {
      expect((await confirm(session, n)).body.error_code).toBe('LOGIN_401004');
      expect((await replicas.login(name, right, n)).body.error_code).toBe('LOGIN_401004');
      expect(await me(session, n)).toBe(200);
    }
  });

  it('confirmations beside a logout on the other replica leave no usable token of the session (T406)', async () => {
    const { uid, name } = await given();
    for (let round = 0; round < 8; round++) {
      const session = await logIn(name, round);
      const [left, ...answers] = await Promise.all([
        replicas.post('/logout', {}, round, bearer(session.access)),
        ...Array.from({ length: 4 }, (_, n) => confirm(session, n < 3 ? round + 1 : round)),
      ]);
      expect(left.status).toBe(200);
      const issued = [session];
      for (const { status, body } of answers) {
        if (status === 200) issued.push({ access: body.data.access_token, refresh: body.data.refresh_token });
        else expect(body.error_code).toBe('AUTH_401004');
      }
      for (const n of [0, 1]) {
        for (const one of issued) {
          expect(await me(one, n)).toBe(401);
          expect((await refresh(one, n)).body.error_code).toBe('AUTH_401006');
        }
        expect((await confirm(session, n)).body.error_code).toBe('AUTH_401004');
      }
    }
    const open = await replicas.rows('SELECT jti FROM login_tokens WHERE user_identity = ? AND is_revoked = 0', [uid]);
    expect(open).toEqual([]);
  });

  it('a session that a logout on the other replica ends after its password was compared gets no token (T406)', async () => {
    const third = await createConnection({ uri: replicas.databaseUrl, timezone: 'Z' });
    const waitsForTheRow = async () => {
      const waiting = await replicas.rows(
        "SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE users%'",
      );
      return waiting.length > 0;
    };
    try {
      for (const n of [0, 1]) {
        const { uid, name } = await given();
        const session = await logIn(name, n);
        const before = await replicas.rows('SELECT jti FROM login_tokens WHERE user_identity = ?', [uid]);
        await third.beginTransaction();
        await third.query('SELECT uid FROM users WHERE uid = ? FOR UPDATE', [uid]);
        // The password is right, and its success waits for the row of the user.
        const confirmation = confirm(session, n);
        await eventually(waitsForTheRow, { what: 'the confirmation has reached its UPDATE' });
        expect((await replicas.post('/logout', {}, n + 1, bearer(session.access))).status).toBe(200);
        await third.commit();
        expect((await confirmation).body).toMatchObject({ error_code: 'AUTH_401004' });
        expect(await replicas.rows('SELECT jti FROM login_tokens WHERE user_identity = ?', [uid])).toEqual(before);
        const audited = "SELECT id FROM audit_logs WHERE user_id = ? AND event = 'SESSION_CONFIRMED'";
        expect(await replicas.rows(audited, [uid])).toEqual([]);
      }
    } finally {
      await third.end();
    }
  });

  it('of 12 parallel changes in several sessions exactly one wins, and only its pair is usable afterwards', async () => {
    const { uid, name } = await given();
    for (let round = 0; round < 3; round++) {
      const current = round === 0 ? right : next(round - 1);
      const sessions = await Promise.all([0, 1, 2].map((n) => logIn(name, n, current)));
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) => change(sessions[n % 3]!, current, next(round), n)),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      for (const { status, body } of answers) if (status !== 200) expect(body.error_code).toBe('AUTH_401004');
      const { access_token: access, refresh_token: token } = won[0]!.body.data;
      for (const n of [0, 1]) {
        expect(await me({ access, refresh: token }, n)).toBe(200);
        for (const session of sessions) expect(await me(session, n)).toBe(401);
      }
      const log = await replicas.rows('SELECT type FROM user_change_pwd_logs WHERE user_id = ? AND type = 1', [uid]);
      expect(log).toHaveLength(round + 1);
      const mine = await replicas.rows(
        `SELECT t.jti FROM login_tokens t JOIN users u ON u.uid = t.user_identity
         WHERE u.uid = ? AND t.is_revoked = 0 AND t.credential_version = u.credential_version`,
        [uid],
      );
      expect(mine).toHaveLength(2);
    }
  });

  it.each<[string, (sid: string, own: Session, n: number) => Promise<{ status: number }>]>([
    ['the end of one session', (sid, own, n) => remove(`/user/sessions/${sid}`, own, n)],
    ['the end of all other sessions', (_sid, own, n) => remove('/user/sessions', own, n)],
    ['the own change of the password', (_sid, own, n) => change(own, right, next(users), n)],
  ])('%s while the session refreshes leaves no usable token of it', async (_what, end) => {
    for (let round = 0; round < 5; round++) {
      const { name } = await given();
      const own = await logIn(name, round);
      const lost = await logIn(name, round + 1);
      let latest = lost;
      const issued: Session[] = [lost];
      const refreshes = async (n: number) => {
        for (;;) {
          const { status, body } = await refresh(latest, n);
          if (status !== 200) return body.error_code as string;
          latest = { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
          issued.push(latest);
        }
      };
      // With rotation a second client would be a reuse, so one client refreshes as fast as it can.
      const clients = (rotation === 'true' ? [0] : [0, 1, 2, 3]).map(refreshes);
      const ended = await end(sidOf(lost), own, round);
      expect(ended.status).toBe(200);
      expect(new Set(await Promise.all(clients))).toEqual(new Set(['AUTH_401006']));
      for (const n of [0, 1]) {
        for (const session of issued) {
          expect(await me(session, n)).toBe(401);
          expect((await refresh(session, n)).body.error_code).toBe('AUTH_401006');
        }
      }
    }
  });

  it('a flooded session that both replicas trim keeps its newest tokens, and a log-out beside it ends it', async () => {
    const { name } = await given();
    const lost = await logIn(name);
    const rows = async () =>
      Number((await replicas.rows('SELECT COUNT(*) AS n FROM login_tokens WHERE sid = ?', [sidOf(lost)]))[0]?.n);
    const flood = () =>
      replicas.rows(
        `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
         SELECT UUID(), 'access', t.user_identity, 0, t.expires, t.sid, t.credential_version, t.created_at
         FROM seq_1_to_5000, login_tokens t WHERE t.jti = ?`,
        [sidOf(lost)],
      );
    await flood();
    // With rotation both get the same successor, within the grace period.
    const answers = await Promise.all([0, 1].map((n) => refresh(lost, n)));
    await eventually(async () => (await rows()) <= 1000, { what: 'the rows of the session are few again' });
    expect(await rows()).toBeGreaterThanOrEqual(900);
    const issued = answers.map(({ body }) => ({
      access: body.data.access_token as string,
      refresh: body.data.refresh_token as string,
    }));
    for (const n of [0, 1]) expect(await Promise.all(issued.map((one) => me(one, n)))).toEqual([200, 200]);
    const [newest] = issued as [Session];
    await flood();
    const [, ended] = await Promise.all([
      refresh(newest, 0),
      replicas.post('/logout', {}, 1, bearer(newest.access)),
      refresh(newest, 1),
    ]);
    expect(ended.status).toBe(200);
    for (const n of [0, 1]) {
      expect(await Promise.all(issued.map((one) => me(one, n)))).toEqual([401, 401]);
      expect((await refresh(newest, n)).body.error_code).toBe('AUTH_401006');
    }
  });

  it('of two sessions that end each other at the same time exactly one stays', async () => {
    const { name } = await given();
    for (let round = 0; round < 10; round++) {
      const pair = [await logIn(name, 0), await logIn(name, 1)] as const;
      const path = (other: Session) => (round % 2 === 0 ? `/user/sessions/${sidOf(other)}` : '/user/sessions');
      const answers = await Promise.all([remove(path(pair[1]), pair[0], 0), remove(path(pair[0]), pair[1], 1)]);
      expect(tally(answers)).toEqual({ success: 1, AUTH_401004: 1 });
      const left = await Promise.all(pair.map((session) => me(session)));
      expect(left.map((status, n) => status === 200 && answers[n]!.status === 200).filter(Boolean)).toHaveLength(1);
      expect([...left].sort()).toEqual([200, 401]);
      await remove('/user/sessions', pair[left.indexOf(200)]!);
    }
  });

  it('logouts beside the ends of sessions and a change of the password meet no deadlock, and end their sessions', async () => {
    const { name } = await given();
    let current = right;
    for (let round = 0; round < 6; round++) {
      const sessions = await Promise.all([0, 1, 2, 3].map((n) => logIn(name, n, current)));
      for (const session of sessions) await refresh(session, round);
      const [own, other, third, lost] = sessions as [Session, Session, Session, Session];
      const logout = ({ access }: Session, n: number) => replicas.post('/logout', {}, n, bearer(access));
      const [changed, ...answers] = await Promise.all([
        change(third, current, next(`round ${round}`), 0),
        logout(own, 1),
        remove('/user/sessions', own, 0),
        remove(`/user/sessions/${sidOf(lost)}`, other, 1),
        logout(lost, 0),
        logout(other, 1),
        logout(third, 0),
      ]);
      for (const { status, body } of [changed, ...answers]) {
        if (status !== 200) expect(['AUTH_401004', 'USER_404001']).toContain(body.error_code);
      }
      if (changed.status === 200) {
        current = next(`round ${round}`);
        const { access_token: access, refresh_token: token } = changed.body.data;
        expect(await me({ access, refresh: token })).toBe(200);
      }
      for (const session of sessions) expect(await me(session, round)).toBe(401);
    }
  });

  it('of 20 parallel ends of one session one is answered with success, the others with USER_404001', async () => {
    const { uid, name } = await given();
    const [own, lost] = [await logIn(name), await logIn(name)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => remove(`/user/sessions/${sidOf(lost)}`, own, n)),
    );
    expect(tally(answers)).toEqual({ success: 1, USER_404001: 19 });
    const rows = await replicas.rows("SELECT id FROM audit_logs WHERE user_id = ? AND event = 'SESSION_CLOSED'", [uid]);
    expect(rows).toHaveLength(1);
  });

  it('`user sessions` prints the sessions that have not ended, as the owner sees them', async () => {
    const { uid, name } = await given();
    const [first, second, ended] = [await logIn(name), await logIn(name), await logIn(name)];
    await remove(`/user/sessions/${sidOf(ended)}`, first);
    const listed = (await replicas.get('/user/sessions', 1, bearer(second.access))).body.data.sessions as {
      sid: string;
      current: boolean;
    }[];
    const printed = (await replicas.cli('user', 'sessions', name)) as { sid: string }[];
    expect(printed).toEqual(listed.map((session) => ({ ...session, current: undefined })));
    expect(printed.map(({ sid }) => sid).sort()).toEqual([first, second].map(sidOf).sort());
    expect(await replicas.cli('user', 'sessions', uid)).toEqual(printed);
    expect(await replicas.run(['user', 'sessions', 'nobody'])).toMatchObject({ code: 1, answer: undefined });
  });
});
