import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../settings/app-config';
import { documentedAt } from './effective-settings';

const root = resolve(__dirname, '../../..');
const key = Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 7) % 256)).toString('base64');

describe('where the settings of a process come from', () => {
  const rowsOf = (environment: Record<string, string>) =>
    new Map(loadConfig({ NODE_ENV: 'test', ...environment }).effective.rows.map((row) => [row.key, row]));

  it('tells the environment, a file and a default apart', () => {
    const rows = rowsOf({ MAX_LOCK_COUNT: '7', BRAND_NAME_FILE: resolve(root, '.nvmrc'), PORT: '' });
    const at = { secret: false, documented: 'docs/settings.md#login-and-passwords' };
    expect(rows.get('MAX_LOCK_COUNT')).toEqual({
      ...{ key: 'MAX_LOCK_COUNT', source: 'environment', value: '7', set: true, ...at },
    });
    expect(rows.get('USER_LOCK_TIME')).toEqual({
      ...{ key: 'USER_LOCK_TIME', source: 'default', value: '900', set: false, ...at },
    });
    expect(rows.get('BRAND_NAME')).toMatchObject({ source: 'file', set: true, value: expect.any(String) as string });
    expect(rows.get('PORT')).toMatchObject({ source: 'default', value: '3000' });
    expect(rows.get('REDIS_URL')).toMatchObject({ source: 'default', value: null, secret: true, set: false });
  });

  it('never holds a secret, wherever it was written', () => {
    const canary = 'Canary-Secret-0123456789-Canary-7';
    const rows = rowsOf({
      ...{ JWT_SECRET: canary, JWT_PREVIOUS_KEYS: canary, DATA_ENCRYPTION_KEY: key, WEBHOOK_SECRET: `whsec_${key}` },
      ...{
        DATABASE_URL: `mysql://portal:${canary}@db.example.com/portal`,
        REDIS_URL: `redis://:${canary}@redis.example.com`,
      },
      ...{ SMTP_URL: `smtp://u:${canary}@mail.example.com`, WEBHOOK_URL: `https://hooks.example.com/${canary}` },
      ...{ CAPTCHA_PROVIDER: 'hcaptcha', CAPTCHA_SECRET: canary, CAPTCHA_SITE_KEY: 'public-site-key' },
      ...{ PASSWORD_BREACH_URL: `https://u:${canary}@breach.example.com/range/`, LDAP_URL: 'ldaps://ldap.example.com' },
      ...{ LDAP_BIND_DN: 'cn=portal', LDAP_BIND_PASSWORD: canary, LDAP_SEARCH_BASE: 'dc=example' },
    });
    const text = JSON.stringify([...rows.values()]);
    for (const secret of [canary, key]) expect(text).not.toContain(secret);
    expect(rows.get('LDAP_BIND_PASSWORD')).toMatchObject({ value: null, secret: true, set: true });
    expect(rows.get('PASSWORD_BREACH_URL')).toMatchObject({ value: null, secret: true, set: true });
    expect(rows.get('CAPTCHA_SITE_KEY')).toMatchObject({ value: 'public-site-key', secret: false });
    expect(rows.get('LDAP_BIND_DN')).toMatchObject({ value: 'cn=portal' });
  });

  it('every setting of the documentation is told, under the heading at which it stands', () => {
    const page = readFileSync(resolve(root, 'docs/settings.md'), 'utf8');
    const { names } = loadConfig({ NODE_ENV: 'test' }).effective;
    const wrong = page.split(/^## /m).flatMap((section) => {
      const heading = section.split('\n')[0]!.toLowerCase().replaceAll(' ', '-');
      const cells = [...section.matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell]) => [
        ...cell!.matchAll(/`([A-Z0-9_]+)`/g),
      ]);
      return cells
        .map(([, name]) => name!)
        .filter((name) => names.has(name) && documentedAt(name) !== `docs/settings.md#${heading}`);
    });
    expect(wrong).toEqual([]);
    expect(names.size).toBeGreaterThan(100);
    expect(readdirSync(resolve(root, 'docs'))).toContain('settings.md');
  });
});
