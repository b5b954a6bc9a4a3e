import { randomUUID } from 'node:crypto';
import { openMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import type { User } from '../../src/users/user.entity';
import { type Answer, password, TestService } from '../support/app';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { MfaClient, mfaSettings, pairOf } from '../support/mfa';
import { dataOf, origin, PasskeyClient, passkeySettings } from '../support/passkeys';
import { SoftAuthenticator } from '../support/authenticator';
import { goodPassword, submit } from '../support/reset';
import { MariaDbWrites } from '../support/servers/mariadb-writes';
import { TcpProxy } from '../support/servers/tcp-proxy';

/** One request, and what a client does after its answer was lost. */
interface Trial {
  readonly user: User;
  ask(): Promise<Answer>;
  /** The status of the request when no answer is lost. Default: 200. */
  readonly status?: number;
  /** Repeats the work as a client would. @param wrote tells whether the request has committed a write to this table */
  repeat(wrote: (table: string) => boolean): Promise<void>;
}

/** Attempts are counted before a code is compared. A right code sets the count of the account to 0 again. */
const reserved = ['attempts', 'mfa_failures'];

/** Everything of a user that is counted: how often a column was counted up, or the number of rows. */
const counted = `
  SELECT u.login_failed_count AS failures, u.mfa_failed_count AS mfa_failures, u.credential_version AS versions,
    (SELECT COUNT(*) FROM login_tokens t WHERE t.user_identity = u.uid) AS tokens,
    (SELECT COUNT(*) FROM login_logs l WHERE l.user_id = u.uid) AS logins,
    (SELECT COUNT(*) FROM audit_logs a WHERE a.user_id = u.uid) AS audits,
    (SELECT COUNT(*) FROM mail_outbox m WHERE m.user_id = u.uid) AS mails,
    (SELECT COUNT(*) FROM user_change_pwd_logs c WHERE c.user_id = u.uid) AS passwords,
    (SELECT COUNT(*) FROM user_change_password_request r WHERE r.user_id = u.uid) AS requests,
    (SELECT COUNT(*) FROM user_change_password_request r WHERE r.user_id = u.uid AND r.status = 0) AS links,
    (SELECT COUNT(*) FROM passkeys p WHERE p.user_id = u.uid) AS passkeys,
    (SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id = u.uid AND c.used_at IS NOT NULL) AS used_codes,
    (SELECT COUNT(*) FROM trusted_devices d WHERE d.user_id = u.uid) AS devices,
    COALESCE((SELECT p.attempts FROM pending_logins p WHERE p.user_id = u.uid), 0) AS attempts,
    COALESCE((SELECT p.is_closed FROM pending_logins p WHERE p.user_id = u.uid), 0) AS closed
  FROM users u WHERE u.uid = ?`;

/**
 * MariaDB executes a commit, and its answer never arrives (docs/spec/attacks.md#t236). Each request runs once for each
 * of its commits, and loses the answer to this one. SQLite uses no network.
 */
(__DATABASE__ === 'mariadb' ? describe : describe.skip)('a commit whose answer is lost', () => {
  const writes = new MariaDbWrites();
  let store: TestDatabase;
  let proxy: TcpProxy;
  let plain: TestService;
  let rotating: TestService;
  let passkeys: PasskeyClient;
  let mfa: MfaClient;

  beforeAll(async () => {
    store = await migratedDatabase();
    const behind = await TcpProxy.before(store.url, () => writes.reader());
    proxy = behind.proxy;
    plain = await TestService.start({ DATABASE_URL: behind.url, ...passkeySettings }, { store });
    passkeys = new PasskeyClient(plain);
    const others = { store, clock: plain.clock };
    const settings = { DATABASE_URL: behind.url, ...mfaSettings };
    rotating = await TestService.start({ ...settings, MFA_REQUIRED: 'false', REFRESH_TOKEN_ROTATION: 'true' }, others);
    mfa = new MfaClient(await TestService.start({ ...settings, MFA_TRUSTED_DEVICE_DAYS: '30' }, others));
  });

  afterAll(async () => {
    await mfa?.service.stop({ keepStore: true });
    await rotating?.stop({ keepStore: true });
    await plain?.stop();
    await proxy?.stop();
  });

  const countsOf = async ({ uid }: User): Promise<Record<string, number>> => {
    const row = await plain.database.row<Record<string, unknown>>(counted, [uid]);
    return Object.fromEntries(Object.entries(row!).map(([name, count]) => [name, Number(count)]));
  };

  /** Runs a request, and returns by how much it has changed each count. */
  async function run({ user, ask }: Trial, lost?: number) {
    const before = await countsOf(user);
    writes.watch(lost);
    const answer = await ask();
    const committed = [...writes.committed];
    writes.watch();
    const changed = Object.entries(await countsOf(user)).map(([name, count]) => [name, count - before[name]!] as const);
    return { answer, committed, changes: Object.fromEntries(changed) };
  }

  const linkOf = async ({ uid }: User): Promise<string> => {
    const row = await plain.database.row<{ payload: string }>(
      "SELECT payload FROM mail_outbox WHERE user_id = ? AND kind = 'reset-link' AND payload IS NOT NULL ORDER BY created_at DESC",
      [uid],
    );
    const mail = openMail(plain.app.get(KeyRing), row!.payload);
    return new URL((mail as { link: string }).link).searchParams.get('uid')!;
  };

  const newUser = (service: TestService) => service.givenUser(randomUUID());
  const refresh = (service: TestService, bearer: string) => service.post('/refresh', undefined, { bearer });
  const me = async (access: string, service = plain) => (await service.get('/user/me', { bearer: access })).status;
  const codeOf = ({ status, body }: Answer) => (status === 200 ? 'success' : (body.error_code as string));
  const expectLogin = async (user: User, typed = password) =>
    expect(codeOf(await plain.login(user.loginName, typed))).toBe('success');

  const operations: [string, () => Promise<Trial>][] = [
    [
      'a login with a wrong password',
      async () => {
        const user = await newUser(plain);
        const ask = () => plain.login(user.loginName, 'wrong');
        return {
          user,
          ask,
          status: 401,
          // Each guess counts once: two more guesses, and the account is locked.
          repeat: async () => {
            expect(await countsOf(user)).toMatchObject({ failures: 1 });
            const answers = [await ask(), await ask(), await plain.login(user.loginName)].map(codeOf);
            expect(answers).toEqual(['LOGIN_401001', 'LOGIN_401001', 'LOGIN_401004']);
          },
        };
      },
    ],
    [
      'a login',
      async () => {
        const user = await newUser(plain);
        await plain.login(user.loginName, 'wrong');
        return {
          user,
          ask: () => plain.login(user.loginName),
          repeat: async () => {
            const { access } = await plain.session(user.loginName);
            expect(await me(access)).toBe(200);
            expect(await countsOf(user)).toMatchObject({ failures: 0 });
          },
        };
      },
    ],
    [
      'a login that mails a code',
      async () => {
        const user = await newUser(mfa.service);
        return {
          user,
          ask: () => mfa.service.login(user.loginName),
          repeat: async (wrote) => {
            if (wrote('pending_logins')) {
              expect(codeOf(await mfa.service.login(user.loginName))).toBe('MFA_429001');
              // The lost answer had the mfa_token. The address of the login is a proof as well.
              expect(codeOf(await mfa.verify(user.uid, 'email', await mfa.lastCode(user)))).toBe('success');
            }
            pairOf(await byMail(user));
          },
        };
      },
    ],
    [
      'a wrong code',
      async () => {
        const user = await newUser(mfa.service);
        const { uid, mfaToken, code } = await mfa.logInByMail(user);
        const guess = (typed: string) => mfa.verify(uid, 'email', typed, { mfa_token: mfaToken });
        const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
        return {
          user,
          ask: () => guess(wrong),
          status: 401,
          repeat: async (wrote) => {
            const { attempts, mfa_failures } = await countsOf(user);
            expect([attempts, mfa_failures]).toEqual([1, wrote('users') ? 1 : 0]);
            for (let n = 2; n <= 5; n++) expect(codeOf(await guess(wrong))).toBe('MFA_401001');
            // The five attempts of this login are used up. The right code comes too late.
            expect(codeOf(await guess(code))).toBe('MFA_401001');
            expect(await countsOf(user)).toMatchObject({ attempts: 5 });
          },
        };
      },
    ],
    [
      'a mailed code',
      async () => {
        const user = await newUser(mfa.service);
        const { uid, mfaToken, code } = await mfa.logInByMail(user);
        const ask = () => mfa.verify(uid, 'email', code, { mfa_token: mfaToken, trust_device: true });
        return {
          user,
          ask,
          repeat: async (wrote) => {
            expect(codeOf(await ask())).toBe(wrote('login_tokens') ? 'MFA_401001' : 'success');
            expect(await countsOf(user)).toMatchObject({ closed: 1, tokens: 2, devices: 1 });
            pairOf(await byMail(user));
          },
        };
      },
    ],
    [
      'a code of an authenticator',
      async () => {
        const { user, secret } = await mfa.givenAuthenticator(randomUUID());
        const { uid, mfaToken } = await mfa.logIn(user.loginName);
        const ask = () => mfa.verify(uid, 'totp', mfa.code(secret), { mfa_token: mfaToken });
        return {
          user,
          ask,
          repeat: async (wrote) => {
            expect(codeOf(await ask())).toBe(wrote('login_tokens') ? 'AUTH_MFA_401001' : 'success');
            // One code opens one session, whatever the client has heard.
            const again = await mfa.logIn(user.loginName);
            expect(codeOf(await mfa.verify(uid, 'totp', mfa.code(secret), { mfa_token: again.mfaToken }))).toBe(
              'AUTH_MFA_401001',
            );
            mfa.service.clock.advanceSeconds(60);
            expect(codeOf(await mfa.verify(uid, 'totp', mfa.code(secret), { mfa_token: again.mfaToken }))).toBe(
              'success',
            );
          },
        };
      },
    ],
    [
      'a recovery code',
      async () => {
        const user = await newUser(mfa.service);
        const { access } = await mfa.session(user);
        const made = await mfa.service.post('/recovery-codes', undefined, { bearer: access });
        const [first, second] = dataOf(made).data.codes as string[];
        const { uid, mfaToken } = await mfa.logInByMail(user);
        const ask = () => mfa.verify(uid, 'recovery', first, { mfa_token: mfaToken });
        return {
          user,
          ask,
          repeat: async (wrote) => {
            expect(codeOf(await ask())).toBe(wrote('recovery_codes') ? 'AUTH_MFA_401001' : 'success');
            expect(await countsOf(user)).toMatchObject({ used_codes: 1 });
            const again = await mfa.logInByMail(user);
            pairOf(await mfa.verify(uid, 'recovery', second, { mfa_token: again.mfaToken }));
            expect(await countsOf(user)).toMatchObject({ used_codes: 2 });
          },
        };
      },
    ],
    [
      'a login of a trusted device',
      async () => {
        const user = await newUser(mfa.service);
        const { uid, mfaToken, code } = await mfa.logInByMail(user);
        const more = { mfa_token: mfaToken, trust_device: true };
        const { device_token } = dataOf(await mfa.verify(uid, 'email', code, more)).data;
        const ask = () => mfa.service.login(user.loginName, password, { device_token });
        return {
          user,
          ask,
          // The browser still has the former token of its device.
          repeat: async () => {
            const { data } = dataOf(await ask());
            expect(data).toMatchObject({ mfa_required: false, device_token: expect.any(String) });
            const next = await mfa.service.login(user.loginName, password, { device_token: data.device_token });
            expect(dataOf(next).data).toMatchObject({ mfa_required: false });
            expect(await countsOf(user)).toMatchObject({ devices: 1 });
          },
        };
      },
    ],
    [
      'a refresh',
      async () => {
        const user = await newUser(plain);
        const session = await plain.session(user.loginName);
        const ask = () => refresh(plain, session.refresh);
        return {
          user,
          ask,
          repeat: async () => expect(await me(dataOf(await ask()).data.access_token)).toBe(200),
        };
      },
    ],
    [
      'a refresh with rotation',
      async () => {
        const user = await newUser(rotating);
        const session = await rotating.session(user.loginName);
        const ask = () => refresh(rotating, session.refresh);
        return {
          user,
          ask,
          // The client has only the former token. Within the grace period it gets the successor, which then works.
          repeat: async () => {
            const { data } = dataOf(await ask());
            expect(await me(data.access_token, rotating)).toBe(200);
            const { data: next } = dataOf(await refresh(rotating, data.refresh_token));
            expect(await me(next.access_token, rotating)).toBe(200);
            expect(
              await rotating.count('audit_logs', "user_id = ? AND event = 'REFRESH_TOKEN_REUSED'", [user.uid]),
            ).toBe(0);
          },
        };
      },
    ],
    [
      'a logout',
      async () => {
        const user = await newUser(plain);
        const { access } = await plain.session(user.loginName);
        const ask = () => plain.post('/logout', undefined, { bearer: access });
        return {
          user,
          ask,
          repeat: async () => {
            await ask();
            expect(await me(access)).toBe(401);
            await expectLogin(user);
          },
        };
      },
    ],
    [
      'a request for a link',
      async () => {
        const user = await newUser(plain);
        const ask = () => plain.post('/forget-password', { email: user.email });
        return {
          user,
          ask,
          repeat: async (wrote) => {
            const answers = [codeOf(await ask()), codeOf(await ask())];
            expect(answers).toEqual([wrote('mail_outbox') ? 'AUTH_429002' : 'success', 'AUTH_429002']);
            expect(await countsOf(user)).toMatchObject({ links: 1, mails: 1, requests: 1 });
            expect(codeOf(await submit(plain, await linkOf(user), goodPassword(1)))).toBe('success');
          },
        };
      },
    ],
    [
      'T236 a reset',
      async () => {
        const user = await newUser(plain);
        dataOf(await plain.post('/forget-password', { email: user.email }));
        const token = await linkOf(user);
        const ask = () => submit(plain, token, goodPassword(1));
        return {
          user,
          ask,
          repeat: async (wrote) => {
            const changed = wrote('users');
            // The link is used exactly when the password is the new one.
            expect(await countsOf(user)).toMatchObject({ links: changed ? 0 : 1, passwords: changed ? 2 : 1 });
            expect(codeOf(await plain.login(user.loginName))).toBe(changed ? 'LOGIN_401001' : 'success');
            // A client that sends the same password again learns that its link was used.
            expect(codeOf(await ask())).toBe(changed ? 'AUTH_401007' : 'success');
            await expectLogin(user, goodPassword(1));
            expect(await countsOf(user)).toMatchObject({ links: 0, passwords: 2, versions: 1 });
          },
        };
      },
    ],
    [
      'an own change of the password',
      async () => {
        const user = await newUser(plain);
        const { access } = await plain.session(user.loginName);
        const next = goodPassword(1);
        const ask = () =>
          plain.post(
            '/user/change-password',
            { current_password: password, password: next, confirm_password: next },
            { bearer: access },
          );
        return {
          user,
          ask,
          repeat: async (wrote) => {
            const changed = wrote('user_change_pwd_logs');
            expect(await me(access)).toBe(changed ? 401 : 200);
            expect(codeOf(await ask())).toBe(changed ? 'AUTH_401004' : 'success');
            await expectLogin(user, next);
            expect(await countsOf(user)).toMatchObject({ passwords: 2, versions: 1, failures: 0 });
          },
        };
      },
    ],
    [
      'an own change with a wrong password',
      async () => {
        const user = await newUser(plain);
        const { access } = await plain.session(user.loginName);
        const next = goodPassword(1);
        const body = { current_password: 'wrong', password: next, confirm_password: next };
        const ask = () => plain.post('/user/change-password', body, { bearer: access });
        return {
          user,
          ask,
          status: 401,
          repeat: async (wrote) => {
            const failures = wrote('users') ? 1 : 0;
            expect(await countsOf(user)).toMatchObject({ failures });
            expect(codeOf(await ask())).toBe('LOGIN_401001');
            expect(await countsOf(user)).toMatchObject({ failures: failures + 1 });
            await expectLogin(user);
          },
        };
      },
    ],
    [
      'the registration of a passkey',
      async () => {
        const user = await newUser(plain);
        const access = await passkeys.openSession(user);
        const authenticator = new SoftAuthenticator(origin);
        const response = authenticator.create(dataOf(await passkeys.options(access)).data);
        const ask = () => passkeys.add(access, response);
        return {
          user,
          ask,
          repeat: async (wrote) => {
            const stored = wrote('passkeys');
            expect(codeOf(await ask())).toBe('PASSKEY_400001');
            expect(await passkeys.list(access)).toHaveLength(stored ? 1 : 0);
            if (stored) dataOf(await passkeys.logIn(authenticator));
            dataOf(await passkeys.register(access, new SoftAuthenticator(origin)));
            expect(await countsOf(user)).toMatchObject({ passkeys: stored ? 2 : 1 });
          },
        };
      },
    ],
    [
      'a login with a passkey',
      async () => {
        const { user, authenticator } = await passkeys.givenPasskey();
        const { challenge_id, options } = await passkeys.challenge();
        const response = authenticator.get(options);
        const ask = () => passkeys.submit(challenge_id, response);
        return {
          user,
          ask,
          // A challenge is used once. The counter of the authenticator goes on, so the next login is no copy.
          repeat: async () => {
            expect(codeOf(await ask())).toBe('PASSKEY_401001');
            const { data } = dataOf(await passkeys.logIn(authenticator));
            expect(await me(data.access_token)).toBe(200);
          },
        };
      },
    ],
  ];

  const byMail = async (user: User) => {
    const { uid, code, mfaToken } = await mfa.logInByMail(user);
    return mfa.verify(uid, 'email', code, { mfa_token: mfaToken });
  };

  it.each(operations)('%s: the answer is 503, nothing is counted twice, and a repeat works', async (_what, given) => {
    const usual = await given();
    const whole = await run(usual);
    expect(whole.answer.status).toBe(usual.status ?? 200);
    expect(whole.committed.length).toBeGreaterThan(0);
    for (const n of whole.committed.keys()) {
      const trial = await given();
      const broken = proxy.lostAnswers;
      const { answer, committed, changes } = await run(trial, n);
      const lost = committed.at(-1);
      expect({ lost, answers: proxy.lostAnswers - broken }).toEqual({ lost: whole.committed[n], answers: 1 });
      // The row of a refused attempt is written when the refusal is certain, so its loss changes no answer.
      const told = lost === 'INSERT login_logs' ? codeOf(whole.answer) : 'COMMON_503001';
      expect({ lost, told: codeOf(answer) }).toEqual({ lost, told });
      if (answer.status === 503) expect(answer.headers['retry-after']).toBeDefined();
      const last = n === whole.committed.length - 1;
      const counts = Object.entries(whole.changes).map(([name, change]) => {
        const possible = last ? [change] : [0, change, ...(reserved.includes(name) ? [1] : [])];
        return { name, change: changes[name], possible };
      });
      expect({ lost, wrong: counts.filter(({ change, possible }) => !possible.includes(change!)) }).toEqual({
        lost,
        wrong: [],
      });
      await trial.repeat((table) => committed.some((commit) => commit.split(/,? /).includes(table)));
    }
  });

  it('the log tells of no error that nobody expects', () => {
    const lines = [plain, rotating, mfa.service].flatMap(({ logLines }) =>
      logLines.map((line) => JSON.stringify(line)),
    );
    expect(lines.join('\n')).toContain('COMMON_503001');
    expect(lines.filter((line) => /COMMON_500001|unhandled/i.test(line))).toEqual([]);
  });
});
