import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseMysqlUrl } from './mysql-address';

describe('parseMysqlUrl', () => {
  let directory: string;
  let ca: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'ca-'));
    ca = join(directory, 'ca.pem');
    writeFileSync(ca, 'the authority');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('reads every part, and uses the default port of MySQL', () => {
    expect(parseMysqlUrl('mysql://service:word@db.internal:3307/auth')).toEqual({
      host: 'db.internal',
      port: 3307,
      username: 'service',
      password: 'word',
      database: 'auth',
      ssl: undefined,
    });
    expect(parseMysqlUrl('mysql://service@db/auth').port).toBe(3306);
    expect(parseMysqlUrl('mysql://service@[::1]/auth').host).toBe('::1');
  });

  it('decodes special characters of user, password and database', () => {
    const hard = 'p@ss:w/o?r#d%&+ 密';
    expect(parseMysqlUrl(`mysql://u%40x:${encodeURIComponent(hard)}@h/a%2Db`)).toMatchObject({
      username: 'u@x',
      password: hard,
      database: 'a-b',
    });
  });

  it.each([
    ['', undefined],
    ['ssl-mode=DISABLED', undefined],
    ['ssl-mode=REQUIRED', { rejectUnauthorized: false }],
    ['ssl-mode=required', { rejectUnauthorized: false }],
    ['ssl-mode=VERIFY_CA&ssl-ca=FILE', { ca: 'the authority', rejectUnauthorized: true, verifyIdentity: false }],
    ['ssl-mode=VERIFY_IDENTITY&ssl-ca=FILE', { ca: 'the authority', rejectUnauthorized: true, verifyIdentity: true }],
    ['ssl-ca=FILE', { ca: 'the authority', rejectUnauthorized: true, verifyIdentity: true }],
    ['SSL-MODE=VERIFY_IDENTITY', { ca: undefined, rejectUnauthorized: true, verifyIdentity: true }],
  ])('reads the TLS options of ?%s', (query, ssl) => {
    expect(parseMysqlUrl(`mysql://u:p@h/a?${query.replace('FILE', ca)}`).ssl).toEqual(ssl);
  });

  it.each(['ssl-mode=PREFERRED', 'ssl-mode=', 'ssl=true', 'ssl-ca=/no/such/file', 'ssl-mode=REQUIRED&x=y'])(
    'refuses ?%s instead of connecting without TLS',
    (query) => {
      expect(() => parseMysqlUrl(`mysql://u:p@h/a?${query}`)).toThrow();
    },
  );
});
