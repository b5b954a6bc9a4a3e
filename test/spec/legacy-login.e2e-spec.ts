import { DataSource } from 'typeorm';
import { LegacySystem } from '../../src/legacy/legacy-system';
import { HashQueueFull, PasswordHasher } from '../../src/hashing/password-hasher';
import { UsersRepository } from '../../src/users/users.repository';
import { tally, TestService } from '../support/app';
import { countHashing } from '../support/count-hashing';
import { listStatements } from '../support/count-statements';
import { webhookFault } from '../support/events/verify-webhook';
import { webhookSecret } from '../support/events/webhook-receiver';
import { legacyAnswer, LegacyStandIn } from '../support/legacy-system';
import { codeOf, goodPassword, mailedToken, submit } from '../support/reset';

const old = 'Old-System-42-pass';

/** docs/spec/extensions.md#legacy-login, ADR 0049. */
describe('a password that only the old system knows', () => {
  let legacy: LegacyStandIn;
  let service: TestService;
  beforeAll(async () => {
    legacy = await LegacyStandIn.start();
    service = await TestService.start({ ...legacy.settings, HIDE_ACCOUNT_EXISTENCE: 'true', ADMIN_API: 'on' });
  });
  afterAll(async () => {
    await service.stop();
    await legacy.stop();
  });
  beforeEach(() => {
    legacy.behaviour = legacy.judging();
    legacy.seen.length = 0;
  });

  let made = 0;
  async function givenLegacy(password = old) {
    const name = `legacy${++made}`;
    legacy.passwords.set(name, password);
    service.secrets.add('a password of the old system', password);
    return service.givenUser(name, { password: null, legacyLogin: true });
  }
  const row = (uid: string) => service.userRow(uid);
  const hasher = () => service.app.get(PasswordHasher);
  /** After five failures in a row the service does not ask for ten seconds. A clear answer closes the circuit again. */
  const closeCircuit = async () => {
    legacy.behaviour = legacy.judging();
    const { loginName } = await givenLegacy();
    expect((await service.login(loginName, old)).status).toBe(200);
  };

  it('signs in, is asked about once, and is stored as bcrypt with one audit row and an entry of the history', async () => {
    const { uid, loginName, email } = await givenLegacy();
    expect((await service.login(loginName, old)).body.data).toMatchObject({ access_token: expect.any(String) });
    expect(legacy.seen.map(({ body }) => body)).toEqual([
      { login_name: loginName, email, password: old, request_id: expect.any(String) },
    ]);
    const stored = await row(uid);
    expect(stored).toMatchObject({
      legacy_login: 0,
      login_failed_count: 0,
      credential_version: 0,
      must_change_password: 0,
    });
    expect(stored.password).toMatch(/^\$2b\$/);
    expect(stored.salt).toBe(String(stored.password).slice(0, 29));
    expect(await hasher().matches(old, String(stored.password), { ip: 'test' })).toBe(true);
    expect(await service.count('user_change_pwd_logs', 'user_id = ?', [uid])).toBe(1);
    const audited = await service.database.rows<{ detail: string; user_agent: string }>(
      "SELECT detail FROM audit_logs WHERE event = 'USER_PASSWORD_ADOPTED' AND user_id = ?",
      [uid],
    );
    expect(audited.map(({ detail }) => JSON.parse(detail))).toEqual([{ must_change_password: false }]);

    legacy.passwords.delete(loginName);
    expect((await service.login(loginName, old)).status).toBe(200);
    expect(codeOf(await service.login(loginName, `${old}x`))).toBe('LOGIN_401001');
    expect(legacy.seen).toHaveLength(1);
  });

  it('T701 the question is signed as the webhooks are, over its timestamp and every byte of its body', async () => {
    const { loginName } = await givenLegacy('Größe-💶-"42"');
    expect((await service.login(loginName, 'Größe-💶-"42"')).status).toBe(200);
    const [asked] = legacy.seen;
    const request = { headers: asked!.headers, body: asked!.text };
    expect(webhookFault(webhookSecret, request, service.clock.now())).toBeUndefined();
    const forged = { ...request, body: asked!.text.replace(loginName, 'somebody') };
    expect(webhookFault(webhookSecret, forged, service.clock.now())).toBe('wrong signature');
    const later = new Date(service.clock.now().getTime() + 301_000);
    expect(webhookFault(webhookSecret, request, later)).toBe('not of this time');
  });

  it('T702 a wrong password is a failure as usual: it is counted, the lock holds, and a locked account is not asked about', async () => {
    const { uid, loginName } = await givenLegacy();
    for (let failed = 1; failed <= 3; failed++) {
      expect(codeOf(await service.login(loginName, `wrong${failed}`))).toBe('LOGIN_401001');
      expect(await row(uid)).toMatchObject({ login_failed_count: failed, legacy_login: 1, password: null });
    }
    expect(codeOf(await service.login(loginName, old))).toBe('LOGIN_401001');
    expect(legacy.seen).toHaveLength(3);
    expect(await service.count('login_logs', "user_id = ? AND outcome = 'LOGIN_401004'", [uid])).toBe(1);
  });

  it('T702 a burst of guesses asks the old system no more often than the lock allows', async () => {
    const { uid, loginName } = await givenLegacy();
    const burst = Array.from({ length: 12 }, (_, n) => service.login(loginName, `guess${n}`));
    expect(tally(await Promise.all(burst))).toEqual({ LOGIN_401001: 12 });
    expect(legacy.seen).toHaveLength(3);
    expect(await row(uid)).toMatchObject({ login_failed_count: 3, legacy_login: 1 });
  });

  it.each([
    ['an empty password with spaces', '   '],
    ['a NUL', `${old}\0`],
  ])('T703 %s is wrong without a question: some systems read it as another password', async (_what, typed) => {
    const { uid, loginName } = await givenLegacy();
    legacy.behaviour = legacyAnswer('{"result":true}');
    expect((await service.login(loginName, typed)).status).not.toBe(200);
    expect(legacy.seen).toEqual([]);
    expect(await row(uid)).toMatchObject({ password: null, legacy_login: 1 });
  });

  const answers: [what: string, answer: Parameters<typeof legacyAnswer>][] = [
    ['a status 500', ['{"result":true}', 500]],
    ['a status 401', ['{"result":true}', 401]],
    ['a status 201', ['{"result":true}', 201]],
    ['a redirect', ['', 302, { location: 'http://127.0.0.1:9/verify' }]],
    ['an empty body', ['']],
    ['another member', ['{"ok":true}']],
    ['a text for a Boolean', ['{"result":"true"}']],
    ['a number for a Boolean', ['{"result":1}']],
    ['an array', ['[true]']],
    ['null', ['null']],
    ['a page', ['<html>true</html>', 200, { 'content-type': 'text/html' }]],
    ['an answer of more than 4 KiB', [`{"result":true,"x":"${'x'.repeat(4096)}"}`]],
  ];
  it.each(answers)(
    'T704 %s is no answer: LOGIN_503003, nothing is counted, stored or guessed',
    async (_what, answer) => {
      const { uid, loginName } = await givenLegacy();
      legacy.behaviour = legacyAnswer(...answer);
      expect(codeOf(await service.login(loginName, old))).toBe('LOGIN_503003');
      expect(await row(uid)).toMatchObject({ login_failed_count: 0, password: null, legacy_login: 1 });
      await closeCircuit();
    },
  );

  it('T704 an answer that never comes ends at the time-out, and the next login is asked about again', async () => {
    const impatient = await TestService.start(
      { ...legacy.settings, LEGACY_VERIFY_TIMEOUT_MS: '100' },
      { store: service.store, clock: service.clock },
    );
    const { uid, loginName } = await givenLegacy();
    legacy.behaviour = (_asked, response) => void response.writeHead(200).write('{');
    expect(codeOf(await impatient.login(loginName, old))).toBe('LOGIN_503003');
    expect(await row(uid)).toMatchObject({ login_failed_count: 0, password: null, legacy_login: 1 });
    await impatient.stop({ keepStore: true });
  });

  it('T705 a firewall that answers some passwords with a page keeps nobody else out', async () => {
    const { loginName } = await givenLegacy();
    for (const [body, status, headers] of [
      ['<html>blocked</html>', 200, { 'content-type': 'text/html' }],
      ['', 302, { location: 'http://127.0.0.1:9/blocked' }],
    ] as const) {
      legacy.behaviour = legacyAnswer(body, status, headers);
      for (let n = 0; n < 3; n++) expect(codeOf(await service.login(loginName, "' OR 1=1 --"))).toBe('LOGIN_503003');
    }
    legacy.behaviour = legacy.judging();
    expect((await service.login(loginName, old)).status).toBe(200);
  });

  it('T705 while the old system is down, it is not asked, and users with a password here sign in', async () => {
    const away = await TestService.start(legacy.settings, { store: service.store, clock: service.clock });
    const { loginName } = await givenLegacy();
    const { loginName: local } = await service.givenUser(`local${made}`);
    legacy.behaviour = legacyAnswer('', 503);
    for (let failed = 0; failed < 7; failed++) expect(codeOf(await away.login(loginName, old))).toBe('LOGIN_503003');
    expect(legacy.seen).toHaveLength(5);
    expect((await away.login(local)).status).toBe(200);
    expect(away.app.get(LegacySystem).counts).toEqual({ right: 0, wrong: 0, away: 7 });
    await away.stop({ keepStore: true });
  });

  it('T706 a name that the old system knows and an unknown one take one hash each, and get one answer', async () => {
    const { loginName } = await givenLegacy();
    const hashing = countHashing(service);
    for (const name of [loginName, 'nobody-has-this-name']) {
      let code: string | undefined;
      const work = await hashing(async () => (code = codeOf(await service.login(name, 'wrong'))));
      expect({ name, code, jobs: work.jobs }).toEqual({ name, code: 'LOGIN_401001', jobs: 1 });
    }
  });

  it('a user with a password here causes the statements of before, and no question', async () => {
    const { loginName } = await service.givenUser(`plain${++made}`);
    const { loginName: adopted } = await givenLegacy();
    await service.login(adopted, old);
    await service.login(loginName);
    legacy.seen.length = 0;
    const statements = listStatements(service.app.get(DataSource));
    const ofLogin = (name: string, typed?: string) => statements(() => service.login(name, typed));
    expect(await ofLogin(adopted, old)).toEqual(await ofLogin(loginName));
    expect(legacy.seen).toEqual([]);
  });

  it('a password that breaks the policy is stored and has to be changed before a session begins', async () => {
    const { uid, loginName } = await givenLegacy('weak');
    const { body } = await service.login(loginName, 'weak');
    expect(body.data).toMatchObject({ change_password: true });
    expect(body.data.access_token ?? null).toBeNull();
    expect(await row(uid)).toMatchObject({ legacy_login: 0, must_change_password: 1 });
    const change = { uid: body.data.change_uid, password: goodPassword(1), password_confirm: goodPassword(1) };
    expect(change.uid).toEqual(expect.any(String));
    expect((await service.login(loginName, 'weak')).body.data).toMatchObject({ change_password: true });
    expect(legacy.seen).toHaveLength(1);
  });

  it('while nothing can be hashed, a good password signs in and is stored at the next login, and a weak one opens no session', async () => {
    const [good, weak] = [await givenLegacy(), await givenLegacy('weak')];
    const full = jest.spyOn(hasher(), 'hash').mockRejectedValue(new HashQueueFull(1));
    try {
      expect((await service.login(good.loginName, old)).body.data).toMatchObject({ access_token: expect.any(String) });
      expect((await service.login(weak.loginName, 'weak')).body.data).toMatchObject({
        ...{ change_password: true, change_uid: expect.any(String), access_token: null },
      });
    } finally {
      full.mockRestore();
    }
    expect(await row(good.uid)).toMatchObject({ legacy_login: 1, must_change_password: 0, password: null });
    expect(await row(weak.uid)).toMatchObject({ legacy_login: 1, must_change_password: 1, password: null });
    expect((await service.login(good.loginName, old)).status).toBe(200);
    expect(await row(good.uid)).toMatchObject({ legacy_login: 0, password: expect.stringMatching(/^\$2b\$/) });
  });

  it('a password of more than 72 bytes opens no session here and has to be replaced', async () => {
    const long = `Ä1-${'x'.repeat(100)}`;
    const { uid, loginName } = await givenLegacy(long);
    const { body } = await service.login(loginName, long);
    expect(body.data).toMatchObject({ change_password: true });
    expect(await row(uid)).toMatchObject({ legacy_login: 1, must_change_password: 1, password: null });
    expect((await submit(service, body.data.change_uid, goodPassword(1))).status).toBe(200);
    // The login has answered the link: nothing was mailed, so the address is not proven.
    expect(await row(uid)).toMatchObject({ legacy_login: 0, must_change_password: 0, proven_email_key: null });
  });

  const endings: [what: string, end: (name: string, uid: string) => Promise<unknown>][] = [
    [
      'a reset by mail',
      async (name) => {
        const token = await mailedToken(service, `${name}@example.com`);
        expect((await submit(service, token, goodPassword(1))).status).toBe(200);
      },
    ],
    [
      'a password that an administrator sets',
      (_name, uid) =>
        service.database.transaction((tx) =>
          service.app.get(UsersRepository).setPassword(tx, uid, '$2b$04$abcdefghijklmnopqrstuu', { temporary: true }),
        ),
    ],
    // What a replica of an earlier version writes.
    [
      'a password of an earlier version, which does not know the mark',
      (_name, uid) => service.database.affected("UPDATE users SET password = 'x' WHERE uid = ?", [uid]),
    ],
  ];
  it.each(endings)(
    'T707 after %s the old system is never asked again, and its password is wrong',
    async (_what, end) => {
      const { uid, loginName } = await givenLegacy();
      await end(loginName, uid);
      legacy.seen.length = 0;
      expect(codeOf(await service.login(loginName, old))).toBe('LOGIN_401001');
      expect(legacy.seen).toEqual([]);
    },
  );

  it('without LEGACY_VERIFY_URL the password is wrong', async () => {
    const without = await TestService.start({}, { store: service.store, clock: service.clock });
    const { loginName } = await givenLegacy();
    expect(codeOf(await without.login(loginName, old))).toBe('LOGIN_401001');
    expect(legacy.seen).toEqual([]);
    await without.stop({ keepStore: true });
  });
});
