import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAdoptionPlan } from './adoption-plan';

const columns = { login_name: 'username' };

describe('the file of an adoption', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'adoption-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function plan(content: unknown) {
    const file = join(directory, 'adopt.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return readAdoptionPlan(file);
  }

  it('has all keys of the specification', async () => {
    const file = {
      source: 'legacy.users',
      columns: {
        uid: 'id',
        login_name: 'username',
        email: 'mail',
        nickname: 'display name',
        password_hash: 'pw',
        password_set_at: 'changed',
        created_at: 'created',
        last_login_success_time: 'seen',
        status: { column: 'active', map: { '1': 1, '0': -1 } },
      },
      hash: { algorithm: 'bcrypt' },
    };
    const { status, ...plain } = file.columns;
    expect(await plan(file)).toEqual({
      source: ['legacy', 'users'],
      columns: new Map([...Object.entries(plain), ['status', status.column]]),
      statuses: new Map([
        ['1', 1],
        ['0', -1],
      ]),
      algorithm: 'bcrypt',
    });
  });

  it('needs only the source and the login name', async () => {
    expect(await plan({ source: 'people', columns })).toEqual({
      source: ['people'],
      columns: new Map([['login_name', 'username']]),
    });
  });

  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'it is not JSON'],
    ['a list', [], 'it must be a JSON object'],
    ['a misspelt key', { source: 'a', colums: columns }, 'unknown key "colums"; the keys are source, columns, hash'],
    ['a misspelt column', { source: 'a', columns: { ...columns, e_mail: 'x' } }, 'unknown key "columns.e_mail"'],
    ['a key of every object', '{"source":"a","columns":{"login_name":"b"},"__proto__":{}}', 'unknown key "__proto__"'],
    [
      'a misspelt key of the hash',
      { source: 'a', columns, hash: { algoritm: 'bcrypt' } },
      'unknown key "hash.algoritm"',
    ],
    [
      'a misspelt key of the status',
      { source: 'a', columns: { ...columns, status: { colum: 'x' } } },
      '"columns.status.colum"',
    ],
    ['no source', { columns }, 'source must be "schema.table" or "table"'],
    ['no columns', { source: 'a' }, 'columns is missing'],
    ['no login name', { source: 'a', columns: {} }, 'columns.login_name is missing'],
    ['three names', { source: 'a.b.c', columns }, 'source must be "schema.table" or "table"'],
    ['SQL in the source', { source: 'users; DROP TABLE users', columns }, 'source must be a name'],
    ['a quote in the source', { source: 'a`b', columns }, 'source must be a name'],
    ['an empty schema', { source: '.b', columns }, 'source must be a name'],
    ['SQL in a column', { source: 'a', columns: { login_name: 'x` FROM y -- ' } }, 'columns.login_name must be a name'],
    ['a column that is a number', { source: 'a', columns: { login_name: 7 } }, 'columns.login_name must be a name'],
    ['a line break', { source: 'a', columns: { login_name: 'a\nb' } }, 'columns.login_name must be a name'],
    [
      'an unknown status',
      { source: 'a', columns: { ...columns, status: { column: 'x', map: { 1: 2 } } } },
      'columns.status.map."1" must be 1, 0, -1 or -2',
    ],
    [
      'a status as text',
      { source: 'a', columns: { ...columns, status: { column: 'x', map: { 1: '1' } } } },
      'columns.status.map."1" must be 1, 0, -1 or -2',
    ],
    [
      'an unknown algorithm',
      { source: 'a', columns: { ...columns, password_hash: 'p' }, hash: { algorithm: 'md5' } },
      'hash.algorithm must be one of bcrypt, argon2id, scrypt, pbkdf2-sha256, pbkdf2-sha512, sha256-salted',
    ],
    [
      'a hash without its column',
      { source: 'a', columns, hash: { algorithm: 'bcrypt' } },
      'hash is given without columns.password_hash',
    ],
  ])('with %s is refused with one line that names the file and the key (T340)', async (_what, content, problem) => {
    const refused = await plan(content).catch((error: unknown) => error);
    expect(String((refused as Error).message)).toContain(
      `adopt.json: ${problem.startsWith('"') ? 'unknown key ' : ''}${problem}`,
    );
    expect(String((refused as Error).message)).not.toMatch(/\n/);
  });

  it('that does not exist is refused with one line', async () => {
    await expect(readAdoptionPlan(join(directory, 'missing.json'))).rejects.toThrow('it cannot be read (ENOENT)');
  });
});
