import { Database } from '../../src/platform/database/database';
import type { SqlValue } from '../../src/platform/database/sql';
import { type ListedUser, pageRows, type UserFilter, UserListing, type UserPlace } from '../../src/users/user-listing';
import { AdoptedUsers } from '../../src/users/adopted-users';
import { DirectoryAccounts } from '../../src/users/directory-accounts';
import { UserAccounts } from '../../src/users/user-accounts';
import { UserTombstones } from '../../src/users/user-tombstones';
import { TestService } from '../support/app';

const pages = 3;
const accounts = 2 * pageRows + 500;

describe('the list of accounts', () => {
  let service: TestService;
  let listing: UserListing;
  beforeAll(async () => {
    service = await TestService.start({ MAX_LOCK_COUNT: '3', USER_LOCK_TIME: '900' });
    listing = service.app.get(UserListing);
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [
      service.clock.now(),
    ]);
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  const all = async (filter: UserFilter = {}, limit?: number) => {
    const found: ListedUser[] = [];
    for await (const page of listing.pages(filter, limit)) found.push(...page);
    return found;
  };
  const names = async (filter: UserFilter) => (await all(filter)).map(({ loginName }) => loginName);

  describe('filters', () => {
    beforeAll(async () => {
      await service.givenUser('Anna', { email: 'a.smith@example.com', nickname: 'Änni' });
      await service.givenUser('100%_x', { email: 'percent@example.com', nickname: null });
      await service.givenUser('100abx', { email: null, nickname: 'smithy' });
      await service.givenUser('bob', { provider: 'ldap', tenantId: 'acme', nickname: 'SMITH, Bob' });
      await service.givenUser('carol', { status: -1 });
      await service.givenUser('dora', { status: -1, tenantId: 'acme' });
      const locked = await service.givenUser('erin');
      const open = await service.givenUser('frank');
      const fail = 'UPDATE users SET login_failed_count = 3, last_login_failed_time = ? WHERE uid = ?';
      await service.database.affected(fail, [service.clock.secondsFromNow(-899), locked.uid]);
      await service.database.affected(fail, [service.clock.secondsFromNow(-901), open.uid]);
    });
    afterAll(() => service.database.affected("DELETE FROM users WHERE login_name_key <> ''"));

    it.each<[string, UserFilter, string[]]>([
      ['none', {}, ['100%_x', '100abx', 'Anna', 'bob', 'carol', 'dora', 'erin', 'frank']],
      ['the beginning of a name, whatever its case', { query: 'AN' }, ['Anna']],
      ['the beginning of an address', { query: 'a.smith@' }, ['Anna']],
      ['the beginning of a nickname, whatever its case', { query: 'smith' }, ['bob', '100abx']],
      ['a nickname as it is typed, beyond ASCII', { query: 'Änn' }, ['Anna']],
      ['no account by the middle of a name or a nickname', { query: 'mith' }, []],
      ['a percent sign and an underscore are characters like others', { query: '100%_' }, ['100%_x']],
      ['an exclamation mark is a character like others', { query: '!' }, []],
      ['a status', { status: -1 }, ['carol', 'dora']],
      ['a tenant', { tenantId: 'acme' }, ['bob', 'dora']],
      ['a provider', { provider: 'ldap' }, ['bob']],
      ['the locked accounts', { locked: true }, ['erin']],
      ['the accounts that are not locked', { locked: false, query: 'f' }, ['frank']],
      ['all filters', { status: -1, tenantId: 'acme', provider: 'password', query: 'd', locked: false }, ['dora']],
    ])('%s', async (_what, filter, expected) => {
      expect(await names(filter)).toEqual(expected);
    });

    it('every writer of a nickname leaves a key that the search finds, and a deletion leaves none', async () => {
      const { app, database } = service;
      const [changed, deleted, followed] = [
        await service.givenUser('changed', { nickname: 'Former' }),
        await service.givenUser('deleted', { nickname: 'Former' }),
        await service.givenUser('followed', { nickname: 'Former', provider: 'ldap' }),
      ];
      const adopted = { ...changed, uid: 'adopted', loginName: 'adopted', email: null, nickname: 'Zoë From Elsewhere' };
      await database.transaction((tx) => app.get(UserAccounts).change(tx, changed, { nickname: 'Zoë Changed' }));
      await app.get(DirectoryAccounts).setNickname(database, followed, 'Zoë Followed');
      await app
        .get(AdoptedUsers)
        .insert(database, [{ ...adopted, passwordHash: null, temporary: false, passwordSetAt: undefined }]);
      await database.transaction((tx) => app.get(UserTombstones).bury(tx, deleted.uid));
      expect(await names({ query: 'zoë' })).toEqual(['changed', 'followed', 'adopted']);
      expect(await names({ query: 'former' })).toEqual([]);
      expect(
        await database.rows('SELECT uid FROM users WHERE deleted_at IS NOT NULL AND nickname_key IS NULL'),
      ).toEqual([{ uid: deleted.uid }]);
      for (const { uid } of [changed, deleted, followed, adopted])
        await database.affected('DELETE FROM users WHERE uid = ?', [uid]);
    });

    it('each page says where the next one begins, and the last page says that there is none', async () => {
      const first = await listing.page({}, { limit: 5 });
      expect(first.items.map(({ loginName }) => loginName)).toEqual(['100%_x', '100abx', 'Anna', 'bob', 'carol']);
      const second = await listing.page({}, { limit: 5, after: first.next! });
      expect(second).toMatchObject({ items: [{ loginName: 'dora' }, {}, { loginName: 'frank' }], next: null });
      expect(await listing.page({}, { limit: 3, after: first.next! })).toMatchObject({ next: null });
    });

    it('each page of a search continues where the one before ended, also from one field to the next', async () => {
      const found: string[] = [];
      let after: UserPlace | undefined;
      do {
        const page = await listing.page({ query: 's' }, { limit: 1, after });
        found.push(...page.items.map(({ loginName }) => loginName));
        after = page.next ?? undefined;
      } while (after !== undefined);
      expect(found).toEqual(await names({ query: 's' }));
      expect(new Set(found).size).toBe(found.length);
      expect(found).toEqual(expect.arrayContaining(['100abx', 'bob']));
    });

    const sqlite = __DATABASE__ === 'sqlite' ? it : it.skip;
    sqlite('each part is read by an index, and sorted by it', async () => {
      const rows = jest.spyOn(service.database, 'rows');
      const filters: UserFilter[] = [
        {},
        { query: 'a' },
        { within: 'acme' },
        { within: 'acme', query: 'a' },
        { status: -1 },
        { locked: true },
      ];
      for (const filter of filters) {
        // As if each filter had found more users than are sorted.
        const surveyed = Promise.resolve(undefined);
        const first = await listing.page(filter, { limit: 1, surveyed });
        if (first.next !== null) await listing.page(filter, { limit: 1, after: first.next, surveyed });
      }
      const asked = rows.mock.calls.filter(([statement]) => statement.includes('AS placeKey'));
      rows.mockRestore();
      expect(asked.length).toBeGreaterThan(10);
      for (const [statement, values] of asked) {
        const plan = await service.database.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${statement}`, values);
        const steps = plan.map(({ detail }) => detail);
        const wrong = steps.filter((step) => /TEMP B-TREE|SCAN user/.test(step));
        expect([statement, wrong]).toEqual([statement, []]);
        expect(steps).toContainEqual(expect.stringMatching(/^SEARCH user(s|_words) USING (COVERING )?INDEX/));
      }
    });

    it('contains no secret', async () => {
      expect(Object.keys((await all({ query: 'anna' }))[0] ?? {}).sort()).toEqual([
        'createdAt',
        'email',
        'identityProviderId',
        'isAdmin',
        'lastLoginAt',
        'locked',
        'loginName',
        'mfaType',
        'nickname',
        'orgUnitId',
        'provider',
        'role',
        'status',
        'tenantId',
        'uid',
      ]);
    });
  });

  describe(`${accounts} accounts`, () => {
    const expected = Array.from({ length: accounts }, (_, n) => `user${String(n).padStart(5, '0')}`);
    beforeAll(async () => {
      for (let from = 0; from < accounts; from += 500) {
        const rows = expected.slice(from, from + 500);
        await service.database.affected(
          `INSERT INTO users (uid, login_name, login_name_key, tenant_id, created_at) VALUES ${rows.map(() => "(?, ?, ?, 'root', ?)").join(', ')}`,
          rows.flatMap((name) => [name, name, name, service.clock.now()]),
        );
      }
    });

    /** Collects the number of rows that each statement of the listing returns. */
    function counted(): number[] {
      const counts: number[] = [];
      const database = service.app.get(Database);
      const rows = database.rows.bind(database);
      jest.spyOn(database, 'rows').mockImplementation(async <Row>(statement: string, values?: readonly SqlValue[]) => {
        const found = await rows<Row>(statement, values);
        if (statement.includes('AS placeKey')) counts.push(found.length);
        return found;
      });
      return counts;
    }

    it('are all listed once, in order, and no statement reads more than a page', async () => {
      const counts = counted();
      expect((await all()).map(({ loginName }) => loginName)).toEqual(expected);
      expect(counts).toHaveLength(pages);
      expect(Math.max(...counts)).toBeLessThanOrEqual(pageRows + 1);
    });

    it('are read page by page, so that a slow reader does not fill the memory', async () => {
      const counts = counted();
      const reader = listing.pages({});
      await reader.next();
      await new Promise((resolve) => setImmediate(resolve));
      expect(counts).toHaveLength(1);
      await reader.return(undefined);
      expect(counts).toHaveLength(1);
    });

    it('with a limit one row more than the limit is read, which shows whether there are more accounts', async () => {
      const counts = counted();
      expect((await all({}, 7)).map(({ loginName }) => loginName)).toEqual(expected.slice(0, 7));
      expect(counts).toEqual([8]);
      expect(await all({}, pageRows + 1)).toHaveLength(pageRows + 1);
    });

    it('are listed once each while accounts are created and removed', async () => {
      const found: string[] = [];
      for await (const page of listing.pages({})) {
        found.push(...page.map(({ loginName }) => loginName));
        await service.database.affected("DELETE FROM users WHERE login_name_key = 'user00001'");
        if (found.length === pageRows) await service.givenUser('first-of-all', { email: null });
      }
      expect(found).toEqual(expected);
    });
  });
});
