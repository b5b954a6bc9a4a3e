import { Readable } from 'node:stream';
import { UserAdministration } from '../../src/admin/user-administration';
import { readCsvBody } from '../../src/platform/http/csv-body';
import { storeUnavailable } from '../../src/platform/database/store-failure';
import { ClientGone } from '../../src/shared/errors/client-gone';
import { startAdministration } from '../support/admin';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { type Answer, TestService } from '../support/app';

const hash = '$2b$10$abcdefghijklmnopqrstuuVl8G5Wd5aOAOLb9DxJd1uY2f3v4w5x6';

describe('an administrator imports a file of users', () => {
  let service: TestService;
  let root: AdminClient;
  let acme: AdminClient;
  beforeAll(async () => {
    service = await startAdministration(adminSettings);
    root = await AdminClient.of(service, 'root-admin');
    acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  const send = (by: AdminClient, file: string | Buffer, query = '', headers = {}): Promise<Answer> =>
    service.send('POST', `/admin/users/import${query}`, file, {
      bearer: by.bearer,
      headers: { 'content-type': 'text/csv', ...headers },
    });
  /** Not by `service.send`, which looks for secrets in each body. */
  const sendLarge = async (payload: string | Buffer | Readable, bearer: string): Promise<unknown> => {
    const headers = { 'content-type': 'text/csv', authorization: `Bearer ${bearer}` };
    const answer = await service.app.inject({ method: 'POST', url: '/admin/users/import', headers, payload });
    return JSON.parse(answer.payload);
  };
  const report = async (by: AdminClient, file: string | Buffer, query = '') => {
    const answer = await send(by, file, query);
    expect(outcomeOf(answer)).toBe('success');
    const { rows, created, refused, created_rows } = answer.body.data as {
      rows: number;
      created: number;
      refused: { line: number; error_code: string; reason: string }[];
      created_rows?: Record<string, unknown>[];
    };
    return { rows, created, refused, created_rows };
  };
  const codes = ({ refused }: { refused: { line: number; error_code: string }[] }) =>
    refused.map(({ line, error_code }) => [line, error_code]);
  const rowOf = (name: string) =>
    service.database.row<Record<string, unknown>>('SELECT * FROM users WHERE login_name = ?', [name]);
  const users = () => service.count('users', '1 = 1');

  it('a client that leaves before its file is read takes no place for ever', () => {
    const stream = Readable.from(['login_name\nnobody\n']);
    stream.destroy();
    const request = { headers: {}, body: stream } as unknown as Parameters<typeof readCsvBody>[0];
    expect(() => readCsvBody(request, 100)).toThrow(ClientGone);
  });

  it('a file in chunks of one byte is read, and one byte too many is refused', async () => {
    const read = (text: string) =>
      readCsvBody(
        { headers: {}, body: Readable.from([...Buffer.from(text)].map((byte) => Buffer.of(byte))) } as never,
        99_999,
      );
    expect((await read('x'.repeat(99_999))).toString()).toBe('x'.repeat(99_999));
    await expect(async () => read('x'.repeat(100_000))).rejects.toMatchObject({ entry: { code: 'COMMON_413001' } });
  });

  it('a dry run tells the fate of every row, writes nothing but its audit row, and the import then does exactly that (T711)', async () => {
    const file = [
      'login_name,email,nickname,password,password_hash',
      'ida,ida@example.com,"Ida ""the"" first",Correct-Horse-7,',
      `jan,jan@example.com,Jan,,${hash}`,
      'root-admin,,,,',
      'kim,ida@example.com,Kim,,',
      'lea,lea@example.com,Lea,short,',
      'IDA,,,,',
      'too,few',
    ].join('\n');
    const expected = [
      [4, 'USER_409001'],
      [5, 'USER_409001'],
      [6, 'AUTH_400007'],
      [7, 'USER_409001'],
      [8, 'COMMON_400001'],
    ];
    const before = await users();
    const dry = await report(root, file, '?dry_run=true');
    expect(dry).toMatchObject({ rows: 7, created: 2 });
    expect(codes(dry)).toEqual(expected);
    expect(await users()).toBe(before);
    const local = { tenant_id: 'root', provider: 'password', is_admin: false, role: null };
    expect(dry.created_rows).toEqual([
      { line: 2, login_name: 'ida', email: 'ida@example.com', ...local },
      { line: 3, login_name: 'jan', email: 'jan@example.com', ...local },
    ]);
    const real = await report(root, file);
    expect(real).toEqual({ ...dry, created_rows: undefined });
    expect(await rowOf('ida')).toMatchObject({
      email: 'ida@example.com',
      nickname: 'Ida "the" first',
      tenant_id: 'root',
    });
    expect((await service.login('ida', 'Correct-Horse-7')).status).toBe(200);
    expect(await rowOf('jan')).toMatchObject({ password: hash });
    const audited = await service.database.rows<{ actor_id: string }>(
      "SELECT actor_id FROM audit_logs WHERE event = 'USER_IMPORTED'",
    );
    expect(audited).toEqual([{ actor_id: root.uid }, { actor_id: root.uid }]);
    const checks = await service.database.rows<Record<'actor_id' | 'user_id' | 'detail', unknown>>(
      "SELECT actor_id, user_id, detail FROM audit_logs WHERE event = 'USER_IMPORT_CHECKED'",
    );
    expect(checks).toEqual([{ actor_id: root.uid, user_id: null, detail: expect.stringMatching(/^{"rows":7}$/) }]);
    expect(codes(await report(root, file)).slice(0, 2)).toEqual([
      [2, 'USER_409001'],
      [3, 'USER_409001'],
    ]);
  });

  it('the fate of each row is known: a line is in created_rows or in refused, with the rights and the place of its user', async () => {
    const file = [
      'login_name,nickname,tenant_id,provider,is_admin,role,password',
      'fay,Secret-Nick-7,acme,,,,',
      'gus,,,ldap,true,,',
      'hal,,,,,auditor,Secret-Horse-7',
      'fay,,,,,,',
    ].join('\n');
    const answer = await report(root, file, '?dry_run=true');
    expect(codes(answer)).toEqual([[5, 'USER_409001']]);
    const planned = { email: null, tenant_id: 'root', provider: 'password', is_admin: false, role: null };
    expect(answer.created_rows).toEqual([
      { ...planned, line: 2, login_name: 'fay', tenant_id: 'acme' },
      { ...planned, line: 3, login_name: 'gus', provider: 'ldap', is_admin: true },
      { ...planned, line: 4, login_name: 'hal', role: 'auditor' },
    ]);
    // Shifted columns bring passwords into free text (docs/spec/attacks.md#t626).
    expect(JSON.stringify(answer)).not.toContain('Secret');
  });

  it('of a dry run with more than 1,000 new users the first 1,000 are shown, and the number of all', async () => {
    const names = Array.from({ length: 1001 }, (_, n) => `dry-${n}`);
    const answer = await report(root, ['login_name', ...names].join('\n'), '?dry_run=true');
    expect(answer).toMatchObject({ rows: 1001, created: 1001, refused: [] });
    expect(answer.created_rows).toHaveLength(1000);
    expect(answer.created_rows?.at(-1)).toMatchObject({ line: 1001, login_name: 'dry-999' });
  });

  it('Excel: semicolons, a byte order mark and CRLF are read, and so is a comma inside a cell', async () => {
    const file = '\ufefflogin_name;nickname\r\nmax;"Müller; Max"\r\nnora;Berg, Nora\r\n';
    expect(await report(root, file)).toMatchObject({ rows: 2, created: 2, refused: [] });
    expect((await rowOf('max'))?.nickname).toBe('Müller; Max');
    expect((await rowOf('nora'))?.nickname).toBe('Berg, Nora');
  });

  it('a cell that a spreadsheet would take as a formula is a text like any other', async () => {
    expect(await report(root, 'login_name,nickname\noda,=1+1\n')).toMatchObject({ created: 1 });
    expect((await rowOf('oda'))?.nickname).toBe('=1+1');
  });

  it('the administrator of a tenant makes users of the own tenant, no administrators and no other kind of sign-in (T627)', async () => {
    const file = [
      'login_name,tenant_id,is_admin,provider,uid',
      'pia,,,,',
      'quin,acme,false,password,',
      'ria,root,,,',
      'sam,other,,,',
      'tom,,true,,',
      'uma,,,ldap,',
      'root-admin,,,,',
      `vic,,,,${root.uid}`,
      'wim,no-such-tenant,,,',
    ].join('\n');
    const expected = [4, 5, 6, 7].map((line) => [line, 'AUTH_403001']);
    const taken = [8, 9].map((line) => [line, 'USER_409001']);
    for (const query of ['?dry_run=true', '']) {
      const answer = await report(acme, file, query);
      expect(answer.created).toBe(2);
      expect(codes(answer)).toEqual([...expected, ...taken, [10, 'AUTH_403001']]);
      expect(JSON.stringify(answer)).not.toContain(root.uid);
    }
    expect(await rowOf('pia')).toMatchObject({ tenant_id: 'acme', is_admin: expect.anything() });
    expect(Number((await rowOf('pia'))?.is_admin)).toBe(0);
    expect(await rowOf('ria')).toBeUndefined();
  });

  it('a file that is too long, too large or compressed makes no user (T624)', async () => {
    const before = await users();
    const row = (n: number) => `many-${n}`;
    const long = ['login_name', ...Array.from({ length: 50_001 }, (_, n) => row(n))].join('\n');
    expect(await sendLarge(long, root.bearer)).toMatchObject({
      error_code: 'COMMON_400001',
      data: { fields: { body: ['the file must have at most 50000 rows'] } },
    });
    const tooLarge = Buffer.alloc(10 * 1024 * 1024 + 1, 'a');
    expect(await sendLarge(tooLarge, root.bearer)).toMatchObject({ error_code: 'COMMON_413001' });
    // Without a Content-Length.
    expect(await sendLarge(Readable.from([tooLarge]), root.bearer)).toMatchObject({ error_code: 'COMMON_413001' });
    for (const coding of ['gzip', 'br', 'deflate']) {
      const packed = await send(root, 'login_name\nzip\n', '', { 'content-encoding': coding });
      expect(outcomeOf(packed)).toBe('COMMON_415001');
    }
    expect(await users()).toBe(before);
  });

  it.each([
    ['a quotation mark that never ends', 'login_name,nickname\nbad,"open\nworse,x\n'],
    ['a row that never ends', `login_name,nickname\nbad,"${'x'.repeat(70_000)}\n`],
    ['a quotation mark inside a cell', 'login_name\nba"d\n'],
    ['another encoding', Buffer.from('login_name\nM\xfcller\n', 'latin1')],
    ['an unknown column', 'login_name,constructor\nbad,x\n'],
    ['a prototype', 'login_name,__proto__\nbad,x\n'],
    ['a column twice', 'login_name,email,email\nbad,,x@example.com\n'],
    ['no login name', 'email\nbad@example.com\n'],
    ['10,000 columns', `login_name,${'x,'.repeat(10_000)}\nbad\n`],
  ])('%s is an error of the file, and none of its rows is imported (T625)', async (_what, file) => {
    const before = await users();
    const answer = await send(root, file);
    expect(answer.body).toMatchObject({
      error_code: 'COMMON_400001',
      data: { fields: { body: [expect.any(String)] } },
    });
    expect(await users()).toBe(before);
  });

  it('NUL, line breaks and direction controls are refused in their row, and the others are imported (T625)', async () => {
    const answer = await report(root, 'login_name,nickname\na\0b,x\nxan,"two\nlines"\nyan,\u202eevil\nzoe,fine\n');
    expect(answer.created).toBe(1);
    expect(codes(answer)).toEqual([
      [2, 'COMMON_400001'],
      [4, 'COMMON_400001'],
      [5, 'COMMON_400001'],
    ]);
  });

  it('no value of a refused row is in an answer, also when the columns are shifted or missing (T626)', async () => {
    const secret = 'Secret-Horse-7';
    for (const file of [
      `alf,alf@example.com,${secret}\n`,
      `login_name,tenant_id,org_unit_id\nalf,${secret},\nbob,,${secret}\ncid,root,"x"" ${secret}"\n`,
      `login_name,status,mfa_type,provider,language,created_at\nalf,${secret},,,,\nalf,,${secret},,,\nalf,,,${secret},,\nalf,,,,${secret},\nalf,,,,,${secret}\n`,
      `login_name,password_hash\nalf,${secret}\nalf,$2b$99$${secret}\n`,
      `login_name,identity_provider,provider\nalf,${secret},oidc\n`,
      `login_name,uid\nalf,${secret} \u00e4\n`,
      `login_name,password,password_hash\nalf,${secret},${secret}\n`,
      `login_name,nickname\n"alf"${secret},x\n`,
    ]) {
      const answer = await send(root, file);
      expect(answer.raw.toString()).not.toContain(secret);
      if (answer.status === 200) expect(answer.body.data.created).toBe(0);
    }
  });

  it('another type of body is COMMON_415001 here, and a file is COMMON_415001 elsewhere', async () => {
    for (const type of [
      'application/json',
      'text/plain',
      'multipart/form-data; boundary=x',
      'text/csv; charset=latin1',
    ]) {
      expect(outcomeOf(await send(root, 'login_name\nx\n', '', { 'content-type': type }))).toBe('COMMON_415001');
    }
    const headers = { 'content-type': 'text/csv' };
    const elsewhere = await service.send('POST', '/admin/users', 'login_name\nx\n', { bearer: root.bearer, headers });
    expect(outcomeOf(elsewhere)).toBe('COMMON_415001');
    expect(outcomeOf(await send(root, 'login_name\nx\n', '?dry_run=maybe'))).toBe('COMMON_400001');
    expect(outcomeOf(await service.send('POST', '/admin/users/import', undefined, { bearer: root.bearer }))).toBe(
      'COMMON_400001',
    );
  });

  it('a client without rights is refused before its file is read (T629)', async () => {
    await service.givenUser('nobody-special');
    const { access } = await service.session('nobody-special');
    const endless = Buffer.alloc(11 * 1024 * 1024, 'a');
    expect(await sendLarge(endless, 'none')).toMatchObject({ error_code: 'AUTH_401001' });
    expect(await sendLarge(endless, access)).toMatchObject({ error_code: 'AUTH_403001' });
  });

  it('when the database fails in the middle, the remaining rows are not tried, and the same file brings them later', async () => {
    const administration = service.app.get(UserAdministration);
    const create = administration.create.bind(administration);
    const spy = jest.spyOn(administration, 'create').mockImplementation((by, user, event) => {
      if (user.loginName === 'late-2') return Promise.reject(storeUnavailable(new Error('the database is gone')));
      return create(by, user, event);
    });
    const file = 'login_name\nlate-1\nlate-2\nlate-3\n';
    const answer = await report(root, file);
    expect(answer.created).toBe(1);
    expect(codes(answer)).toEqual([
      [3, 'COMMON_503001'],
      [4, 'COMMON_503001'],
    ]);
    expect(await rowOf('late-3')).toBeUndefined();
    spy.mockRestore();
    expect(codes(await report(root, file))).toEqual([[2, 'USER_409001']]);
    expect(await rowOf('late-3')).toBeDefined();
  });

  it('an import ends with the session of its administrator, although a logout changes no right', async () => {
    const mortal = await AdminClient.of(service, 'mortal-admin');
    const administration = service.app.get(UserAdministration);
    const create = administration.create.bind(administration);
    let made = 0;
    jest.spyOn(administration, 'create').mockImplementation(async (...args) => {
      if (++made === 50) expect((await service.post('/logout', {}, { bearer: mortal.bearer })).status).toBe(200);
      return create(...args);
    });
    const names = Array.from({ length: 250 }, (_, n) => `mortal-${n}`);
    const { created, refused } = await report(mortal, ['login_name', ...names].join('\n'));
    expect(created).toBe(100);
    expect(await service.count('users', "login_name LIKE 'mortal-%' AND is_admin = 0")).toBe(100);
    expect(new Set(refused.map(({ error_code }) => error_code))).toEqual(new Set(['AUTH_401004']));
  });
});
