import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, tally } from '../support/app';
import { Replicas } from '../support/replicas';
import { codeOf, goodPassword } from '../support/reset';

/**
 * The requests go to two processes in turn, so only the database can keep these guarantees. After each test the database
 * must not have had a deadlock.
 */
describe('password reset over two processes on MariaDB', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await Replicas.start();
  });
  afterAll(() => replicas.stop());
  afterEach(async () => expect(await replicas.deadlocks()).toEqual([]));

  let users = 0;
  const givenUser = async () => {
    const name = `user${++users}`;
    const email = `${name}@example.com`;
    return { name, email, uid: await replicas.givenUser(name, { password: goodPassword('old'), email }) };
  };

  /** Creates a link for the current credentials of the user, like a mailed link. */
  const givenLink = async (uid: string, type = 2) => {
    const token = randomUUID();
    await replicas.rows(
      `INSERT INTO user_change_password_request
         (uid, token_hash, user_id, type, status, credential_version, expired, created_at)
       SELECT ?, ?, uid, ?, 0, credential_version, UTC_TIMESTAMP(3) + INTERVAL 30 MINUTE, UTC_TIMESTAMP(3)
       FROM users WHERE uid = ?`,
      [randomUUID(), createHash('sha256').update(token).digest('hex'), type, uid],
    );
    return token;
  };

  const ask = (email: string, n: number) => replicas.post('/forget-password', { email }, n);
  const submit = (token: string, password: string, n: number) =>
    replicas.post('/user/change-pwd-by-req', { req_uid: token, password, confirm_password: password }, n);
  const times = <T>(count: number, run: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const mails = async (kind: string) =>
    (await replicas.rows('SELECT COUNT(*) AS n FROM mail_outbox WHERE kind = ?', [kind]))[0]?.n as number;
  const pending = async (uid: string) =>
    (
      await replicas.rows(
        `SELECT r.type FROM user_change_password_request r JOIN users u ON u.uid = r.user_id
         WHERE u.uid = ? AND r.status = 0 AND r.credential_version = u.credential_version`,
        [uid],
      )
    ).map(({ type }) => type as number);

  it('of 20 parallel /forget-password requests one stores a request and a mail, and 19 are answered with AUTH_429002 (T124)', async () => {
    const { email, uid } = await givenUserQuickly();
    const before = await mails('reset-link');
    const answers = await times(20, (n) => ask(email, n));
    expect(tally(answers)).toEqual({ success: 1, AUTH_429002: 19 });
    expect(
      await replicas.rows('SELECT type, status FROM user_change_password_request WHERE user_id = ?', [uid]),
    ).toEqual([{ type: 2, status: 0 }]);
    expect((await mails('reset-link')) - before).toBe(1);
    expect(
      await replicas.rows('SELECT event FROM audit_logs WHERE event = ? AND user_id = ?', ['USER_RESET_PASSWORD', uid]),
    ).toHaveLength(1);
    for (const { body, headers } of answers.filter(({ status }) => status === 429)) {
      expect(body.data.retry_after).toBeGreaterThanOrEqual(200);
      expect(body.data.retry_after).toBeLessThanOrEqual(300);
      expect(headers['retry-after']).toBe(String(body.data.retry_after));
    }
  });

  it('after the throttle 20 parallel requests replace the old link by one new link', async () => {
    const { email, uid } = await givenUserQuickly();
    for (let round = 0; round < 5; round++) {
      await replicas.rows(`UPDATE cooldowns SET until = '2000-01-01' WHERE subject = ?`, [uid]);
      expect(tally(await times(20, (n) => ask(email, n)))).toEqual({ success: 1, AUTH_429002: 19 });
      expect(await pending(uid)).toEqual([2]);
    }
    expect(await replicas.rows('SELECT uid FROM user_change_password_request WHERE user_id = ?', [uid])).toHaveLength(
      5,
    );
  });

  it('of 30 parallel submits of one link with different passwords one wins, and only its password works (T122, T123)', async () => {
    const { name, uid } = await givenUserQuickly();
    const token = await givenLink(uid);
    const answers = await times(30, (n) => submit(token, goodPassword(n), n));
    expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 29 });
    const winner = answers.findIndex(({ status }) => status === 200);
    const log = await replicas.rows('SELECT type, password FROM user_change_pwd_logs WHERE user_id = ? ORDER BY id', [
      uid,
    ]);
    expect(log.map(({ type }) => type as number)).toEqual([2]);
    expect(await replicas.rows('SELECT password FROM users WHERE uid = ?', [uid])).toEqual([
      { password: log[0]?.password },
    ]);
    for (let n = 0; n < 30; n++) {
      await replicas.rows('UPDATE users SET login_failed_count = 0, last_login_failed_time = NULL WHERE uid = ?', [
        uid,
      ]);
      expect([n, (await replicas.login(name, goodPassword(n), n)).status]).toEqual([n, n === winner ? 200 : 401]);
    }
    expect((await replicas.login(name, goodPassword('old'))).status).toBe(401);
  });

  it('of 50 parallel submits of one link with the same password one wins (T123)', async () => {
    const { uid } = await givenUserQuickly();
    const token = await givenLink(uid);
    expect(tally(await times(50, (n) => submit(token, goodPassword(1), n)))).toEqual({ success: 1, AUTH_401007: 49 });
  });

  it('of parallel submits of links of all three types one wins and makes the others invalid', async () => {
    for (let round = 0; round < 10; round++) {
      const { uid } = await givenUserQuickly();
      const tokens = [await givenLink(uid, 0), await givenLink(uid, 2), await givenLink(uid, 3)];
      const answers = await times(9, (n) => submit(tokens[n % 3]!, goodPassword(n), n));
      expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 8 });
      expect(await pending(uid)).toEqual([]);
      expect(await replicas.rows('SELECT id FROM user_change_pwd_logs WHERE user_id = ?', [uid])).toHaveLength(1);
    }
  });

  /**
   * The gate row of the user serialises the request and the submit. If the request is first, it replaces the old link,
   * and the submit gets AUTH_401007. If the submit is first, it uses the old link, and the request is made under the
   * new credentials.
   */
  it('a new request in parallel with a submit of the old link leaves one usable link, whichever is first', async () => {
    const outcomes: Record<string, number> = {};
    // A request that came first is sent later in the next round, otherwise earlier. So the two overlap in most rounds.
    let delayMs = 5;
    for (let round = 0; round < 40; round++) {
      const { email, uid } = await givenUserQuickly();
      const token = await givenLink(uid);
      const [asked, submitted] = await Promise.all([
        pause(delayMs).then(() => ask(email, round)),
        submit(token, goodPassword(1), round + 1),
      ]);
      delayMs = codeOf(submitted) === 'success' ? delayMs / 1.5 : delayMs * 1.5 + 1;
      expect(codeOf(asked)).toBe('success');
      expect(['success', 'AUTH_401007']).toContain(codeOf(submitted));
      expect(await pending(uid)).toEqual([2]);
      expect(codeOf(await replicas.get(`/user/change-pwd-req/${token}`))).toBe('AUTH_401007');
      outcomes[codeOf(submitted)] = (outcomes[codeOf(submitted)] ?? 0) + 1;
    }
    // Both orders must have occurred.
    expect(Object.keys(outcomes).sort()).toEqual(['AUTH_401007', 'success']);
  });

  it('a new request in parallel with a submit of a link of another type leaves at most one link', async () => {
    for (let round = 0; round < 40; round++) {
      const { email, uid } = await givenUserQuickly();
      const token = await givenLink(uid, 3);
      const [asked, submitted] = await Promise.all([
        pause(round % 10).then(() => ask(email, round)),
        submit(token, goodPassword(1), round + 1),
      ]);
      expect([codeOf(asked), codeOf(submitted)]).toEqual(['success', 'success']);
      expect((await pending(uid)).length).toBeLessThanOrEqual(1);
    }
  });

  it('parallel logins, refreshes, requests and submits of one user cause one change and no 5xx', async () => {
    const { name, email, uid } = await givenUser();
    const session = (await replicas.login(name, goodPassword('old'))).body.data as Record<string, string>;
    const token = await givenLink(uid, 3);
    const bearer = { authorization: `Bearer ${session.refresh_token}` };
    const answers = await times(40, (n) =>
      [
        () => submit(token, goodPassword(n), n),
        () => ask(email, n),
        () => replicas.login(name, goodPassword('old'), n),
        () => replicas.post('/refresh', {}, n, bearer),
      ][n % 4]!(),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const submits = answers.filter((_answer, n) => n % 4 === 0);
    expect(tally(submits)).toEqual({ success: 1, AUTH_401007: 9 });
    expect((await pending(uid)).length).toBeLessThanOrEqual(1);
    const live = await replicas.rows(
      `SELECT t.jti FROM login_tokens t JOIN users u ON u.uid = t.user_identity
       WHERE u.uid = ? AND t.is_revoked = 0 AND t.credential_version = u.credential_version`,
      [uid],
    );
    expect(live).toEqual([]);
  });

  it('logouts in parallel with a password change are all answered, and no valid token is left', async () => {
    const { name, uid } = await givenUserQuickly();
    for (let round = 0; round < 40; round++) {
      const current = goodPassword(round === 0 ? 'old' : round - 1);
      const sessions = await times(4, (n) => replicas.login(name, current, n));
      const token = await givenLink(uid);
      const logOut = async ({ body }: Answer, n: number) => {
        await pause(6 + 2 * (round % 8));
        return replicas.post('/logout', {}, n, { authorization: `Bearer ${body.data.refresh_token}` });
      };
      const [submitted, ...ended] = await Promise.all([
        submit(token, goodPassword(round), round),
        ...sessions.map(logOut),
      ]);
      expect(codeOf(submitted)).toBe('success');
      // A logout after the change finds its session revoked.
      for (const answer of ended) expect(['success', 'AUTH_401004']).toContain(codeOf(answer));
    }
    expect(
      await replicas.rows('SELECT jti FROM login_tokens WHERE user_identity = ? AND is_revoked = 0', [uid]),
    ).toEqual([]);
  });

  const template = { uid: '' };
  /** Copies one user by SQL, because the command line needs a second to start. */
  async function givenUserQuickly() {
    if (template.uid === '') template.uid = (await givenUser()).uid;
    const [uid, name] = [randomUUID(), `copy${++users}`];
    await replicas.rows(
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, status, tenant_id, created_at)
       SELECT ?, ?, ?, ?, ?, password, salt, status, tenant_id, created_at FROM users WHERE uid = ?`,
      [uid, name, name, `${name}@example.com`, `${name}@example.com`, template.uid],
    );
    return { uid, name, email: `${name}@example.com` };
  }
});
