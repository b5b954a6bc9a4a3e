import { Database } from '../../src/platform/database/database';
import { PasswordChangeRequests } from '../../src/password-reset/password-change-requests';
import { changeType } from '../../src/shared/change-type';
import { PasswordHistory } from '../../src/users/password-change-log.repository';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { UsersRepository } from '../../src/users/users.repository';
import { invite as inviteUser } from '../support/operator';
import { password as oldPassword, tally, TestService } from '../support/app';
import { codeOf, goodPassword, look, mailedToken, newMails, submit } from '../support/reset';

/** Another change happens between the checks of a submit and its write, while the new hash is computed. */
describe('a submit that is overtaken while its hash is computed', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  let users = 0;
  const given = async () => {
    const name = `user${++users}`;
    const email = `${name}@example.com`;
    const user = await service.givenUser(name);
    return { user, name, email, token: await mailedToken(service, email) };
  };

  const overtaken = async (token: string, by: () => unknown) => {
    const hasher = service.app.get(PasswordHasher);
    const hash = hasher.hash.bind(hasher);
    hasher.hash = async (...given) => {
      hasher.hash = hash;
      await by();
      return hash(...given);
    };
    return submit(service, token, goodPassword('mine'));
  };

  const passwordOf = async (uid: string) => (await service.userRow(uid)).password as string;
  const log = (uid: string) => service.count('user_change_pwd_logs', 'user_id = ?', [uid]);

  it('by a second submit of the link: AUTH_401007, and the password of the second submit stays', async () => {
    const { user, name, token } = await given();
    const answer = await overtaken(token, () => submit(service, token, goodPassword('twin')));
    expect(codeOf(answer)).toBe('AUTH_401007');
    expect((await service.login(name, goodPassword('twin'))).status).toBe(200);
    expect(await log(user.uid)).toBe(2);
  });

  it('by a second submit with the same password, before the reuse check: AUTH_401007, not AUTH_401009', async () => {
    const { token } = await given();
    const history = service.app.get(PasswordHistory);
    const lastHashes = history.lastHashes.bind(history);
    history.lastHashes = async (user) => {
      history.lastHashes = lastHashes;
      expect(codeOf(await submit(service, token, goodPassword('same')))).toBe('success');
      return lastHashes(user);
    };
    expect(codeOf(await submit(service, token, goodPassword('same')))).toBe('AUTH_401007');
  });

  it('by a newer request: AUTH_401007, the old password stays, and the new link works', async () => {
    const { user, name, email, token } = await given();
    service.clock.advanceSeconds(300);
    let newer = '';
    const answer = await overtaken(token, async () => {
      newer = await mailedToken(service, email);
    });
    expect(codeOf(answer)).toBe('AUTH_401007');
    expect(await log(user.uid)).toBe(1);
    expect((await service.login(name, oldPassword)).status).toBe(200);
    expect(codeOf(await submit(service, newer, goodPassword('newer')))).toBe('success');
  });

  it('by an operator: AUTH_401007, and the password of the operator stays', async () => {
    const { user, token } = await given();
    const hash = await service.app.get(PasswordHasher).hash(goodPassword('operator'), { ip: 'test' });
    const answer = await overtaken(token, () =>
      service.app.get(Database).transaction(async (tx) => {
        await service.app.get(UsersRepository).setPassword(tx, user.uid, hash, { temporary: false });
        await service.app.get(PasswordHistory).append(tx, user.uid, changeType.administrator, hash);
      }),
    );
    expect(codeOf(answer)).toBe('AUTH_401007');
    expect(await passwordOf(user.uid)).toBe(hash);
    expect(await log(user.uid)).toBe(2);
    expect(codeOf(await look(service, token))).toBe('AUTH_401007');
  });

  it('by its expiry: AUTH_401005, and nothing changes', async () => {
    const { user, name, token } = await given();
    const answer = await overtaken(token, () => service.clock.advanceSeconds(1801));
    expect(codeOf(answer)).toBe('AUTH_401005');
    expect(await log(user.uid)).toBe(1);
    expect((await service.login(name, oldPassword)).status).toBe(200);
  });

  it('by a move to the directory: AUTH_401003, and nothing changes (T144)', async () => {
    const { user, token } = await given();
    const before = await passwordOf(user.uid);
    const answer = await overtaken(token, () =>
      service.database.affected(`UPDATE users SET provider = 'ldap' WHERE uid = ?`, [user.uid]),
    );
    expect(codeOf(answer)).toBe('AUTH_401003');
    expect(await passwordOf(user.uid)).toBe(before);
    expect(await log(user.uid)).toBe(1);
  });

  it('by a forced request at the same time: the submit wins, and the other link is invalid', async () => {
    const { user, token } = await given();
    let forced = '';
    const answer = await overtaken(token, async () => {
      forced = await service.app.get(PasswordChangeRequests).openForced(user, 3);
    });
    expect(codeOf(answer)).toBe('success');
    expect(codeOf(await look(service, forced))).toBe('AUTH_401007');
  });
});

describe('the gate row of a user', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const retryAfter = async (email: string) =>
    (await service.post('/forget-password', { email })).body?.data?.retry_after as number | undefined;

  it('a submit, a forced request and an invitation do not change a running throttle', async () => {
    const user = await service.givenUser('gate');
    const email = 'gate@example.com';
    const token = await mailedToken(service, email);
    service.clock.advanceSeconds(100);
    expect(await retryAfter(email)).toBe(200);
    await service.app.get(PasswordChangeRequests).openForced(user, 3);
    await inviteUser(service, user, 'en');
    expect(await retryAfter(email)).toBe(200);
    expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
    expect(await retryAfter(email)).toBe(200);
    service.clock.advanceSeconds(200);
    expect(await retryAfter(email)).toBeUndefined();
  });

  it('a submit, a forced request and an invitation start no throttle', async () => {
    const user = await service.givenUser('fresh');
    const forced = await service.app.get(PasswordChangeRequests).openForced(user, 3);
    await submit(service, forced, goodPassword(1));
    await inviteUser(service, user, 'en');
    expect((await service.post('/forget-password', { email: 'fresh@example.com' })).status).toBe(200);
  });

  it('of 20 parallel requests one is made, and the refused ones write nothing', async () => {
    const user = await service.givenUser('loser');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => service.post('/forget-password', { email: 'loser@example.com' })),
    );
    expect(tally(answers)).toEqual({ success: 1, AUTH_429002: 19 });
    expect(await service.count('user_change_password_request', 'user_id = ?', [user.uid])).toBe(1);
    expect(await service.count('audit_logs', 'user_id = ?', [user.uid])).toBe(1);
  });

  it('with HIDE_ACCOUNT_EXISTENCE an unknown address has the same throttle', async () => {
    const hiding = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true' });
    try {
      const ask = () => hiding.post('/forget-password', { email: 'nobody@example.com' });
      expect(tally(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual({ success: 1, AUTH_429002: 19 });
    } finally {
      await hiding.stop();
    }
  });
});

describe('an invitation, a link of type 0', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const invite = async (name: string) =>
    inviteUser(service, (await service.app.get(UsersRepository).findByLoginName(name))!, 'zh-CN');

  it('lets a user without a password set one within three days', async () => {
    const user = await service.givenUser('invited', { password: null });
    const { link, expires, mailed } = await invite('invited');
    expect([mailed, expires.getTime() - service.clock.now().getTime()]).toEqual([true, 259_200_000]);
    const [mail] = await newMails(service);
    expect(mail?.text).toContain(link);
    expect(link).toMatch(/^http:\/\/portal\.test\/reset-password\?uid=[0-9a-f-]{36}&lang=zh-CN$/);
    const token = new URL(link).searchParams.get('uid')!;
    service.clock.advanceSeconds(259_200);
    expect((await look(service, token)).body.data).toMatchObject({ type: 0, user_id: user.uid });
    expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
    expect((await service.login('invited', goodPassword(1))).status).toBe(200);
    expect(
      await service.database.rows('SELECT event, ip FROM audit_logs WHERE user_id = ? ORDER BY id', [user.uid]),
    ).toEqual([
      { event: 'USER_INVITED', ip: null },
      { event: 'USER_PASSWORD_CHANGED', ip: '127.0.0.1' },
    ]);
  });

  it('a newer invitation makes the older one invalid, and no other link', async () => {
    await service.givenUser('again');
    const reset = await mailedToken(service, 'again@example.com');
    const tokens = [await invite('again'), await invite('again')].map(({ link }) =>
      new URL(link).searchParams.get('uid')!,
    );
    expect(codeOf(await look(service, tokens[0]!))).toBe('AUTH_401007');
    expect(codeOf(await look(service, tokens[1]!))).toBe('success');
    expect(codeOf(await look(service, reset))).toBe('success');
  });

  it('is bound to the current credentials, not to those that the caller has read', async () => {
    const stale = await service.givenUser('stale');
    await service.database.affected('UPDATE users SET credential_version = 7 WHERE uid = ?', [stale.uid]);
    const { link } = await inviteUser(service, stale, 'en');
    expect(codeOf(await look(service, new URL(link).searchParams.get('uid')!))).toBe('success');
  });

  it.each([
    ['disabled', { status: -1 }, 'the account is disabled'],
    ['ldap', { provider: 'ldap' as const }, 'a directory user has no password in this service'],
  ])('is refused for a user who is %s', async (name, more, problem) => {
    const user = await service.givenUser(name, more);
    const before = await service.count('mail_outbox');
    await expect(invite(name)).rejects.toThrow(problem);
    expect(await service.count('mail_outbox')).toBe(before);
    expect(await service.count('user_change_password_request', 'user_id = ?', [user.uid])).toBe(0);
  });

  it('returns the link for a user without an e-mail address', async () => {
    await service.givenUser('addressless', { email: null });
    const { link, mailed } = await invite('addressless');
    expect(mailed).toBe(false);
    expect(codeOf(await look(service, new URL(link).searchParams.get('uid')!))).toBe('success');
  });
});
