import { operatorAuthority } from '../../src/admin/authority';
import { UserChanges } from '../../src/admin/user-changes';
import { UserErasure } from '../../src/admin/user-erasure';
import { AuditTrail } from '../../src/audit/audit-trail';
import { FollowedGroups } from '../../src/groups/followed-groups';
import type { GroupChange } from '../../src/groups/group-change';
import { GroupMembers } from '../../src/groups/group-members';
import { GroupProblem } from '../../src/groups/group-problem';
import { Groups } from '../../src/groups/groups.repository';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes of groups', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start({ ADMIN_API: 'on' }, { clock });
    const second =
      __DATABASE__ === 'sqlite' ? first : await TestService.start({ ADMIN_API: 'on' }, { clock, store: first.store });
    services = [first, second];
    await first.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [
      clock.now(),
    ]);
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const admin = { source: 'admin' } as const;
  const directory = { source: 'directory' } as const;
  const on = (n = 0) => {
    const { app, database } = services[n % 2]!;
    const change = <T>(work: (change: GroupChange) => Promise<T>) =>
      database.transaction((tx) =>
        work({ tx, record: (event, entry) => app.get(AuditTrail).record(tx, event, entry) }),
      );
    const [groups, members, followed] = [app.get(Groups), app.get(GroupMembers), app.get(FollowedGroups)];
    return {
      create: (name: string, source: 'admin' | 'scim' = 'admin') =>
        change((c) => groups.create(c, { tenantId: 'root', name, source })),
      rename: (id: string, name: string) => change((c) => groups.change(c, admin, id, { name })),
      remove: (id: string) => change((c) => groups.remove(c, admin, id)),
      add: (id: string, uid: string) => change((c) => members.add(c, admin, id, uid)),
      drop: (id: string, uid: string) => change((c) => members.remove(c, admin, id, uid)),
      replace: (id: string, uids: string[]) => change((c) => members.replaceAll(c, admin, id, uids)),
      follow: (user: { uid: string; tenantId: string }, names: string[]) =>
        change((c) => followed.follow(c, user, directory, names)),
      differs: (user: { uid: string; tenantId: string }, names: string[]) => followed.differs(user, directory, names),
      names: (user: { uid: string; tenantId: string }) => members.namesOf(user),
      move: (uid: string) => app.get(UserChanges).change(operatorAuthority, uid, { tenantId: 'acme' }),
      erase: (uid: string) => app.get(UserErasure).erase(operatorAuthority, uid),
    };
  };
  const race = <T>(racers: number, run: (n: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
    Promise.allSettled(Array.from({ length: racers }, (_, n) => run(n)));
  const won = <T>(results: PromiseSettledResult<T>[]): T[] =>
    results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const reasons = (results: PromiseSettledResult<unknown>[]): unknown[] =>
    results.flatMap((result) =>
      result.status === 'fulfilled'
        ? []
        : [result.reason instanceof GroupProblem ? result.reason.reason : result.reason],
    );
  const count = (table: string, where: string, values: string[]) => services[0].count(table, where, values);
  const audited = (event: string, id: string) => count('audit_logs', 'event = ? AND detail LIKE ?', [event, `%${id}%`]);
  let users = 0;
  const givenUser = async () => {
    const { uid } = await services[0].givenUser(`member-${users++}`, { email: null });
    return { uid, tenantId: 'root' };
  };

  it('of 10 parallel creations of one name, in two spellings and by two sources, one wins', async () => {
    const results = await race(10, (n) => on(n).create(n % 2 ? 'Sales' : ' SALES', n % 3 ? 'admin' : 'scim'));
    expect(won(results)).toHaveLength(1);
    expect(reasons(results)).toEqual(Array.from({ length: 9 }, () => 'taken'));
    expect(await count('user_groups', 'name_key = ?', ['sales'])).toBe(1);
    expect(await audited('GROUP_CREATED', won(results)[0]!.id)).toBe(1);
  });

  it('of two groups that are renamed to one name one gets it', async () => {
    const [a, b] = [await on().create('first name'), await on().create('second name')];
    const results = await race(2, (n) => on(n).rename(n ? a.id : b.id, 'one name'));
    expect(won(results)).toHaveLength(1);
    expect(reasons(results)).toEqual(['taken']);
  });

  it('of 10 parallel additions of one user one adds, and of 10 removals one removes', async () => {
    const [{ id }, { uid }] = [await on().create('added once'), await givenUser()];
    const added = await race(10, (n) => on(n).add(id, uid));
    expect(won(added).filter(Boolean)).toHaveLength(1);
    expect(reasons(added)).toEqual([]);
    const removed = await race(10, (n) => on(n).drop(id, uid));
    expect(won(removed).filter(Boolean)).toHaveLength(1);
    expect(await audited('GROUP_MEMBER_ADDED', id)).toBe(1);
    expect(await audited('GROUP_MEMBER_REMOVED', id)).toBe(1);
  });

  it('an addition beside the deletion of the group leaves no membership', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await on().create(`deleted ${round}`);
      const members = [await givenUser(), await givenUser(), await givenUser()];
      const results = await race<unknown>(4, (n) => (n === 1 ? on(n).remove(id) : on(n).add(id, members[n % 3]!.uid)));
      expect(reasons([results[1]!])).toEqual([]);
      expect(reasons(results).every((reason) => reason === 'missing')).toBe(true);
      expect(await count('user_group_members', 'group_id = ?', [id])).toBe(0);
    }
  });

  it.each<['moved to another tenant' | 'erased', 'move' | 'erase']>([
    ['moved to another tenant', 'move'],
    ['erased', 'erase'],
  ])('a user who is %s beside additions is a member of nothing afterwards (T563)', async (what, end) => {
    const groups = await Promise.all([0, 1, 2].map((n) => on().create(`${what} ${n}`)));
    for (let round = 0; round < 5; round++) {
      const user = await givenUser();
      await on().add(groups[0]!.id, user.uid);
      const results = await race<unknown>(4, (n) =>
        n === 2 ? on(n)[end](user.uid) : on(n).add(groups[n % 3]!.id, user.uid),
      );
      expect(reasons([results[2]!])).toEqual([]);
      expect(reasons(results).every((reason) => reason === 'missing')).toBe(true);
      expect(await count('user_group_members', 'user_id = ?', [user.uid])).toBe(0);
    }
  });

  it('of parallel replacements the members of one last, and never a mixture', async () => {
    const { id } = await on().create('replaced');
    const members = await Promise.all(Array.from({ length: 6 }, givenUser));
    const uids = members.map(({ uid }) => uid);
    const sets = [uids.slice(0, 3), uids.slice(2, 5), uids.slice(1, 6)];
    for (let round = 0; round < 5; round++) {
      expect(reasons(await race(6, (n) => on(n).replace(id, sets[n % 3]!)))).toEqual([]);
      const rows = await services[0].database.rows<{ uid: string }>(
        'SELECT user_id AS uid FROM user_group_members WHERE group_id = ? ORDER BY user_id',
        [id],
      );
      expect(sets.map((set) => [...set].sort())).toContainEqual(rows.map(({ uid }) => uid));
    }
  });

  it('two sign-ins of one user at once follow one list, and make each group once', async () => {
    const user = await givenUser();
    const lists = [
      ['Engineering', 'Berlin'],
      ['berlin', 'Sales Emea'],
    ];
    for (let round = 0; round < 5; round++) {
      expect(reasons(await race(4, (n) => on(n).follow(user, lists[n % 2]!)))).toEqual([]);
      const names = await on().names(user);
      expect([
        ['Berlin', 'Engineering'],
        ['Berlin', 'Sales Emea'],
        ['Engineering', 'berlin'],
        ['Sales Emea', 'berlin'],
      ]).toContainEqual(names);
    }
    expect(await count('user_groups', "source = 'directory'", [])).toBe(3);
    expect(await on().differs(user, await on().names(user))).toBe(false);
    expect(await on().differs(user, ['Berlin', 'as many groups'])).toBe(true);
    await on().follow(user, []);
    expect(await on().names(user)).toEqual([]);
  });

  it('first sign-ins of 8 users at once make one group, and all are members', async () => {
    const members = await Promise.all(Array.from({ length: 8 }, givenUser));
    expect(reasons(await race(8, (n) => on(n).follow(members[n]!, ['Everybody', 'Half'])))).toEqual([]);
    for (const user of members) expect(await on(1).names(user)).toEqual(['Everybody', 'Half']);
  });

  it('a group of another source is neither joined nor written by a sign-in (T561)', async () => {
    const [{ id }, user] = [await on().create('Payroll'), await givenUser()];
    await on().follow(user, ['payroll', 'Own\u202egroup\n', '', 'x'.repeat(300)]);
    expect(await on().names(user)).toEqual(['Owngroup']);
    const foreign = await race(1, () =>
      services[0].database.transaction((tx) =>
        services[0].app.get(GroupMembers).add({ tx, record: async () => {} }, { source: 'scim' }, id, user.uid),
      ),
    );
    expect(reasons(foreign)).toEqual(['foreign']);
  });

  it('a user is in 1,000 groups at most, whoever adds, and a sign-in follows 500 names of 10,000 (T564)', async () => {
    const user = await givenUser();
    const names = Array.from({ length: 10_000 }, (_, n) => `many ${n}`);
    await on().follow(user, names);
    expect(await on().names(user)).toEqual(names.slice(0, 500).sort());
    const { database } = services[0];
    await database.affected(
      `INSERT INTO user_groups (id, tenant_id, name, name_key, source, version, created_at, changed_at)
       SELECT CONCAT('g', SUBSTR(id, 2)), tenant_id, CONCAT(name, '-'), CONCAT(name_key, '-'), 'scim', 0, created_at, changed_at
       FROM user_groups WHERE name_key LIKE 'many %'`,
    );
    await database.affected(
      `INSERT INTO user_group_members (group_id, user_id, added_at)
       SELECT id, ?, created_at FROM user_groups WHERE source = 'scim' AND name_key LIKE 'many %'`,
      [user.uid],
    );
    expect(await on().names(user)).toHaveLength(1000);
    const { id } = await on().create('one too many');
    const refused = (await on()
      .add(id, user.uid)
      .catch((error: unknown) => error)) as GroupProblem;
    expect([refused.reason, refused.message]).toEqual(['full', expect.stringContaining(user.uid)]);
    // The request of a client that got no answer comes again: who is a member already needs no room.
    await database.affected(
      "DELETE FROM user_group_members WHERE group_id = (SELECT id FROM user_groups WHERE name = 'many 7-')",
    );
    for (const isNew of [true, false]) expect(await on().add(id, user.uid)).toBe(isNew);
    await on().follow(user, [...names.slice(0, 499), 'one more', 'and another']);
    expect(await on().names(user)).toHaveLength(1000);
  });

  it('a replacement reads the members of a large group in steps of 500, each once', async () => {
    const [{ id }, { database, clock }] = [await on().create('large'), services[0]];
    const uids = Array.from({ length: 1001 }, (_, n) => `large-${10_000 + n}`);
    for (let from = 0; from < uids.length; from += 500) {
      const some = uids.slice(from, from + 500);
      await database.affected(
        `INSERT INTO user_group_members (group_id, user_id, added_at) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
        some.flatMap((uid) => [id, uid, clock.now()]),
      );
    }
    const find = jest.spyOn(services[0].app.get(GroupMembers), 'page');
    await on().replace(id, uids);
    // Once before the locks, and once behind them.
    const places = ['', uids[499], uids[999]];
    expect(find.mock.calls.map(([, after]) => after)).toEqual([...places, ...places]);
    find.mockRestore();
    expect(await count('user_group_members', 'group_id = ?', [id])).toBe(1001);
  });
});
