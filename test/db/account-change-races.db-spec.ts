import { randomUUID } from 'node:crypto';
import { Directory } from '../../src/directory/directory';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { openMail } from '../../src/mail/outbox/mail-payload';
import { PasswordChangeRequests } from '../../src/password-reset/password-change-requests';
import { Cooldowns } from '../../src/platform/database/cooldown.repository';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { changeType } from '../../src/shared/change-type';
import { DirectoryAccounts } from '../../src/users/directory-accounts';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { givenCaller, startAdministration, tokenOf } from '../support/admin';
import { TestService } from '../support/app';
import { absentDirectory, foundPerson, ldapLogin } from '../support/ldap';
import { mfaSettings } from '../support/mfa';
import { codeOf, goodPassword, look, submit } from '../support/reset';

/**
 * An administrator changes the address of a user, or deletes the user, while a request that has read the row waits. The
 * requests go to one replica and the changes to another one. SQLite deployments have one replica.
 */
describe('a change of the account while a request of the account waits', () => {
  let service: TestService;
  let other: TestService;
  let admin: User;
  const settings = { ...mfaSettings, ...absentDirectory };

  beforeAll(async () => {
    service = await startAdministration(settings);
    const { store, clock } = service;
    const replica = () => TestService.start({ ADMIN_API: 'on', ...settings }, { store, clock });
    other = __DATABASE__ === 'sqlite' ? service : await replica();
    admin = (await givenCaller(other, { isAdmin: true })).user;
  });
  afterAll(async () => {
    if (other !== service) await other.stop({ keepStore: true });
    await service.stop();
  });
  afterEach(() => jest.restoreAllMocks());

  const administrate = async (method: 'PATCH' | 'DELETE', { uid }: User, body?: object) => {
    const answer = await other.send(method, `/admin/users/${uid}`, body, { bearer: await tokenOf(other, admin) });
    expect(codeOf(answer)).toBe('success');
  };
  const move = (user: User, email: string | null) => administrate('PATCH', user, { email });
  const erase = (user: User) => administrate('DELETE', user);
  const formerOf = ({ loginName }: User) => `${loginName}@example.com`;
  const newOf = ({ loginName }: User) => `${loginName}@new.example`;

  /** The change commits after the next request has read the row of the user, and before the request has its gate row. */
  const overtakenBy = (change: () => Promise<void>, on = service) => {
    const cooldowns = on.app.get(Cooldowns);
    const once = cooldowns.once.bind(cooldowns);
    jest.spyOn(cooldowns, 'once').mockImplementationOnce(async (...given: Parameters<typeof once>) => {
      await change();
      return once(...given);
    });
  };

  async function mailsTo(address: string) {
    const keys = service.app.get(KeyRing);
    const rows = await service.database.rows<{ payload: string }>(
      'SELECT payload FROM mail_outbox WHERE payload IS NOT NULL ORDER BY created_at',
    );
    // The notices of the change itself go to both addresses, and have neither a link nor a code.
    const mails = rows.map(({ payload }) => openMail(keys, payload));
    return mails.filter(({ to, kind }) => to === address && kind !== 'account-changed');
  }
  const linksTo = async (address: string) =>
    (await mailsTo(address)).map((mail) => {
      if (mail.kind !== 'reset-link') throw new Error(`expected a link, found ${mail.kind}`);
      return String(new URL(mail.link).searchParams.get('uid'));
    });
  const codesTo = async (address: string) =>
    (await mailsTo(address)).map((mail) => {
      if (mail.kind !== 'otp') throw new Error(`expected a code, found ${mail.kind}`);
      return mail.code;
    });
  const verify = async ({ uid }: User, code: string | undefined) =>
    codeOf(await service.post('/otp-verify', { uid, type: 'email', code }));
  const forget = async (email: string) => codeOf(await service.post('/forget-password', { email }));
  const requestsOf = ({ uid }: User) => service.count('user_change_password_request', 'user_id = ?', [uid]);

  const tombstone = async ({ uid }: User) => {
    const row = await service.userRow(uid);
    expect(row).toMatchObject({
      login_name: `deleted-${uid}`,
      ...{ email: null, email_key: null, nickname: null, password: null, salt: null, directory_id: null, is_admin: 0 },
    });
  };

  describe('the address of the user changes', () => {
    it('the link of a forgotten password goes to the new address, and never to the former one', async () => {
      const user = await service.givenUser('moved-link');
      overtakenBy(() => move(user, newOf(user)));
      expect(await forget(formerOf(user))).toBe('success');
      expect(await mailsTo(formerOf(user))).toEqual([]);
      const links = await linksTo(newOf(user));
      expect(links).toHaveLength(1);
      expect(codeOf(await submit(service, links[0], goodPassword(1)))).toBe('success');
    });

    it('without a new address there is no link, and the answer is that for an unknown address', async () => {
      const user = await service.givenUser('moved-nowhere');
      overtakenBy(() => move(user, null));
      expect(await forget(formerOf(user))).toBe('AUTH_404002');
      expect([await mailsTo(formerOf(user)), await requestsOf(user)]).toEqual([[], 0]);
    });

    it('the code of a login goes to the new address, and never to the former one', async () => {
      const user = await service.givenUser('moved-code');
      overtakenBy(() => move(user, newOf(user)));
      expect((await service.login(user.loginName)).body.data).toMatchObject({ mfa_required: true });
      expect(await mailsTo(formerOf(user))).toEqual([]);
      expect(await verify(user, (await codesTo(newOf(user)))[0])).toBe('success');
    });

    it('at the same time as logins and resets, in any order: no code and no link in the former mailbox works', async () => {
      for (let round = 0; round < 6; round++) {
        const [one, two] = await Promise.all([
          service.givenUser(`moving-code-${round}`),
          service.givenUser(`moving-link-${round}`),
        ]);
        const [login, forgotten] = await Promise.all([
          service.login(one.loginName),
          forget(formerOf(two)),
          move(one, newOf(one)),
          move(two, newOf(two)),
        ]);
        expect([codeOf(login), forgotten]).toEqual(['success', expect.stringMatching(/^(success|AUTH_404002)$/)]);
        for (const code of await codesTo(formerOf(one))) expect(await verify(one, code)).toBe('MFA_401001');
        for (const code of await codesTo(newOf(one))) expect(await verify(one, code)).toBe('success');
        for (const link of await linksTo(formerOf(two))) expect(codeOf(await look(service, link))).toBe('AUTH_401007');
        for (const link of await linksTo(newOf(two))) expect(codeOf(await look(service, link))).toBe('success');
      }
    });
  });

  describe('the user is deleted', () => {
    it('a forgotten password is answered as for an unknown address: no mail, no link, no start of the cooldown', async () => {
      const user = await service.givenUser('erased-link');
      overtakenBy(() => erase(user));
      expect(await forget(formerOf(user))).toBe('AUTH_404002');
      expect([await mailsTo(formerOf(user)), await requestsOf(user)]).toEqual([[], 0]);
      expect(await service.count('cooldowns', "subject = ? AND until > '2001-01-01'", [user.uid])).toBe(0);
    });

    it('with HIDE_ACCOUNT_EXISTENCE the answer is the one for every address', async () => {
      const { store, clock } = service;
      const hiding = await TestService.start({ ...settings, HIDE_ACCOUNT_EXISTENCE: 'true' }, { store, clock });
      try {
        const user = await service.givenUser('erased-hidden');
        overtakenBy(() => erase(user), hiding);
        expect(codeOf(await hiding.post('/forget-password', { email: formerOf(user) }))).toBe('success');
        expect([await mailsTo(formerOf(user)), await requestsOf(user)]).toEqual([[], 0]);
      } finally {
        await hiding.stop({ keepStore: true });
      }
    });

    it('a login with the right password is refused, without a mail and without a pending login', async () => {
      const user = await service.givenUser('erased-login');
      overtakenBy(() => erase(user));
      expect(codeOf(await service.login(user.loginName))).toBe('LOGIN_401001');
      expect(await mailsTo(formerOf(user))).toEqual([]);
      expect(await service.count('pending_logins', 'user_id = ?', [user.uid])).toBe(0);
    });

    it('a link that is being used is unknown, and the tombstone has no password', async () => {
      const user = await service.givenUser('erased-use');
      await forget(formerOf(user));
      const [link] = await linksTo(formerOf(user));
      const hasher = service.app.get(PasswordHasher);
      const hash = hasher.hash.bind(hasher);
      jest.spyOn(hasher, 'hash').mockImplementationOnce(async (...given) => {
        await erase(user);
        return hash(...given);
      });
      expect(codeOf(await submit(service, link, goodPassword(1)))).toBe('AUTH_401003');
      await tombstone(user);
    });

    it('a link that was made for the tombstone is unknown, and no password is written', async () => {
      const { uid } = await service.givenUser('erased-before');
      await erase({ uid } as User);
      const users = service.app.get(UsersRepository);
      const credentialVersion = Number((await service.userRow(uid)).credential_version);
      const { token } = await service.app
        .get(Cooldowns)
        .serialise({ kind: 'reset', subject: uid }, (tx) =>
          service.app.get(PasswordChangeRequests).open(tx, { uid, credentialVersion }, changeType.forgotten, 600),
        );
      expect(codeOf(await look(service, token))).toBe('AUTH_401003');
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('AUTH_401003');
      const written = { temporary: false, issuedUnder: credentialVersion };
      expect(await users.setPassword(service.database, uid, 'x'.repeat(60), written)).toBe(false);
      await tombstone({ uid } as User);
    });

    it('at the same time as logins and resets, in any order: the tombstone has no link and no password', async () => {
      for (let round = 0; round < 6; round++) {
        const user = await service.givenUser(`erasing-${round}`);
        await Promise.all([service.login(user.loginName), forget(formerOf(user)), erase(user)]);
        expect(await requestsOf(user)).toBe(0);
        for (const mail of await mailsTo(formerOf(user))) {
          if (mail.kind === 'otp') expect(await verify(user, mail.code)).toBe('MFA_401001');
        }
        await tombstone(user);
      }
    });
  });

  describe('a directory user is deleted during a login', () => {
    const given = async (name: string) => {
      const user = await service.givenUser(name, {
        provider: 'ldap',
        nickname: 'Before',
        email: formerOf({ loginName: name } as User),
      });
      const entry = { id: randomUUID(), name: 'After', email: newOf(user), groups: { required: true, admin: true } };
      const directory = service.app.get(Directory);
      jest.spyOn(directory, 'find').mockResolvedValue(foundPerson(name, entry));
      jest.spyOn(directory, 'judge').mockResolvedValue({ kind: 'right' });
      return user;
    };

    it.each(['bind', 'setNickname', 'setEmail', 'setAdmin'] as const)(
      'before the login writes by %s: it is refused, and nothing of the person is written back',
      async (step) => {
        const user = await given(`directory-${step}`);
        const accounts = service.app.get(DirectoryAccounts);
        const { database } = service;
        const transaction = database.transaction.bind(database);
        // The erasure commits before the transaction of this write begins.
        let writes = ['bind', 'setNickname', 'setEmail', 'setAdmin'].indexOf(step);
        jest.spyOn(database, 'transaction').mockImplementation(async (work) => {
          if (writes-- === 0) await erase(user);
          return transaction(work);
        });
        const written = jest.spyOn(accounts, step);
        expect(codeOf(await ldapLogin(service, user.loginName))).toBe('LOGIN_401001');
        expect(written).toHaveBeenCalledTimes(1);
        jest.restoreAllMocks();
        await tombstone(user);
      },
    );

    it('after the login: the audit trail has the uid of the tombstone, and never had the id of the entry', async () => {
      const user = await given('directory-audited');
      expect(codeOf(await ldapLogin(service, user.loginName))).toBe('success');
      const { directory_id: id } = await service.userRow(user.uid);
      const rows = () =>
        service.database.rows<{ event: string }>('SELECT * FROM audit_logs WHERE user_id = ? ORDER BY id', [user.uid]);
      const before = await rows();
      expect(before.map(({ event }) => event)).toContain('USER_DIRECTORY_BOUND');
      expect(JSON.stringify(before)).not.toContain(id);
      await erase(user);
      expect(JSON.stringify(await rows())).not.toMatch(new RegExp(`${id}|After|${newOf(user)}`));
    });

    it('at the same time, in any order: the tombstone identifies nobody', async () => {
      for (let round = 0; round < 6; round++) {
        const user = await given(`directory-erasing-${round}`);
        await Promise.all([ldapLogin(service, user.loginName), erase(user)]);
        await tombstone(user);
      }
    });
  });
});
