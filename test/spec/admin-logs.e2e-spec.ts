import { windowRows } from '../../src/audit/log-search';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';

/** The time of the newest row. The others are one second older each. */
const newest = Date.parse('2026-03-01T12:00:00.000Z');
const at = (secondsBefore: number) => new Date(newest - secondsBefore * 1000).toISOString();

describe('the log search of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let acme: AdminClient;
  let ann: string;
  let bob: string;

  beforeAll(async () => {
    service = await TestService.start(adminSettings);
    for (const id of ['acme', 'other']) {
      await service.database.affected("INSERT INTO tenants (id, name, created_at) VALUES (?, 'x', ?)", [
        id,
        new Date(),
      ]);
    }
    root = await AdminClient.of(service, 'root-admin');
    acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    ann = (await service.givenUser('ann', { tenantId: 'acme', email: 'ann@mail.test' })).uid;
    bob = (await service.givenUser('bob', { tenantId: 'other' })).uid;
    await service.database.affected('DELETE FROM login_logs');
    await service.database.affected('DELETE FROM audit_logs');
    const logins: [user: string | null, outcome: string, ip: string][] = [
      [ann, 'success', '192.0.2.1'],
      [ann, 'LOGIN_401001', '2001:db8::a'],
      [bob, 'success', '192.0.2.1'],
      [null, 'LOGIN_401001', '192.0.2.1'],
      [bob, 'LOGIN_401001', '2001:db8::a'],
      [ann, 'success', '192.0.2.9'],
    ];
    for (const [n, [user, outcome, ip]] of logins.entries()) {
      await service.database.affected(
        `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, mfa, request_id, created_at)
         VALUES (?, ?, 'password', ?, 'agent', ?, NULL, ?, ?)`,
        [user, `name ${n}`, ip, outcome, `r${n}`, new Date(newest - n * 1000)],
      );
    }
    const audits: [event: string, user: string | null, actor: string | null, ip: string | null][] = [
      ['USER_CHANGED', ann, root.uid, '192.0.2.1'],
      ['USER_CHANGED', bob, acme.uid, '192.0.2.1'],
      ['CONFIG_CHANGED', null, root.uid, '192.0.2.2'],
      ['USER_UNLOCKED', ann, 'operator', null],
    ];
    for (const [n, [event, user, actor, ip]] of audits.entries()) {
      await service.database.affected(
        `INSERT INTO audit_logs (event, user_id, actor_id, ip, user_agent, request_id, detail, created_at)
         VALUES (?, ?, ?, ?, NULL, ?, '{"n":1}', ?)`,
        [event, user, actor, ip, n === 0 ? null : `q${n > 1 ? 2 : n}`, new Date(newest - n * 1000)],
      );
    }
  });
  afterAll(() => service.stop());

  const names = async (client: AdminClient, query = '') =>
    (await client.items(`login-logs${query}`)).map(({ login_name: name }) => Number(String(name).slice(5)));
  const events = async (client: AdminClient, query = '') =>
    (await client.items(`audit-logs${query}`)).map(
      ({ created_at: time }) => (newest - Date.parse(time as string)) / 1000,
    );

  it('shows each login and each event with all its columns, the newest first', async () => {
    expect((await root.items('login-logs'))[1]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      created_at: at(1),
      user_id: ann,
      login_name: 'name 1',
      provider: 'password',
      mfa: null,
      outcome: 'LOGIN_401001',
      ip: '2001:db8::a',
      user_agent: 'agent',
      request_id: 'r1',
    });
    expect(await names(root)).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await root.items('audit-logs'))[0]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      created_at: at(0),
      event: 'USER_CHANGED',
      user_id: ann,
      user_name: 'ann',
      actor_id: root.uid,
      actor_name: 'root-admin',
      ip: '192.0.2.1',
      user_agent: null,
      request_id: null,
      detail: { n: 1 },
    });
    expect(await events(root)).toEqual([0, 1, 2, 3]);
  });

  it('the filters of the logins select alone and together; from is included, to is not', async () => {
    const selected = {
      [`?user_id=${ann}`]: [0, 1, 5],
      '?request_id=r4': [4],
      [`?request_id=r0&user_id=${bob}`]: [],
      '?request_id=r': [],
      '?outcome=LOGIN_401001': [1, 3, 4],
      '?outcome=failed': [1, 3, 4],
      '?outcome=failed&user=ann': [1],
      [`?outcome=failed&from=${at(3)}`]: [1, 3],
      '?ip=2001:DB8::A': [1, 4],
      [`?user_id=${ann}&outcome=success&ip=192.0.2.1`]: [0],
      '?ip=192.0.2.1&outcome=success': [0, 2],
      [`?from=${at(3)}&to=${at(1)}`]: [2, 3],
      [`?from=${at(3)}`]: [0, 1, 2, 3],
      [`?to=${encodeURIComponent('2026-03-01T13:59:57+02:00')}`]: [4, 5],
      [`?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59-12:00&outcome=success`]: [0, 2, 5],
      '?user_id=nobody': [],
      '?user=ann': [0, 1, 5],
      '?user=%20ANN': [0, 1, 5],
      '?user=ann%40mail.test&outcome=success': [0, 5],
      [`?user=ann&user_id=${ann}`]: [0, 1, 5],
      [`?user=ann&user_id=${bob}`]: [],
      '?user=name%203': [3],
      '?user=name%203&outcome=success': [],
      '?user=name%20': [],
      "?user=%25'%20OR%201": [],
    };
    for (const [query, expected] of Object.entries(selected)) {
      expect([query, await names(root, query)]).toEqual([query, expected]);
    }
  });

  it('the filters of the audit select alone and together', async () => {
    const selected = {
      '?request_id=q2': [2, 3],
      '?event=USER_CHANGED': [0, 1],
      [`?actor_id=${root.uid}`]: [0, 2],
      '?actor_id=operator': [3],
      '?ip=192.0.2.1': [0, 1],
      [`?user_id=${ann}&event=USER_UNLOCKED`]: [3],
      '?user=ann': [0, 3],
      '?user=Ann%40mail.test&request_id=q2': [3],
      '?user=name%203': [],
      [`?actor_id=${root.uid}&event=USER_CHANGED&user_id=${bob}`]: [],
    };
    for (const [query, expected] of Object.entries(selected)) {
      expect([query, await events(root, query)]).toEqual([query, expected]);
    }
  });

  it.each([
    'login-logs?event=X',
    'login-logs?actor_id=x',
    'audit-logs?outcome=success',
    'audit-logs?tenant_id=other',
    'login-logs?user_id=a%20b',
    'login-logs?user=',
    'audit-logs?user=a%0Ab',
    `login-logs?user=${'a'.repeat(256)}`,
    'login-logs?user=a&user=b',
    'login-logs?format=xlsx',
    'audit-logs?format=csv&format=csv',
    'users?format=csv',
    'login-logs?user_id=1&user_id=2',
    'login-logs?user_id[]=1',
    "audit-logs?event=X'%20OR%201",
    'login-logs?request_id=a%20b',
    `audit-logs?request_id=${'a'.repeat(65)}`,
    'login-logs?ip=localhost',
    'login-logs?from=yesterday',
    'login-logs?from=2026-02-31T25:00:00Z',
    'login-logs?to=2026-03-01',
    'audit-logs?actor_id=a%00',
    'login-logs?limit=201',
    'login-logs?limit=0',
    'login-logs?after=x',
    'login-logs?after=e30',
    `login-logs?after=${Buffer.from('["a",1]').toString('base64url')}`,
    `audit-logs?after=${Buffer.from('[1,2,3]').toString('base64url')}`,
  ])('%s is COMMON_400001', async (path) => {
    expect(outcomeOf(await root.get(path))).toBe('COMMON_400001');
  });

  it.each(['[9007199254740991,1]', '[-9007199254740991,1]', '[0,-1]', '[1e15,9007199254740991]'])(
    'the made-up cursor %s is a place like any other',
    async (place) => {
      const path = `login-logs?after=${Buffer.from(place).toString('base64url')}`;
      expect(outcomeOf(await root.get(path))).toBe('success');
    },
  );

  it('pages continue where the last one ended, also between rows of one millisecond', async () => {
    const same = new Date('2026-02-01T00:00:00.000Z');
    for (let n = 0; n < 5; n++) {
      await service.database.affected(
        `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
         VALUES (NULL, ?, 'ldap', '198.51.100.1', '', 'PAGES', '', ?)`,
        [`name ${10 + n}`, same],
      );
    }
    for (const filter of ['outcome=PAGES', 'ip=198.51.100.1&outcome=PAGES', `to=${at(100)}`]) {
      const found: unknown[] = [];
      let after = '';
      for (let page = 0; page < 9; page++) {
        const { data } = (await root.get(`login-logs?${filter}&limit=2${after}`)).body;
        found.push(...data.items.map(({ login_name: name }: { login_name: string }) => name));
        if (data.next === null) break;
        after = `&after=${data.next}`;
      }
      expect([filter, found]).toEqual([filter, ['name 14', 'name 13', 'name 12', 'name 11', 'name 10']]);
    }
    await service.database.affected("DELETE FROM login_logs WHERE outcome = 'PAGES'");
  });

  describe('an administrator of another tenant', () => {
    it('sees the rows of users of the own tenant only, and no row without a user', async () => {
      expect(await names(acme)).toEqual([0, 1, 5]);
      expect(await events(acme)).toEqual([0, 3]);
    });

    it('cannot cross tenants by filters (T314)', async () => {
      expect(await names(acme, `?user_id=${bob}`)).toEqual([]);
      expect(await names(acme, '?ip=2001:db8::a')).toEqual([1]);
      expect(await names(acme, '?outcome=LOGIN_401001')).toEqual([1]);
      expect(await names(acme, '?outcome=failed')).toEqual([1]);
      expect(await events(acme, `?actor_id=${acme.uid}`)).toEqual([]);
      expect(await events(acme, '?event=CONFIG_CHANGED')).toEqual([]);
    });

    it('cannot tell a name of another tenant from one that nobody has, by user or request_id (T631)', async () => {
      for (const user of ['bob', 'root-admin', 'name%203', 'name%202', 'nobody']) {
        const answers = [await acme.get(`login-logs?user=${user}&limit=1`), await acme.get(`audit-logs?user=${user}`)];
        expect(answers.map(({ body }) => [user, body.data])).toEqual([
          [user, { items: [], next: null }],
          [user, { items: [], next: null }],
        ]);
      }
      expect(await names(acme, '?user=ANN&outcome=success')).toEqual([0, 5]);
      expect(await names(acme, '?request_id=r2')).toEqual([]);
      expect(await events(acme, '?request_id=q2')).toEqual([3]);
    });

    it('learns the names of the own tenant only (T632)', async () => {
      expect((await acme.items('audit-logs')).map((row) => [row.user_name, row.actor_id, row.actor_name])).toEqual([
        ['ann', root.uid, null],
        ['ann', 'operator', null],
      ]);
      expect((await root.items('audit-logs')).map((row) => [row.user_name, row.actor_name])).toEqual([
        ['ann', 'root-admin'],
        ['bob', 'acme-admin'],
        [null, 'root-admin'],
        ['ann', null],
      ]);
    });

    it('cannot use a cursor of the root tenant, and an empty search tells nothing of foreign rows', async () => {
      const { next } = (await root.get('login-logs?limit=2')).body.data;
      expect(outcomeOf(await acme.get(`login-logs?after=${next}`))).toBe('COMMON_400001');
      const own = (await acme.get('login-logs?limit=2')).body.data.next as string;
      expect(await names(acme, `?limit=2&after=${own}`)).toEqual([5]);
      expect((await acme.get(`login-logs?user_id=${bob}&limit=1`)).body.data).toEqual({ items: [], next: null });
    });

    it('learns nothing of foreign rows from a cursor, which ends where the window of its page ends (T314)', async () => {
      const ip = '203.0.113.6';
      const old = new Date('2025-01-02T03:04:05.678Z');
      const insert = (user: string, rows: number) =>
        service.database.affected(
          `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
           VALUES ${Array.from({ length: rows }, () => "(?, 'name 30', 'x', ?, '', 'OF-A-WINDOW', '', ?)").join(', ')}`,
          Array.from({ length: rows }, () => [user, ip, old]).flat(),
        );
      await insert(ann, 1);
      for (let done = 0; done <= windowRows; done += 1000) await insert(bob, 1000);
      const first = (await acme.get(`login-logs?ip=${ip}`)).body.data;
      expect(first).toMatchObject({ items: [], next: expect.any(String) });
      // Only the bytes, and only as many digits as a time has: a sealed cursor is random, and can contain a few in a row.
      const bytes = Buffer.from(first.next as string, 'base64url').toString('latin1');
      expect(bytes).not.toMatch(/\d{8}/);
      const own = (await acme.get('login-logs?limit=1')).body.data.next as string;
      expect(own).toHaveLength((first.next as string).length);
      expect(await names(acme, `?ip=${ip}&after=${first.next}`)).toEqual([30]);
      // The last characters of a base64url text can be changed without a change of its bytes. This one cannot.
      const next = first.next as string;
      const changed = `${next.slice(0, -6)}${next.at(-6) === 'A' ? 'B' : 'A'}${next.slice(-5)}`;
      expect(outcomeOf(await acme.get(`login-logs?ip=${ip}&after=${changed}`))).toBe('COMMON_400001');
      expect(JSON.stringify(service.logLines)).not.toContain('DATA_ENCRYPTION_KEY');
      await service.database.affected("DELETE FROM login_logs WHERE outcome = 'OF-A-WINDOW'");
    });

    it('exports the same rows', async () => {
      const { items } = await acme.export('login-logs');
      expect(items.map(({ user_id: user }) => user)).toEqual([ann, ann, ann]);
    });
  });

  it('an export has all rows, one per line, and an audit row that names the administrator', async () => {
    const { status, items } = await root.export(`login-logs?user_id=${ann}&limit=1`);
    expect([status, items]).toEqual([200, await root.items(`login-logs?user_id=${ann}`)]);
    const rows = await root.items('audit-logs?event=LOG_EXPORTED&limit=1');
    expect(rows).toMatchObject([{ actor_id: root.uid, ip: '127.0.0.1', detail: { log: 'login_logs' } }]);
  });

  describe('as CSV', () => {
    const csv = async (client: AdminClient, path: string) => {
      const answer = await service.app.inject({
        url: `/admin/${path}`,
        headers: { authorization: `Bearer ${client.bearer}` },
      });
      return { status: answer.statusCode, headers: answer.headers, text: answer.rawPayload.toString('utf8') };
    };

    it('an export is a file for a spreadsheet, in which no name that somebody typed is a formula (T630)', async () => {
      const typed = '=HYPERLINK("https://evil.test";"x")';
      await service.database.affected(
        `INSERT INTO login_logs (login_name, provider, ip, user_agent, outcome, request_id, created_at)
         VALUES (?, 'password', '198.51.100.7', '+cmd', 'LOGIN_401001', '-r', ?)`,
        [typed, new Date(newest)],
      );
      const { status, headers, text } = await csv(root, 'login-logs?format=csv&ip=198.51.100.7');
      expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
        ...[200, 'text/csv; charset=utf-8', 'attachment; filename="login-logs.csv"'],
      ]);
      const id = (await root.items('login-logs?ip=198.51.100.7'))[0].id as string;
      expect(text).toBe(
        '\uFEFFcreated_at,login_name,outcome,ip,provider,mfa,user_agent,user_id,request_id,id\r\n' +
          `${at(0)},"'=HYPERLINK(""https://evil.test"";""x"")",LOGIN_401001,198.51.100.7,password,,'+cmd,,'-r,${id}\r\n`,
      );
      await service.database.affected('DELETE FROM login_logs WHERE login_name = ?', [typed]);
    });

    it('it has all rows of the own scope, needs a young session, and leaves an audit row', async () => {
      expect((await csv(acme, 'login-logs?format=csv&limit=1')).text.split('\r\n').slice(1, -1)).toHaveLength(3);
      const { text } = await csv(acme, 'audit-logs?format=csv&event=USER_UNLOCKED');
      expect(text.split('\r\n')[1]).toContain(`USER_UNLOCKED,ann,,,"{""n"":1}",,${ann},operator,q2,`);
      const exported = await root.items(`audit-logs?event=LOG_EXPORTED&actor_id=${acme.uid}&limit=1`);
      expect(exported).toMatchObject([{ detail: { log: 'audit_logs', format: 'csv' } }]);
    });
  });

  it('a search that no index decides looks at a bounded number of rows for each page, and finds them all', async () => {
    const old = new Date('2025-01-01T00:00:00.000Z');
    const filler = windowRows + 50;
    const insert = (rows: (string | Date)[][]) =>
      service.database.affected(
        `INSERT INTO login_logs (login_name, provider, ip, user_agent, outcome, request_id, created_at)
         VALUES ${rows.map(() => "(?, 'x', ?, '', ?, '', ?)").join(', ')}`,
        rows.flat(),
      );
    await insert([['name 21', '203.0.113.5', 'RARE', old]]);
    for (let done = 0; done < filler; done += 1000) {
      await insert(Array.from({ length: Math.min(1000, filler - done) }, () => ['x', '203.0.113.5', 'OFTEN', old]));
    }
    await insert([['name 20', '203.0.113.5', 'RARE', old]]);
    const query = 'login-logs?ip=203.0.113.5&outcome=RARE';
    const first = (await root.get(query)).body.data;
    expect(first).toMatchObject({ items: [{ login_name: 'name 20' }], next: expect.any(String) });
    const second = (await root.get(`${query}&after=${first.next}`)).body.data;
    expect(second).toMatchObject({ items: [{ login_name: 'name 21' }], next: null });
    expect((await root.export(query)).items).toHaveLength(2);
  });
});
