import { tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapSettings } from '../support/ldap';
import { Replicas } from '../support/replicas';
import { OpenLdap } from '../support/servers/openldap';
import { captchaToken } from '../support/settings';

describe('two replicas and one directory', () => {
  let directory: OpenLdap;
  let replicas: Replicas;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    replicas = await Replicas.start(ldapSettings(directory, { LDAP_JIT_PROVISIONING: 'true' }));
  });

  afterAll(async () => {
    await replicas?.stop();
    await directory?.stop();
  });

  const login = (username: string, password: string, n: number) =>
    replicas.post('/login', { username, password, provider: 'ldap', captcha_token: captchaToken }, n);

  it('100 wrong passwords at once: three LOGIN_401001, and a handful of binds at most (T185, W20)', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    expect((await login(name, directoryPassword, 0)).status).toBe(200);
    const before = await directory.bindCount(dn);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(name, 'wrong', n)));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    // Each replica lets through as many as are left before the lock; neither knows of what the other has under way.
    expect((await directory.bindCount(dn)) - before).toBeLessThanOrEqual(6);
  });

  it('100 wrong passwords at once for a user without an account here: the same', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(name, 'wrong', n)));
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect(await directory.bindCount(dn)).toBeLessThanOrEqual(6);
  });

  it('20 first logins at once, over both: one account, and all come in', async () => {
    for (let round = 0; round < 5; round++) {
      const name = freshName();
      await givenPerson(directory, name);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => login(name, directoryPassword, n)));
      expect(tally(answers)).toEqual({ success: 20 });
      expect(await replicas.rows('SELECT uid FROM users WHERE login_name = ?', [name])).toHaveLength(1);
    }
    expect(await replicas.deadlocks()).toBe(0);
  });
});
