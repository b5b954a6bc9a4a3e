import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash, pbkdf2Sync, scryptSync } from 'node:crypto';
import { UserAdministration } from '../../src/admin/user-administration';
import { operatorAuthority } from '../../src/admin/authority';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { UsersRepository } from '../../src/users/users.repository';
import { tally, TestService } from '../support/app';
import { importUsers, userImport } from '../support/import-users';
import { codeOf, goodPassword, mailedToken, submit } from '../support/reset';
import { password } from '../support/settings';

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const salted = (typed: string) => `sha256-salted:pepper:${createHash('sha256').update(`pepper${typed}`).digest('hex')}`;

/** ADR 0030: the hash of another system is verified at the first login and then replaced by bcrypt. */
describe('imported password hashes', () => {
  let service: TestService;
  let hasher: PasswordHasher;
  beforeAll(async () => {
    // On a busy machine a burst waits longer for its hashes than the default allows. These tests do not check the wait.
    service = await TestService.start({ HASH_QUEUE_MAX_WAIT_MS: '60000', ADMIN_API: 'on' });
    hasher = service.app.get(PasswordHasher);
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  let made = 0;
  const given = (passwordHash: string, name = `imported${++made}`) =>
    service.givenUser(name, { password: null, passwordHash });
  const stored = async (uid: string) => String((await service.userRow(uid)).password);

  it('a file says when a password was set; otherwise its expiry has a day of its own, and a plain password is new', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ages-'));
    const file = join(directory, 'people.jsonl');
    const hash = salted(password);
    const ago = (days: number) => new Date(service.clock.secondsFromNow(-days * 86_400).setUTCMilliseconds(0));
    const rows = [
      { login_name: 'old', password_hash: hash, password_set_at: ago(91).toJSON() },
      { login_name: 'young', password_hash: hash, password_set_at: ago(89).toJSON() },
      { login_name: 'unknown', password_hash: hash },
      { login_name: 'plain', password: goodPassword(7) },
    ];
    await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(await importUsers(userImport(service.app), file)).toMatchObject({ created: 4, failed: [] });
    await rm(directory, { recursive: true });
    const setAt = async (name: string) =>
      (await service.app.get(UsersRepository).findByLoginName(name))?.passwordSetAt?.getTime();
    expect(await setAt('old')).toBe(ago(91).getTime());
    expect(await setAt('plain')).toBe(service.clock.now().getTime());
    expect(await setAt('unknown')).toBeGreaterThan(ago(76).getTime());
    expect(await setAt('unknown')).toBeLessThan(ago(0).getTime());
    const changes = async (name: string) => (await service.login(name)).body.data?.change_password;
    expect([await changes('old'), await changes('young')]).toEqual([true, false]);
  });

  it.each([
    [
      'argon2id',
      () => '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
      'password',
    ],
    [
      'scrypt',
      () => `$scrypt$ln=10,r=8,p=1$c2FsdA$${unpadded(scryptSync(password, 'salt', 64, { N: 1024 }))}`,
      password,
    ],
    [
      'pbkdf2-sha256',
      () => `$pbkdf2-sha256$i=1000$c2FsdA$${unpadded(pbkdf2Sync(password, 'salt', 1000, 32, 'sha256'))}`,
      password,
    ],
    ['sha256-salted', () => salted(password), password],
  ])(
    '%s: a wrong password is refused and counted, the right one logs in and becomes bcrypt (T344)',
    async (_name, hash, typed) => {
      const foreign = hash();
      const { uid, loginName } = await given(foreign);
      expect(codeOf(await service.login(loginName, `${typed}x`))).toBe('LOGIN_401001');
      expect(await service.userRow(uid)).toMatchObject({ password: foreign, salt: null, login_failed_count: 1 });

      expect((await service.login(loginName, typed)).status).toBe(200);
      const row = await service.userRow(uid);
      expect(row).toMatchObject({
        salt: String(row.password).slice(0, 29),
        login_failed_count: 0,
        credential_version: 0,
      });
      expect(await stored(uid)).toMatch(/^\$2b\$/);
      expect((await service.login(loginName, typed)).status).toBe(200);
      expect(codeOf(await service.login(loginName, `${typed}x`))).toBe('LOGIN_401001');
    },
  );

  it('ten first logins at once all succeed, and one bcrypt hash stays (T344)', async () => {
    const { uid, loginName } = await given(salted(password));
    expect(tally(await Promise.all(Array.from({ length: 10 }, () => service.login(loginName))))).toEqual({
      success: 10,
    });
    expect(await hasher.matches(password, await stored(uid), { ip: 'test' })).toBe(true);
  });

  const changes: [string, (name: string) => Promise<unknown>][] = [
    [
      'a password that an operator sets',
      async (name) => {
        const administration = service.app.get(UserAdministration);
        const user = await administration.find(name);
        await administration.setPassword(operatorAuthority, user, goodPassword(1), {
          temporary: false,
          rules: 'waived',
        });
      },
    ],
    [
      'a reset by mail',
      async (name) => {
        const token = await mailedToken(service, `${name}@example.com`);
        expect((await submit(service, token, goodPassword(1))).status).toBe(200);
      },
    ],
  ];
  it.each(changes)('the replacement loses against %s that commits while bcrypt runs (T344)', async (_what, change) => {
    const { uid, loginName } = await given(salted(password));
    const hash = hasher.hash.bind(hasher);
    let raced = false;
    const spy = jest.spyOn(hasher, 'hash').mockImplementation(async (typed, client) => {
      const replacement = await hash(typed, client);
      if (typed !== password) return replacement;
      // The login has succeeded, and its new hash is not stored yet.
      expect(await stored(uid)).toMatch(/^sha256-salted:/);
      spy.mockRestore();
      raced = true;
      await change(loginName);
      return replacement;
    });
    expect((await service.login(loginName)).status).toBe(200);
    expect(raced).toBe(true);
    expect(await hasher.matches(goodPassword(1), await stored(uid), { ip: 'test' })).toBe(true);
    expect(codeOf(await service.login(loginName))).toBe('LOGIN_401001');
    expect((await service.login(loginName, goodPassword(1))).status).toBe(200);
  });

  it('the password of an imported hash may not be chosen again, before the first login and after it', async () => {
    const { uid, loginName, email } = await given(salted(password));
    const token = await mailedToken(service, String(email));
    expect(codeOf(await submit(service, token, password))).toBe('AUTH_401009');
    expect((await service.login(loginName)).status).toBe(200);
    expect(await stored(uid)).toMatch(/^\$2b\$/);
    expect(codeOf(await submit(service, token, password))).toBe('AUTH_401009');
    expect((await submit(service, token, goodPassword(2))).status).toBe(200);
  });

  it('a password longer than bcrypt can take logs in and keeps its hash', async () => {
    const long = `Ä${'x'.repeat(100)}`;
    const { uid, loginName } = await given(salted(long));
    for (let login = 0; login < 2; login++) expect((await service.login(loginName, long)).status).toBe(200);
    expect(await stored(uid)).toBe(salted(long));
    expect(codeOf(await service.login(loginName, long.slice(0, -1)))).toBe('LOGIN_401001');
  });

  it('the columns hold the longest hash', async () => {
    const longest = `sha256-salted:${'s'.repeat(255 - 79)}:${'0'.repeat(64)}`;
    expect(longest).toHaveLength(255);
    const { uid } = await given(longest);
    expect(await stored(uid)).toBe(longest);
    await service.database.affected(
      'INSERT INTO user_change_pwd_logs (user_id, type, password, created_at) VALUES (?, 0, ?, ?)',
      [uid, longest, service.clock.now()],
    );
    expect(await service.count('user_change_pwd_logs', 'password = ?', [longest])).toBe(1);
  });
});
