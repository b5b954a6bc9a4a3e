import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database';
import { DirectoryAccounts, type Look } from '../../src/users/directory-accounts';
import { AccountProblem } from '../../src/users/account-problem';
import type { User } from '../../src/users/user.entity';
import { TestService } from '../support/app';
import { freshName } from '../support/ldap';

const racers = 20;

/** The guarded writes of src/users/directory-accounts.ts: who races, who wins, and what the others see. */
describe('races for the account of a directory user', () => {
  let service: TestService;
  let accounts: DirectoryAccounts;
  let database: Database;

  beforeAll(async () => {
    service = await TestService.start();
    accounts = service.app.get(DirectoryAccounts);
    database = service.database;
  });
  afterAll(() => service.stop());

  const givenUser = (more: Parameters<TestService['givenUser']>[1] = {}): Promise<User> =>
    service.givenUser(freshName(), { provider: 'ldap', ...more });
  const race = <T>(run: (n: number) => Promise<T>) => Promise.all(Array.from({ length: racers }, (_, n) => run(n)));
  const wins = (results: readonly unknown[]) => results.filter((result) => result === true).length;

  it('of 20 bindings of one account to 20 entries, one wins', async () => {
    const user = await givenUser();
    const ids = Array.from({ length: racers }, () => randomUUID());
    const results = await race((n) => accounts.bind(database, user, ids[n]!));
    expect(wins(results)).toBe(1);
    expect((await service.userRow(user.uid)).directory_id).toBe(ids[results.indexOf(true)]);
  });

  it('of 20 bindings of 20 accounts to one entry, one wins', async () => {
    const users = await Promise.all(Array.from({ length: racers }, () => givenUser()));
    const id = randomUUID();
    expect(wins(await race((n) => accounts.bind(database, users[n]!, id)))).toBe(1);
    expect(await service.count('users', 'directory_id = ?', [id])).toBe(1);
  });

  it('a local account is never bound and never follows a directory', async () => {
    const local = await givenUser({ provider: 'password' });
    const before = await service.userRow(local.uid);
    expect(await accounts.bind(database, local, randomUUID())).toBe(false);
    expect(await accounts.setAdmin(database, local.uid, true)).toBe(false);
    expect(await accounts.setNickname(database, local, 'other')).toBe(false);
    expect(await accounts.setEmail(database, local, 'other@example.test')).toBe(false);
    const due = service.clock.secondsFromNow(1);
    expect(await accounts.claimLook(local.uid, due, 15)).toBeUndefined();
    expect(await service.userRow(local.uid)).toEqual(before);
  });

  it('of 20 changes of the rights one wins, and the credential version grows by one', async () => {
    const user = await givenUser();
    for (const [round, isAdmin] of [true, false].entries()) {
      expect(wins(await race(() => accounts.setAdmin(database, user.uid, isAdmin)))).toBe(1);
      expect(await service.userRow(user.uid)).toMatchObject({
        is_admin: Number(isAdmin),
        credential_version: round + 1,
      });
    }
  });

  it('of 20 accounts that take one address, one gets it', async () => {
    const users = await Promise.all(Array.from({ length: racers }, () => givenUser()));
    const results = await race((n) => accounts.setEmail(database, users[n]!, 'wanted@example.test'));
    expect(wins(results)).toBe(1);
    expect(results.filter((result) => result === 'taken')).toHaveLength(racers - 1);
  });

  describe('a login name that follows the entry', () => {
    const id = () => randomUUID();
    const givenBound = async (directoryId = id()) => {
      const user = await givenUser();
      await accounts.bind(database, user, directoryId);
      return { user, directoryId };
    };

    it('of 20 logins of one account that has been renamed, one changes it', async () => {
      const { user, directoryId } = await givenBound();
      const name = freshName('married');
      const results = await race(() => accounts.setLoginName(database, user, directoryId, name));
      expect(wins(results)).toBe(1);
      expect(results).not.toContain('taken');
      expect(await service.userRow(user.uid)).toMatchObject({ login_name: name, login_name_key: name });
    });

    it('of 20 accounts that take one name, one gets it, and the others keep theirs', async () => {
      const bound = await Promise.all(Array.from({ length: racers }, () => givenBound()));
      const name = freshName('Wanted');
      const results = await race((n) => accounts.setLoginName(database, bound[n]!.user, bound[n]!.directoryId, name));
      expect(wins(results)).toBe(1);
      expect(results.filter((result) => result === 'taken')).toHaveLength(racers - 1);
      const kept = bound.filter((_, n) => results[n] === 'taken').map(({ user }) => user);
      for (const { uid, loginName } of kept) expect((await service.userRow(uid)).login_name).toBe(loginName);
    });

    it('a name that an administrator gives to a new user at the same moment belongs to one of the two', async () => {
      const outcomes = await race(async () => {
        const { user, directoryId } = await givenBound();
        const name = freshName('contested');
        const [followed, made] = await Promise.allSettled([
          database.transaction((tx) => accounts.setLoginName(tx, user, directoryId, name)),
          service.givenUser(name),
        ]);
        const owner = await database.row<{ uid: string }>('SELECT uid FROM users WHERE login_name_key = ?', [name]);
        if (made.status === 'fulfilled') {
          expect(followed).toEqual({ status: 'fulfilled', value: 'taken' });
          expect((await service.userRow(user.uid)).login_name).toBe(user.loginName);
          return owner?.uid === made.value.uid;
        }
        expect(made.reason).toBeInstanceOf(AccountProblem);
        expect(followed).toEqual({ status: 'fulfilled', value: true });
        return owner?.uid === user.uid;
      });
      expect(wins(outcomes)).toBe(racers);
    });

    it('is not written to an account of another entry, without one, deleted, or with the name already', async () => {
      const { user, directoryId } = await givenBound();
      expect(await accounts.setLoginName(database, user, id(), freshName('other'))).toBe(false);
      const same = user.loginName.toUpperCase();
      expect(await accounts.setLoginName(database, user, directoryId, same)).toBe(false);
      const unbound = await givenUser();
      expect(await accounts.setLoginName(database, unbound, id(), freshName('other'))).toBe(false);
      await database.affected('UPDATE users SET deleted_at = ? WHERE uid = ?', [service.clock.now(), user.uid]);
      expect(await accounts.setLoginName(database, user, directoryId, freshName('other'))).toBe(false);
      expect((await service.userRow(user.uid)).login_name).toBe(user.loginName);
    });
  });

  it('of 20 changes of a nickname that was read before, one wins', async () => {
    const user = await givenUser();
    expect(wins(await race((n) => accounts.setNickname(database, user, `nickname ${n}`)))).toBe(1);
  });

  describe('a look', () => {
    const claimed = async (user: User): Promise<Look> => (await accounts.claimLook(user.uid, service.clock.now(), 15))!;

    it('of 20 claims one wins', async () => {
      const user = await givenUser();
      const looks = await race(() => accounts.claimLook(user.uid, service.clock.now(), 15));
      expect(looks.filter((look) => look !== undefined)).toHaveLength(1);
    });

    it('whose claim has ended neither records a result nor gives up the claim of another one', async () => {
      const user = await givenUser();
      const late = await claimed(user);
      service.clock.advanceSeconds(15);
      const next = await claimed(user);
      expect(await accounts.finishLook(late)).toBe(false);
      expect(await accounts.giveUpLook(late)).toBe(false);
      expect(await accounts.refuseByLook(database, late)).toBe(false);
      expect(await accounts.finishLook(next)).toBe(true);
      expect((await accounts.lookState(user.uid))?.seenAt).toEqual(service.clock.now());
    });

    it('is not repeated until it is older, whether it was a refresh or a login', async () => {
      const user = await givenUser();
      await accounts.finishLook(await claimed(user));
      const before = service.clock.secondsFromNow(-1);
      expect(await accounts.claimLook(user.uid, before, 15)).toBeUndefined();
      service.clock.advanceSeconds(10);
      await database.affected('UPDATE users SET last_login_success_time = ? WHERE uid = ?', [
        service.clock.now(),
        user.uid,
      ]);
      expect(await accounts.claimLook(user.uid, before, 15)).toBeUndefined();
      expect((await accounts.lookState(user.uid))?.seenAt).toEqual(service.clock.now());
    });
  });
});
