import { DataSource } from 'typeorm';
import type { Transaction } from '../../src/platform/database/database';
import { AdoptedUsers } from '../../src/users/adopted-users';
import { DirectoryAccounts } from '../../src/users/directory-accounts';
import { UserAccounts } from '../../src/users/user-accounts';
import { type UserFilter, UserListing, type UserPlace, type UserSort, userSorts } from '../../src/users/user-listing';
import { UserTombstones } from '../../src/users/user-tombstones';
import { UserTotals } from '../../src/users/user-totals';
import { UserWords } from '../../src/users/user-words.repository';
import { waysOf } from '../../src/users/listing/ways';
import type { User } from '../../src/users/user.entity';
import { UserTraces } from '../../src/platform/database/user-traces';
import { termsOf, wordsOf } from '../../src/shared/search-words';
import { TestService } from '../support/app';
import { SeededNumbers } from '../support/seeded-numbers';

describe('the search of users by any word', () => {
  let service: TestService;
  let listing: UserListing;
  let totals: UserTotals;
  beforeAll(async () => {
    service = await TestService.start({ MAX_LOCK_COUNT: '3', USER_LOCK_TIME: '900' });
    listing = service.app.get(UserListing);
    totals = service.app.get(UserTotals);
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [
      service.clock.now(),
    ]);
  });
  afterAll(() => service.stop());
  const total = async (filter: UserFilter) => totals.of(filter, await totals.survey(filter));
  const wipe = async () => {
    await service.database.affected('DELETE FROM users');
    await service.database.affected('DELETE FROM user_words');
  };

  /** All pages of a list, each of `limit` rows. */
  async function names(filter: UserFilter, limit = 2, surveyed?: Promise<undefined>): Promise<string[]> {
    const found: string[] = [];
    let after: UserPlace | undefined;
    for (let page = 0; page < 1000; page++) {
      const { items, next } = await listing.page(filter, { limit, after, surveyed });
      found.push(...items.map(({ loginName }) => loginName));
      if (next === null) return found;
      after = next;
    }
    throw new Error('the list has no end');
  }

  describe('who is found', () => {
    beforeAll(async () => {
      await service.givenUser('a.mueller', { nickname: 'Anna Müller', email: 'anna@x.test' });
      await service.givenUser('hml', { nickname: 'Hans-Peter Müller-Lüdenscheidt', email: null, tenantId: 'acme' });
      await service.givenUser('mueller.b', { nickname: null, email: 'b@x.test' });
      await service.givenUser('weiß', { nickname: "Bob O'Brien", email: 'jörg@x.test', status: -1 });
      await service.givenUser('anna-maria', { nickname: 'SMITH, A.', email: 'am@x.test' });
    });
    afterAll(wipe);

    it.each<[string, string[]]>([
      ['muller', ['a.mueller', 'hml']],
      // The login name first, as in version 1.0.0. Typed so, the name has this spelling.
      ['mueller', ['mueller.b', 'a.mueller', 'hml']],
      ['MÜLLER', ['hml', 'a.mueller', 'mueller.b']],
      ['müller anna', ['a.mueller']],
      ['ann mül', ['a.mueller']],
      ['lud', ['hml']],
      ['luedenscheidt peter', ['hml']],
      ['peter-hans', ['hml']],
      ['WEISS', ['weiß']],
      ['obrien', ['weiß']],
      ['joerg', ['weiß']],
      ['anna-maria', ['anna-maria']],
      ['smith anna-m', ['anna-maria']],
      ['anna', ['anna-maria', 'a.mueller']],
      ['anna-', ['anna-maria', 'a.mueller']],
      ['anna-anna', ['anna-maria', 'a.mueller']],
      ['uller', []],
      ['anna nobody', []],
      ['x.test', []],
      ['( ', []],
    ])('%s', async (query, expected) => {
      expect((await names({ query })).sort()).toEqual([...expected].sort());
      expect(await total({ query })).toBe(expected.length);
      for (const sort of userSorts) expect((await names({ query, sort })).sort()).toEqual([...expected].sort());
    });

    it('what version 1.0.0 finds comes first, in its order', async () => {
      expect(await names({ query: 'anna' })).toEqual(['anna-maria', 'a.mueller']);
      expect(await names({ query: 'a' })).toEqual(['a.mueller', 'anna-maria']);
    });

    it.each<[UserFilter, string[]]>([
      [{ within: 'acme', query: 'muller' }, ['hml']],
      [{ within: 'acme', query: 'anna' }, []],
      [{ within: 'acme', tenantId: 'root', query: 'muller' }, []],
      [{ within: 'acme', tenantId: 'root' }, []],
      [{ tenantId: 'root', query: 'muller' }, ['a.mueller']],
      [{ status: -1, query: 'bob' }, ['weiß']],
      [{ status: 1, query: 'bob' }, []],
      [{ status: -1 }, ['weiß']],
      [{ status: -1, within: 'acme' }, []],
      [{ locked: true, query: 'bob' }, []],
      [{ locked: false, query: 'bob' }, ['weiß']],
      [{ provider: 'ldap', query: 'bob' }, []],
      [{}, ['a.mueller', 'anna-maria', 'hml', 'mueller.b', 'weiß']],
    ])('with other filters, with its total and in each order: %j (T610)', async (filter, expected) => {
      expect(await names(filter)).toEqual(expected);
      expect(await total(filter)).toBe(expected.length);
      for (const sort of userSorts) expect((await names({ ...filter, sort })).sort()).toEqual(expected);
    });
  });

  it('a page that has counted tells the total, so that nobody counts again', async () => {
    for (const name of ['counted-1', 'counted-2']) await service.givenUser(name, { nickname: null, password: null });
    for (const filter of [
      { query: 'counted', sort: 'login_name' },
      { query: 'counted', status: 1 },
    ] as const) {
      const { items, total: counted } = await listing.page(filter, { limit: 1 });
      expect([items.length, counted]).toEqual([1, 2]);
    }
    await wipe();
  });

  // SQLite takes the name for a comment, and MariaDB refuses the statement.
  it('each way reads an index that its table has', async () => {
    const runner = service.app.get(DataSource).createQueryRunner();
    const tables = await runner.getTables(['users', 'user_words']);
    await runner.release();
    const indices = tables.flatMap(({ indices: some, uniques }) => [...some, ...uniques].map(({ name }) => name));
    for (const tenantId of [undefined, 'acme']) {
      const ways = waysOf({ query: 'ann', status: 1, locked: true, tenantId }, { maxCount: 3, since: new Date(0) });
      const named = ways.map(({ entries }) => /FORCE INDEX \((.*?)\)/.exec(entries.text)?.[1]);
      expect(new Set(named).size).toBe(4);
      for (const index of named) expect(indices).toContain(index);
    }
  });

  describe('the order', () => {
    const day = 86_400_000;
    const users = Array.from({ length: 40 }, (_, n) => ({
      uid: `u${String(n).padStart(2, '0')}`,
      loginName: `login${String((n * 7) % 40).padStart(2, '0')}`,
      // Several have the same time.
      createdAt: new Date(Date.UTC(2020, 0, 1) + Math.floor(n / 5) * day),
      lastLogin: n % 4 === 0 ? null : new Date(Date.UTC(2024, 0, 1) + ((n * 11) % 7) * day),
    }));
    beforeAll(async () => {
      for (const { uid, loginName, createdAt, lastLogin } of users) {
        await service.givenUser(loginName, { uid, createdAt, email: null, nickname: 'Same Word', password: null });
        await service.database.affected('UPDATE users SET last_login_success_time = ? WHERE uid = ?', [lastLogin, uid]);
      }
    });
    afterAll(wipe);

    const key = (sort: UserSort, user: (typeof users)[number]): string | number =>
      sort.endsWith('login_name')
        ? user.loginName
        : sort.endsWith('created_at')
          ? user.createdAt.getTime()
          : (user.lastLogin?.getTime() ?? 0);
    const sorted = (sort: UserSort) => {
      const up = [...users].sort((a, b) => {
        const [x, y] = [key(sort, a), key(sort, b)];
        return x < y ? -1 : x > y ? 1 : a.uid < b.uid ? -1 : 1;
      });
      return (sort.startsWith('-') ? up.reverse() : up).map(({ loginName }) => loginName);
    };

    it.each(userSorts)('%s, page by page, of a list and of a search', async (sort) => {
      for (const filter of [{ sort }, { sort, query: 'word same' }, { sort, status: 1 }])
        for (const limit of [3, 50]) expect(await names(filter, limit)).toEqual(sorted(sort));
    });
  });

  it('finds, orders and counts as a naive reading of all users does, whatever the filters and the pages', async () => {
    const random = new SeededNumbers(1770);
    const pick = <T>(from: readonly T[]): T => random.pick(from);
    const people = Array.from({ length: 120 }, (_, n) => ({
      uid: `r${String((n * 71) % 120).padStart(3, '0')}`,
      loginName: `${pick(['anna', 'an', 'bob', 'zoe'])}.${n}`,
      email: pick([null, `anna${n}@x.test`, `m${n}@x.test`]),
      nickname: pick([null, 'Anna Müller', 'Bob Annan', 'Zoë Müller-Anna', 'Muel']),
      status: pick([1, 1, 1, -1]),
      tenantId: pick(['root', 'root', 'acme']),
      createdAt: new Date(Date.UTC(2020, 0, 1 + (n % 9))),
      failed: pick([0, 0, 3]),
      lastLogin: pick([null, new Date(Date.UTC(2024, 0, 1 + (n % 5)))]),
    }));
    for (const { failed, lastLogin, ...one } of people) {
      await service.givenUser(one.loginName, { ...one, password: null });
      await service.database.affected(
        'UPDATE users SET login_failed_count = ?, last_login_failed_time = ?, last_login_success_time = ? WHERE uid = ?',
        [failed, failed > 0 ? service.clock.now() : null, lastLogin, one.uid],
      );
    }
    const starts = (text: string | null, query: string) => text?.toLowerCase().startsWith(query.toLowerCase()) === true;
    const part = (one: (typeof people)[number], query: string) =>
      [one.loginName, one.email, one.nickname].findIndex((text) => starts(text, query));
    const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
    const naive = (filter: UserFilter) => {
      const { query = '', status, tenantId, locked, sort } = filter;
      const terms = termsOf(query).map(({ parts }) => parts[0]!);
      const found = people.filter(
        (one) =>
          (status === undefined || one.status === status) &&
          (tenantId === undefined || one.tenantId === tenantId) &&
          (locked === undefined || one.failed > 0 === locked) &&
          terms.every((term) => wordsOf(one).some((word) => term.some((text) => word.startsWith(text)))),
      );
      const keys: Record<string, (one: (typeof people)[number]) => string | number> = {
        login_name: (one) => one.loginName,
        created_at: (one) => one.createdAt.getTime(),
        last_login_at: (one) => one.lastLogin?.getTime() ?? 0,
      };
      const key = keys[(sort ?? 'login_name').replace('-', '')]!;
      found.sort(
        (a, b) => Number(key(a)) - Number(key(b)) || byText(String(key(a)), String(key(b))) || byText(a.uid, b.uid),
      );
      if (sort?.startsWith('-')) found.reverse();
      return found;
    };
    // What one reading finds in the order of an index, another one finds by looking up and sorting.
    const readings = [undefined, Promise.resolve(undefined)];
    for (let round = 0; round < 60; round++) {
      const filter: UserFilter = {
        query: pick([undefined, 'anna', 'an', 'müller', 'mueller anna', 'b', 'zoe muel', 'nobody']),
        status: pick([undefined, undefined, 1, -1]),
        tenantId: pick([undefined, undefined, 'acme']),
        locked: pick([undefined, undefined, true, false]),
        sort: pick([undefined, ...userSorts]),
      };
      const expected = naive(filter).map(({ loginName }) => loginName);
      const limit = pick([3, 7, 50]);
      const pages: string[][] = [];
      for (const surveyed of readings) pages.push(await names(filter, limit, surveyed));
      const what = JSON.stringify([filter, limit]);
      expect([what, [...pages[0]!].sort()]).toEqual([what, [...expected].sort()]);
      // Of two words, either can lead the part of a search that has no order.
      const isOrdered = filter.sort !== undefined || !filter.query?.includes(' ');
      if (isOrdered) expect([what, pages[1]]).toEqual([what, pages[0]]);
      else expect([what, [...pages[1]!].sort()]).toEqual([what, [...expected].sort()]);
      if (filter.sort !== undefined || (filter.query === undefined && filter.locked !== true)) {
        expect([what, pages[0]]).toEqual([what, expected]);
      } else if (filter.query !== undefined) {
        const parts = pages[0]!.map((name) =>
          part(
            people.find(({ loginName }) => loginName === name)!,
            filter.query!,
          ),
        );
        const order = parts.map((number) => (number < 0 ? 3 : number));
        expect([what, order]).toEqual([what, [...order].sort()]);
      }
      expect([what, await total(filter)]).toEqual([what, expected.length]);
      expect([what, (await listing.page(filter, { limit })).total ?? expected.length]).toEqual([what, expected.length]);
    }
    await wipe();
  });

  describe('the words of a user', () => {
    const words = async (uid: string) => {
      const rows = await service.database.rows<{ word: string; tenant: string }>(
        'SELECT word, tenant_id AS tenant FROM user_words WHERE user_id = ? ORDER BY word',
        [uid],
      );
      return rows.map(({ word, tenant }) => `${tenant}/${word}`);
    };
    const expected = async (uid: string) => {
      const user = await service.database.row<User>(
        'SELECT login_name AS loginName, email, nickname, tenant_id AS tenantId FROM users WHERE uid = ?',
        [uid],
      );
      return wordsOf(user!)
        .map((word) => `${user!.tenantId}/${word}`)
        .sort();
    };
    const changed = (work: (tx: Transaction) => Promise<unknown>) => service.database.transaction(work);

    it('follow each change of a name, an address, a nickname and a tenant, whoever makes it', async () => {
      const { app, database } = service;
      const accounts = app.get(UserAccounts);
      const directory = app.get(DirectoryAccounts);
      const local = await service.givenUser('local', { nickname: 'First Name' });
      const followed = await service.givenUser('followed', { provider: 'ldap', nickname: 'Former', directoryId: 'd1' });
      const adopted = { ...local, uid: 'adopted', loginName: 'adopted', email: 'ad@x.test', nickname: 'Zoë Adopted' };
      await app
        .get(AdoptedUsers)
        .insert(database, [{ ...adopted, passwordHash: null, temporary: false, passwordSetAt: undefined }]);
      const steps: [string, () => Promise<unknown>][] = [
        ['adopted', () => Promise.resolve()],
        [local.uid, () => changed((tx) => accounts.change(tx, local, { nickname: 'Other Jäger' }))],
        [local.uid, () => changed((tx) => accounts.change(tx, local, { email: 'new@x.test' }))],
        [local.uid, () => changed((tx) => accounts.change(tx, local, { tenantId: 'acme' }))],
        [local.uid, () => changed((tx) => accounts.change(tx, local, { nickname: null, email: null }))],
        [local.uid, () => changed((tx) => accounts.rename(tx, local, 'Re-Named'))],
        [followed.uid, () => directory.setNickname(database, followed, 'Zoë Followed')],
        [followed.uid, () => directory.setEmail(database, followed, 'zoe@x.test')],
        [followed.uid, () => directory.setLoginName(database, followed, 'd1', 'zoe.f')],
      ];
      for (const [uid, step] of steps) {
        const before = await words(uid);
        await step();
        expect(await words(uid)).toEqual(await expected(uid));
        if (uid !== 'adopted') expect(await words(uid)).not.toEqual(before);
      }
      expect(await names({ query: 'zoe followed' })).toEqual(['zoe.f']);
      expect(await names({ within: 'acme', query: 're-n' })).toEqual(['Re-Named']);
    });

    it('a change that is rolled back, or that loses its race, leaves the words', async () => {
      const user = await service.givenUser('steady', { nickname: 'Steady', provider: 'ldap' });
      const before = await words(user.uid);
      const failed = changed(async (tx) => {
        await service.app.get(UserAccounts).change(tx, user, { nickname: 'Gone' });
        throw new Error('rolled back');
      });
      await expect(failed).rejects.toThrow('rolled back');
      const stale = Object.assign(Object.create(user) as User, { nickname: 'another' });
      expect(await service.app.get(DirectoryAccounts).setNickname(service.database, stale, 'Late')).toBe(false);
      expect(await words(user.uid)).toEqual(before);
    });

    it('two changes of one user at the same time leave the words of both', async () => {
      const accounts = service.app.get(UserAccounts);
      const hold = (tx: Transaction, uid: string) =>
        tx.affected('UPDATE users SET held = held + 1 WHERE uid = ?', [uid]);
      for (let round = 0; round < 8; round++) {
        const user = await service.givenUser(`racing${round}`, { nickname: `Before ${round}` });
        await Promise.all(
          [{ nickname: `After ${round}` }, { email: `after${round}@y.test` }, { tenantId: 'acme' }].map((change) =>
            changed(async (tx) => {
              await tx.row('SELECT uid FROM users WHERE uid = ?', [user.uid]);
              await hold(tx, user.uid);
              await accounts.change(tx, user, change);
            }),
          ),
        );
        expect(await words(user.uid)).toEqual(await expected(user.uid));
        expect(await words(user.uid)).toContain('acme/after');
      }
    });

    it('end with the user (T612)', async () => {
      const user = await service.givenUser('leaver', { nickname: 'Leaving Person' });
      await changed(async (tx) => {
        await service.app.get(UserTombstones).bury(tx, user.uid);
        await service.app.get(UserTraces).erase(tx, user.uid);
      });
      expect(await words(user.uid)).toEqual([]);
      expect(await names({ query: 'leaving' })).toEqual([]);
      expect(await names({ query: 'leaving', sort: 'created_at' })).toEqual([]);
    });

    it('are repaired where an earlier version has written a name alone', async () => {
      const { database } = service;
      const user = await service.givenUser('repaired', { nickname: 'Old Name' });
      const [gone, right] = [await service.givenUser('gone'), await service.givenUser('right')];
      await database.affected("UPDATE users SET nickname = 'New Name', tenant_id = 'acme' WHERE uid = ?", [user.uid]);
      await database.affected('UPDATE users SET deleted_at = ? WHERE uid = ?', [service.clock.now(), gone.uid]);
      const refilled = jest.spyOn(UserWords.prototype, 'follow');
      await service.app.get(UserWords).repair();
      expect(refilled.mock.calls.map(([, uid]) => uid).sort()).toEqual([user.uid, gone.uid].sort());
      expect(await words(user.uid)).toEqual(await expected(user.uid));
      expect(await words(gone.uid)).toEqual([]);
      expect(await words(right.uid)).toEqual(await expected(right.uid));
      await service.app.get(UserWords).repair();
      expect(refilled).toHaveBeenCalledTimes(2);
      refilled.mockRestore();
    });
  });
});
