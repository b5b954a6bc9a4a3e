import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { UserErasure } from '../../src/admin/user-erasure';
import { Group } from '../../src/groups/group.entity';
import { ProvisionedGroups } from '../../src/groups/provisioned-groups';
import { Database } from '../../src/platform/database/database';
import { ProvisionedUsers } from '../../src/users/provisioned-users';
import { type Answer, TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { ScimClient, scimSettings } from '../support/scim/client';

interface Lists {
  readonly users: ProvisionedUsers;
  readonly groups: ProvisionedGroups;
}

/** Parallel requests use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('two clients of SCIM at once', () => {
  let services: [TestService, TestService];
  let clients: [ScimClient, ScimClient];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start(scimSettings, { clock });
    const shared = { clock, store: first.store };
    services = [first, __DATABASE__ === 'sqlite' ? first : await TestService.start(scimSettings, shared)];
    clients = [await ScimClient.of(services[0]), await ScimClient.of(services[1])];
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const both = (ask: (client: ScimClient, n: number) => Promise<Answer>) =>
    Promise.all(clients.map((client, n) => ask(client, n)));
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();

  it('T580 of two creations of one userName one is 201 and the other one 409, in 10 rounds', async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await both((client, n) =>
        client.ask('POST', '/Users', { userName: n === 0 ? `Raced-${round}` : `raced-${round}`, displayName: `${n}` }),
      );
      expect(statuses(answers)).toEqual([201, 409]);
      const group = { displayName: `Raced ${round}` };
      expect(statuses(await both((client) => client.ask('POST', '/Groups', group)))).toEqual([201, 409]);
    }
  });

  it('T581 of two changes with one If-Match one wins and the other one gets 412, in 10 rounds', async () => {
    const uid = await clients[0].givenUser('if-match');
    const id = await clients[0].givenGroup('If-Match');
    for (const path of [`/Users/${uid}`, `/Groups/${id}`]) {
      for (let round = 0; round < 10; round++) {
        const { etag } = (await clients[0].ask('GET', path)).headers;
        const answers = await both((client, n) =>
          client.patch(path, [{ op: 'replace', path: 'displayName', value: `${round} ${n}` }], {
            'if-match': etag as string,
          }),
        );
        const won = answers.findIndex(({ status }) => status < 300);
        expect(answers.map(({ status }) => status)[1 - won]).toBe(412);
        expect((await clients[0].ask('GET', path)).body.displayName).toBe(`${round} ${won}`);
      }
    }
  });

  it('T581 of a change and a deletion with one If-Match one wins, in 10 rounds', async () => {
    for (let round = 0; round < 10; round++) {
      const path = `/Users/${await clients[0].givenUser(`ends-${round}`)}`;
      const header = { 'if-match': (await clients[0].ask('GET', path)).headers.etag as string };
      const answers = await both((client, n) =>
        n === round % 2
          ? client.patch(path, [{ op: 'replace', path: 'displayName', value: 'changed' }], header)
          : client.ask('DELETE', path, undefined, header),
      );
      expect(['200 412', '204 404', '204 412']).toContain(statuses(answers).join(' '));
    }
  });

  it('T581 a deletion whose erasure failed is sent again with the same If-Match', async () => {
    const path = `/Users/${await clients[0].givenUser('ends-twice')}`;
    const header = { 'if-match': (await clients[0].ask('GET', path)).headers.etag as string };
    const failing = jest.spyOn(services[0].app.get(UserErasure), 'erase').mockRejectedValueOnce(new Error('crash'));
    expect((await clients[0].ask('DELETE', path, undefined, header)).status).toBe(500);
    failing.mockRestore();
    expect((await clients[0].ask('GET', path)).body.active).toBe(false);
    expect((await clients[0].ask('DELETE', path, undefined, header)).status).toBe(204);
  });

  it('without If-Match, changes of two attributes both last, and both members are there', async () => {
    const uid = await clients[0].givenUser('both');
    const other = await clients[0].givenUser('other-of-both');
    const id = await clients[0].givenGroup('Both');
    for (let round = 0; round < 10; round++) {
      const change = (n: number) => ({ op: 'replace', path: ['displayName', 'externalId'][n], value: `${round}` });
      expect(statuses(await both((client, n) => client.patch(`/Users/${uid}`, [change(n)])))).toEqual([200, 200]);
      expect((await clients[0].ask('GET', `/Users/${uid}`)).body).toMatchObject({
        ...{ displayName: `${round}`, externalId: `${round}` },
      });
      const add = (n: number) => ({ op: 'add', path: 'members', value: [{ value: [uid, other][n] }, { value: uid }] });
      expect(statuses(await both((client, n) => client.patch(`/Groups/${id}`, [add(n)])))).toEqual([204, 204]);
      expect((await clients[0].ask('GET', `/Groups/${id}`)).body.members).toHaveLength(2);
      await clients[0].patch(`/Groups/${id}`, [{ op: 'remove', path: 'members' }]);
    }
  });

  it('T583 a user who is disabled beside sign-ins has no session afterwards, in 10 rounds', async () => {
    const { uid } = await services[0].givenUser('beside');
    for (let round = 0; round < 10; round++) {
      const [, ...logins] = await Promise.all([
        clients[1].patch(`/Users/${uid}`, [{ op: 'replace', value: { active: false } }]),
        ...services.map((service) => service.login('beside')),
      ]);
      for (const { status, body } of logins) {
        if (status !== 200) continue;
        for (const service of services) {
          expect((await service.get('/user/me', { bearer: body.data.access_token as string })).status).toBe(401);
          const refreshed = await service.post('/refresh', undefined, { bearer: body.data.refresh_token as string });
          expect(refreshed.status).toBe(401);
        }
      }
      await clients[1].patch(`/Users/${uid}`, [{ op: 'replace', value: { active: true } }]);
    }
  });
});

describe('pages of many users', () => {
  let service: TestService;
  let client: ScimClient;
  const many = 3000;
  beforeAll(async () => {
    service = await TestService.start(scimSettings);
    client = await ScimClient.of(service, 'root');
    for (let from = 0; from < many; from += 500) {
      const rows = Array.from({ length: 500 }, (_, n) => `many-${String(from + n).padStart(5, '0')}`);
      await service.database.affected(
        `INSERT INTO users (uid, login_name, login_name_key, external_id, email, email_key, nickname, nickname_key, status, provider,
           is_admin, must_change_password, mfa_type, tenant_id, credential_version, login_failed_count, mfa_failed_count, created_at)
         VALUES ${rows.map(() => "(?, ?, ?, ?, ?, ?, ?, ?, 1, 'password', 0, 0, 'email', 'root', 0, 0, 0, ?)").join(', ')}`,
        rows.flatMap((name) => [
          ...[name, name, name, `x-${name}`, `${name}@many.example`, `${name}@many.example`, name, name],
          service.clock.now(),
        ]),
      );
    }
    if (__DATABASE__ === 'mariadb') await service.database.rows('ANALYZE TABLE users');
  });
  afterAll(() => service.stop());

  /** The rows and index entries that each call reads. The counters belong to a connection, so they are read in a transaction. */
  async function rowsRead(...asks: ((lists: Lists) => Promise<unknown>)[]): Promise<number[]> {
    return service.database.transaction(async (tx) => {
      const count = async () => {
        const rows = await tx.rows<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'");
        return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
      };
      const rows = service.app.get<Repository<Group>>(getRepositoryToken(Group), { strict: false });
      const lists = {
        users: new ProvisionedUsers(tx as never, service.clock),
        groups: new ProvisionedGroups(rows, tx as never, service.clock),
      };
      const read: number[] = [];
      for (const ask of asks) {
        const before = await count();
        await ask(lists);
        read.push((await count()) - before);
      }
      return read;
    });
  }

  it('a page of all users has 200, and the whole list each user once', async () => {
    const seen = new Set<string>();
    for (let startIndex = 1; startIndex <= many; startIndex += 200) {
      const { body } = await client.ask('GET', `/Users?startIndex=${startIndex}&count=1000&attributes=userName`);
      expect(body).toMatchObject({
        totalResults: many,
        startIndex,
        itemsPerPage: Math.min(200, many + 1 - startIndex),
      });
      for (const { id } of body.Resources as { id: string }[]) seen.add(id);
    }
    expect(seen.size).toBe(many);
  });

  const inTenant = { tenantId: 'root' };
  const skips = Array.from({ length: many / 200 }, (_, n) => n * 200);
  const page = { reader: 'client', skip: 0, limit: 200, descending: false };
  /** For each user of a page the entry of the index, the row, and the temporary rows of a join and of its order. */
  const pageReads = 1100;
  const onMariaDb = __DATABASE__ === 'mariadb' ? it : it.skip;

  onMariaDb.each([
    ['the first page, and the count in the index', undefined, page, many + pageReads],
    ['the last page', undefined, { ...page, skip: many - 100 }, 2 * many + pageReads],
    ['one externalId', { field: 'externalId', comparison: 'eq', value: 'x-many-01234' }, page, 30],
    ['one userName', { field: 'loginName', comparison: 'eq', value: 'many-01234' }, page, 30],
    ['one address', { field: 'email', comparison: 'eq', value: 'many-01234@many.example' }, page, 30],
    ['one id', { field: 'uid', comparison: 'eq', value: 'many-01234' }, page, 30],
    ['the beginning of a name', { field: 'loginName', comparison: 'sw', value: 'many-0123' }, page, 100],
  ] as const)('%s reads a bounded number of rows', async (_what, search, place, most) => {
    for (const within of [inTenant, {}]) {
      const [read] = await rowsRead(({ users }) => users.page(within, search, 'loginName', place));
      expect(read).toBeLessThanOrEqual(most);
    }
  });

  onMariaDb.each([
    ['loginName', undefined, false],
    ['loginName', undefined, true],
    ['nickname', undefined, false],
    ['email', undefined, true],
    ['loginName', { field: 'enabled', comparison: 'eq', value: 1 }, false],
  ] as const)('T660 each page by %s, %j, is read behind the page before it', async (order, search, descending) => {
    // The index of the addresses is unique, and MariaDB does not know that its rows are sorted by uid as well.
    for (const within of order === 'email' ? [inTenant] : [inTenant, {}]) {
      const [, ...others] = await rowsRead(
        ...skips.map(
          (skip) => (lists: Lists) => lists.users.page(within, search, order, { ...page, skip, descending }),
        ),
      );
      for (const read of others) expect(read).toBeLessThanOrEqual(pageReads);
    }
  });

  onMariaDb('T660 each page of the groups is read behind the page before it', async () => {
    for (let from = 0; from < many; from += 500) {
      const rows = Array.from({ length: 500 }, (_, n) => `group-${String(from + n).padStart(5, '0')}`);
      await service.database.affected(
        `INSERT INTO user_groups (id, tenant_id, name, name_key, source, version, created_at, changed_at)
         VALUES ${rows.map(() => "(?, 'root', ?, ?, 'scim', 1, ?, ?)").join(', ')}`,
        rows.flatMap((name) => [name, name, name, service.clock.now(), service.clock.now()]),
      );
    }
    for (const within of [inTenant, {}]) {
      const [, ...others] = await rowsRead(
        ...skips.map(
          (skip) =>
            ({ groups }: Lists) =>
              groups.page(within, undefined, { ...page, skip }),
        ),
      );
      for (const read of others) expect(read).toBeLessThanOrEqual(500);
    }
  });
});

describe('a client that reads page after page', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start(scimSettings);
    await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('walk', 'Walk', ?)", [
      service.clock.now(),
    ]);
    // Several have one nickname, and several have none.
    for (let n = 0; n < 30; n++) await given(`walker-${10 + n}`, [null, 'Ann', `Nick ${n}`][n % 3]!);
  });
  afterAll(() => service.stop());

  const given = (name: string, nickname: string | null) =>
    service.givenUser(name, { tenantId: 'walk', nickname, email: nickname && `${name}@walk.example` });
  const users = () => new ProvisionedUsers(service.app.get(Database), service.clock);
  const within = { tenantId: 'walk' };
  const reader = 'client';

  it.each(
    (['loginName', 'nickname', 'email'] as const).flatMap((order) =>
      [false, true].map((descending) => [order, descending] as const),
    ),
  )('T660 sees each user who stays once, by %s, descending %s, while others come and go', async (order, descending) => {
    const whole = await users().page(within, undefined, order, { reader, skip: 0, limit: 200, descending });
    const list = users();
    const seen: string[] = [];
    const came: string[] = [];
    for (let skip = 0, total = 1; skip < total; skip += 7) {
      const page = await list.page(within, undefined, order, { reader, skip, limit: 7, descending });
      seen.push(...page.rows.map(({ uid }) => uid));
      total = page.total;
      if (skip % 2 === 0)
        for (const uid of came) await service.database.affected('DELETE FROM users WHERE uid = ?', [uid]);
      // One before all others, and one behind them.
      for (const name of ['aaa', 'zzz']) came.push((await given(`${name}-${order}-${descending}-${skip}`, name)).uid);
    }
    expect(seen.filter((uid) => !came.includes(uid))).toEqual(whole.rows.map(({ uid }) => uid));
    expect(new Set(seen).size).toBe(seen.length);
    for (const uid of came) await service.database.affected('DELETE FROM users WHERE uid = ?', [uid]);
  });
});
