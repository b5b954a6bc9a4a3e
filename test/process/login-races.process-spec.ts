import { decodeJwt } from 'jose';
import { createConnection } from 'mysql2/promise';
import { tally } from '../support/app';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';

const right = 'Correct-Horse-7';

const inactive: [state: string, change: string, code: string][] = [
  ['disabled', 'status = -1', 'LOGIN_401011'],
  ['not enabled', 'status = 0', 'LOGIN_401012'],
  ['expired', 'status = -2', 'LOGIN_401012'],
  ['dormant', "created_at = '2020-01-01'", 'LOGIN_401008'],
];

/** The requests go to two processes in turn, so only the database can keep these guarantees. */
describe('bursts of logins over two processes on MariaDB', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    // On a busy machine a burst waits longer for its hashes than the default allows. These tests do not check the wait.
    replicas = await Replicas.start({ HASH_QUEUE_MAX_WAIT_MS: '60000' });
  });
  afterAll(() => replicas.stop());

  const givenUser = (name: string) => replicas.givenUser(name, { password: right, email: null });
  const burst = (name: string, passwords: string[]) =>
    Promise.all(passwords.map((typed, n) => replicas.login(name, typed, n)));
  const counter = async (uid: string) =>
    (await replicas.rows('SELECT login_failed_count AS n FROM users WHERE uid = ?', [uid]))[0]?.n as number;
  /** Whether a login has reached its guarded UPDATE and waits there for the lock of the row. */
  const waitsForTheRow = async () => {
    const statements = await replicas.rows(
      "SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE users%'",
    );
    return statements.length > 0;
  };

  it('T025 of 100 parallel wrong passwords exactly 3 get LOGIN_401001, 97 get LOGIN_401004, and the counter is 3', async () => {
    const uid = await givenUser('t025');
    expect(tally(await burst('t025', Array<string>(100).fill('wrong')))).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await counter(uid)).toBe(3);
  });

  it('of 100 parallel wrong passwords for one account, typed as its name and its address in any case, exactly 3 are judged', async () => {
    const uid = await replicas.givenUser('two-names', { password: right, email: 'two-names@example.com' });
    const spellings = ['two-names', 'two-names@example.com', 'TWO-NAMES', 'Two-Names@Example.com'];
    const typed = Array.from({ length: 100 }, (_, n) => spellings[(n >> 1) % spellings.length]!);
    const answers = await Promise.all(typed.map((name, n) => replicas.login(name, 'wrong', n)));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await counter(uid)).toBe(3);
    for (const name of spellings) expect((await replicas.login(name, right)).body.error_code).toBe('LOGIN_401004');
    const logged = await replicas.rows('SELECT DISTINCT login_name FROM login_logs WHERE user_id = ?', [uid]);
    expect(logged).toEqual([{ login_name: 'two-names' }]);
  });

  it('T027 50 parallel logins with the right password all succeed', async () => {
    const uid = await givenUser('t027');
    expect(tally(await burst('t027', Array<string>(50).fill(right)))).toEqual({ success: 50 });
    expect(await replicas.rows('SELECT jti FROM login_tokens WHERE user_identity = ?', [uid])).toHaveLength(100);
  });

  it('T029 of 2 parallel wrong passwords at counter 2, one is counted and one gets LOGIN_401004', async () => {
    const uid = await givenUser('t029');
    await replicas.rows(
      'UPDATE users SET login_failed_count = 2, last_login_failed_time = UTC_TIMESTAMP(3) WHERE uid = ?',
      [uid],
    );
    expect(tally(await burst('t029', ['wrong', 'wrong']))).toEqual({ LOGIN_401001: 1, LOGIN_401004: 1 });
    expect(await counter(uid)).toBe(3);
  });

  /**
   * One password of 100 is right, so three guesses in a row find it in 3 % of the bursts. With an unguarded success
   * write 99 % of the bursts find it (measured). At 3 %, 20 bursts exceed the bound below once in ten million runs.
   */
  it('a burst of 100 passwords with one right one succeeds no more often than three guesses in a row would', async () => {
    const uid = await givenUser('lottery');
    let admitted = 0;
    for (let round = 0; round < 20; round++) {
      await replicas.rows('UPDATE users SET login_failed_count = 0, last_login_failed_time = NULL WHERE uid = ?', [
        uid,
      ]);
      const passwords = Array<string>(100).fill('wrong');
      passwords[(round * 37) % 100] = right;
      const answers = await burst('lottery', passwords);
      const { success = 0, LOGIN_401001: judged = 0 } = tally(answers);
      admitted += success;
      expect(judged).toBeLessThanOrEqual(success === 1 ? 5 : 3);
    }
    expect(admitted).toBeLessThanOrEqual(7);
  });

  /**
   * The service checks the lock again before it answers with the code of an account status, even when the login found
   * the account open (docs/spec/decisions.md#lock). A transaction holds the row, like a third process that counts three
   * failures. A login that did not wait for the row would be answered while this transaction is still open.
   */
  it.each(inactive)('%s: a right password that is recorded after the lock gets LOGIN_401004', async (state, change) => {
    const uid = await givenUser(`late ${state}`);
    await replicas.rows(`UPDATE users SET ${change} WHERE uid = ?`, [uid]);
    const third = await createConnection({ uri: replicas.databaseUrl, timezone: 'Z' });
    const count = (failures: number) =>
      third.query('UPDATE users SET login_failed_count = ?, last_login_failed_time = UTC_TIMESTAMP(3) WHERE uid = ?', [
        failures,
        uid,
      ]);
    try {
      for (const n of [0, 1]) {
        await count(0);
        await third.beginTransaction();
        await count(2);
        let answered = false;
        const login = replicas.login(`late ${state}`, right, n).finally(() => (answered = true));
        await eventually(async () => answered || waitsForTheRow(), { what: 'the login has reached its UPDATE' });
        await count(3);
        await third.commit();
        expect((await login).body.error_code).toBe('LOGIN_401004');
      }
    } finally {
      await third.end();
    }
  });

  it.each(inactive)(
    '%s: of 40 parallel passwords 3 wrong ones get LOGIN_401001 and are counted',
    async (state, change, code) => {
      const uid = await givenUser(`forty ${state}`);
      await replicas.rows(`UPDATE users SET ${change} WHERE uid = ?`, [uid]);
      const passwords = Array<string>(40).fill('wrong');
      passwords[20] = right;
      const [rightAnswer, ...others] = await burst(`forty ${state}`, passwords).then((all) => [
        all[20]!,
        ...all.toSpliced(20, 1),
      ]);
      expect(tally(others)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 36 });
      expect([code, 'LOGIN_401004']).toContain(rightAnswer?.body.error_code);
      expect(await counter(uid)).toBe(3);
    },
  );

  it('T147 a logout on one process ends the session on the other one at the next request', async () => {
    await givenUser('t147');
    const { access_token: access, refresh_token: refresh } = (await replicas.login('t147', right, 0)).body.data;
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect((await replicas.get('/user/me', 1, bearer(access))).status).toBe(200);
    expect((await replicas.post('/logout', {}, 0, bearer(access))).status).toBe(200);
    expect((await replicas.get('/user/me', 1, bearer(access))).body.error_code).toBe('AUTH_401004');
    expect((await replicas.post('/refresh', {}, 1, bearer(refresh))).body.error_code).toBe('AUTH_401006');
  });

  it.each([
    [
      'a logout',
      (_name: string, access: string) => replicas.post('/logout', {}, 0, { authorization: `Bearer ${access}` }),
    ],
    ['a revoke-tokens command', (name: string) => replicas.cli('user', 'revoke-tokens', name)],
    ['a disabling', (name: string) => replicas.cli('user', 'set-status', name, '-1')],
    ['a new password', (name: string) => replicas.cli('user', 'set-password', name, '--password', 'Another-Horse-8')],
  ])(
    'refreshes in parallel with %s leave no usable token on either process, even after enabling the account',
    async (what, end) => {
      const name = `beside ${what}`;
      await givenUser(name);
      const { access_token: access, refresh_token: refresh } = (await replicas.login(name, right)).body.data;
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
      const issued: string[] = [access];
      let ended = false;
      const refreshing = Array.from({ length: 8 }, async (_, n) => {
        while (!ended || issued.length < 20) {
          const { body } = await replicas.post('/refresh', {}, n, bearer(refresh));
          if (body.data === undefined) return;
          issued.push(body.data.access_token as string);
        }
      });
      await end(name, access);
      ended = true;
      await Promise.all(refreshing);
      await replicas.cli('user', 'set-status', name, '1');
      expect(new Set(issued.map((token) => decodeJwt(token).jti)).size).toBe(issued.length);
      for (const n of [0, 1]) {
        // In groups: on a busy machine hundreds of requests at once are refused for overload.
        for (let i = 0; i < issued.length; i += 20) {
          const group = issued.slice(i, i + 20);
          const uses = await Promise.all(group.map((token) => replicas.get('/user/me', n, bearer(token))));
          // A session keeps its 1,000 newest rows. A token without a row is unknown (AUTH_401001).
          const isKept = issued.length - i <= 900;
          const codes = uses.map(({ body }) => body.error_code as string);
          expect(codes.filter((code) => code !== 'AUTH_401004' && (isKept || code !== 'AUTH_401001'))).toEqual([]);
        }
        expect((await replicas.post('/refresh', {}, n, bearer(refresh))).body.error_code).toBe('AUTH_401006');
      }
    },
  );

  it('no statement of these tests ended in a deadlock', async () => {
    expect(await replicas.deadlocks()).toEqual([]);
  });
});

describe('rotation over two processes', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    // The grace is longer than 50 parallel requests take on a busy machine.
    replicas = await Replicas.start({ REFRESH_TOKEN_ROTATION: 'true', REFRESH_REUSE_GRACE_SECONDS: '60' });
  });
  afterAll(() => replicas.stop());

  const givenUser = (name: string) => replicas.givenUser(name, { password: right, email: null });
  const session = async (name: string) => {
    const { access_token, refresh_token } = (await replicas.login(name, right)).body.data;
    return { access: access_token as string, refresh: refresh_token as string };
  };
  const refresh = (token: string, n: number) => replicas.post('/refresh', { refresh_token: token }, n);
  const reuses = async (uid: string) =>
    (await replicas.rows("SELECT id FROM audit_logs WHERE event = 'REFRESH_TOKEN_REUSED' AND user_id = ?", [uid]))
      .length;

  it('T166 50 parallel uses of one refresh token all get the same successor', async () => {
    await givenUser('rotating');
    const parent = (await session('rotating')).refresh;
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => refresh(parent, n)));
    expect(tally(answers)).toEqual({ success: 50 });
    expect(new Set(answers.map(({ body }) => decodeJwt(body.data.refresh_token as string).jti)).size).toBe(1);
  });

  it('a logout in parallel with refreshes ends the session and is not taken for a reuse, in 60 rounds', async () => {
    const uid = await givenUser('leaving');
    for (let round = 0; round < 60; round++) {
      const { access, refresh: token } = await session('leaving');
      const logout = replicas.post('/logout', {}, round, { authorization: `Bearer ${access}` });
      const [left, ...refreshed] = await Promise.all([logout, refresh(token, 0), refresh(token, 1)]);
      expect(left.status).toBe(200);
      const { success = 0, AUTH_401006: refused = 0 } = tally(refreshed);
      expect(success + refused).toBe(2);
      expect((await refresh(token, round)).body.error_code).toBe('AUTH_401006');
    }
    expect(await reuses(uid)).toBe(0);
  });

  it('a real reuse is detected on whichever process it arrives', async () => {
    const uid = await givenUser('robbed');
    const first = (await session('robbed')).refresh;
    const second = (await refresh(first, 0)).body.data.refresh_token as string;
    const third = (await refresh(second, 1)).body.data.refresh_token as string;
    expect((await refresh(first, 0)).body.error_code).toBe('AUTH_401006');
    expect(await reuses(uid)).toBe(1);
    expect((await refresh(third, 1)).body.error_code).toBe('AUTH_401006');
  });

  it('no statement of these tests ended in a deadlock', async () => {
    expect(await replicas.deadlocks()).toEqual([]);
  });
});
