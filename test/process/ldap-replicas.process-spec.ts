import { tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapSettings } from '../support/ldap';
import { repeatedWhileOverloaded } from '../support/overload';
import { Replicas } from '../support/replicas';
import { OpenLdap } from '../support/servers/openldap';
import { captchaToken } from '../support/settings';

describe('two replicas and one directory', () => {
  let directory: OpenLdap;
  let replicas: Replicas;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    replicas = await Replicas.start(
      ldapSettings(directory, {
        LDAP_JIT_PROVISIONING: 'true',
        LDAP_SEARCH_FILTER: '(|(uid={{username}})(mail={{username}}))',
      }),
    );
  });

  afterAll(async () => {
    await replicas?.stop();
    await directory?.stop();
  });

  /** Logins of a test that reached their time limit of 4.4 s. The directory may have judged their guess nevertheless. */
  let late = 0;
  beforeEach(() => void (late = 0));

  const login = (username: string, password: string, n: number) =>
    repeatedWhileOverloaded(async () => {
      const body = { username, password, provider: 'ldap', captcha_token: captchaToken };
      const answer = await replicas.post('/login', body, n);
      if (answer.body?.error_code === 'LOGIN_503001') late++;
      return answer;
    }, 'LOGIN_503001');

  it('of 100 parallel wrong passwords three are LOGIN_401001, after at most six binds (T185, W20)', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    expect((await login(name, directoryPassword, 0)).status).toBe(200);
    const before = await directory.bindCount(dn);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(name, 'wrong', n)));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    // Each replica admits as many guesses as are left before the lock. It does not see those under way at the other.
    expect((await directory.bindCount(dn)) - before).toBeLessThanOrEqual(6 + late);
  });

  it('of 100 parallel wrong passwords for a name without an account three are LOGIN_401001, after at most six binds', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(name, 'wrong', n)));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await directory.bindCount(dn)).toBeLessThanOrEqual(6 + late);
  });

  it('20 parallel first logins at both replicas make one account, and all succeed', async () => {
    for (let round = 0; round < 5; round++) {
      const name = freshName();
      await givenPerson(directory, name);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => login(name, directoryPassword, n)));
      expect(tally(answers)).toEqual({ success: 20 });
      expect(await replicas.rows('SELECT uid FROM users WHERE login_name = ?', [name])).toHaveLength(1);
    }
    expect(await replicas.deadlocks()).toEqual([]);
  });

  it('20 parallel first logins at both replicas under two names make one account, and all succeed', async () => {
    for (let round = 0; round < 5; round++) {
      const name = freshName();
      await givenPerson(directory, name);
      const names = [name, `${name}@example.test`];
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => login(names[(n >> 1) % 2]!, directoryPassword, n)),
      );
      expect(tally(answers)).toEqual({ success: 20 });
      expect(await replicas.rows('SELECT uid FROM users WHERE login_name LIKE ?', [`${name}%`])).toHaveLength(1);
    }
    expect(await replicas.deadlocks()).toEqual([]);
  });

  it('20 parallel logins at both replicas under two names bind an existing account once, and all succeed', async () => {
    for (let round = 0; round < 5; round++) {
      const name = freshName();
      await givenPerson(directory, name);
      const names = [name, `${name}@example.test`];
      expect((await login(name, directoryPassword, 0)).status).toBe(200);
      await replicas.rows('UPDATE users SET directory_id = NULL WHERE login_name = ?', [name]);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => login(names[(n >> 1) % 2]!, directoryPassword, n)),
      );
      expect(tally(answers)).toEqual({ success: 20 });
      const bound = `SELECT a.id FROM audit_logs a JOIN users u ON u.uid = a.user_id
        WHERE a.event = 'USER_DIRECTORY_BOUND' AND u.login_name = ? AND u.directory_id IS NOT NULL`;
      expect(await replicas.rows(bound, [name])).toHaveLength(1);
    }
    expect(await replicas.deadlocks()).toEqual([]);
  });

  it('a renamed colleague and a newcomer with the former name sign in at both replicas at once: all succeed, two accounts (T306)', async () => {
    for (let round = 0; round < 5; round++) {
      const name = freshName();
      const married = `${name}-married`;
      await givenPerson(directory, name);
      const colleague = (await login(name, directoryPassword, 0)).body.data.user_info.uid as string;
      await directory.renameUser(name, married);
      await directory.changeUser(married, 'mail', `${married}@example.test`);
      await givenPerson(directory, name);
      const names = [name, married];
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => login(names[(n >> 1) % 2]!, directoryPassword, n)),
      );
      expect(tally(answers)).toEqual({ success: 20 });
      const uids = answers.map(({ body }) => body.data.user_info.uid as string);
      expect(new Set(uids).size).toBe(2);
      expect(new Set(uids.filter((_, n) => (n >> 1) % 2 === 1))).toEqual(new Set([colleague]));
      expect(await replicas.rows('SELECT uid FROM users WHERE login_name IN (?, ?)', names)).toHaveLength(2);
    }
    expect(await replicas.deadlocks()).toEqual([]);
  });

  it('of 100 parallel wrong passwords under two names three are LOGIN_401001, after at most six binds', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    expect((await login(name, directoryPassword, 0)).status).toBe(200);
    const before = await directory.bindCount(dn);
    const names = [name, `${name}@example.test`];
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(names[(n >> 1) % 2]!, 'wrong', n)));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect((await directory.bindCount(dn)) - before).toBeLessThanOrEqual(6 + late);
  });

  describe('refreshes of one user at both replicas', () => {
    /** Six sessions whose last look is `seconds` ago. */
    async function givenSessions(seconds: number) {
      const name = freshName();
      await givenPerson(directory, name);
      const tokens: string[] = [];
      for (let n = 0; n < 6; n++) {
        tokens.push((await login(name, directoryPassword, n)).body.data.refresh_token as string);
      }
      const past = new Date(Date.now() - seconds * 1000);
      await replicas.rows('UPDATE users SET last_login_success_time = ?, created_at = ? WHERE login_name = ?', [
        past,
        past,
        name,
      ]);
      return { name, tokens };
    }

    const refreshAll = (tokens: string[]) =>
      Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          replicas.post('/refresh', {}, n, { authorization: `Bearer ${tokens[n % tokens.length]}` }),
        ),
      );

    it.each([
      ['within the grace period', 301],
      ['after it', 14_500],
    ])('24 parallel refreshes %s make one look', async (_what, seconds) => {
      for (let round = 0; round < 3; round++) {
        const { tokens } = await givenSessions(seconds);
        const before = await directory.connectionCount();
        expect(tally(await refreshAll(tokens))).toEqual({ success: 24 });
        expect((await directory.connectionCount()) - before).toBe(1);
      }
      expect(await replicas.deadlocks()).toEqual([]);
    });

    it('after the look that finds the entry gone no session is left, and the audit trail has one row', async () => {
      for (let round = 0; round < 3; round++) {
        const { name, tokens } = await givenSessions(301);
        await directory.removeUser(name);
        await refreshAll(tokens);
        expect(tally(await refreshAll(tokens))).toEqual({ AUTH_401006: 24 });
        const ended = `SELECT a.id FROM audit_logs a JOIN users u ON u.uid = a.user_id
          WHERE a.event = 'USER_DIRECTORY_SESSIONS_ENDED' AND u.login_name = ?`;
        expect(await replicas.rows(ended, [name])).toHaveLength(1);
      }
      expect(await replicas.deadlocks()).toEqual([]);
    });
  });
});
