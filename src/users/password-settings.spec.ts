import { loadConfig } from '../settings/app-config';

const base = {
  NODE_ENV: 'test',
  JWT_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
  DATA_ENCRYPTION_KEY: `${'Ab'.repeat(21)}E=`,
};
const passwords = (settings: Record<string, string>) => loadConfig({ ...base, ...settings }).passwords;

describe('the settings of passwords', () => {
  it('off sends no warnings', () => {
    expect(passwords({ PASSWORD_EXPIRY_WARN_DAYS: 'off' }).expiryWarnDays).toEqual([]);
  });

  it.each([
    ['https://breach.example/range/', 'https://breach.example/range/'],
    ['https://breach.example/range', 'https://breach.example/range/'],
    ['https://breach.example/?prefix=', 'https://breach.example/?prefix='],
  ])('the digits of a hash can be appended to PASSWORD_BREACH_URL=%s', (url, used) => {
    expect(passwords({ PASSWORD_BREACH_URL: url }).breachUrl).toBe(used);
  });

  it('production accepts https only, because the answer decides which passwords are allowed', () => {
    const production = (url: string) => () => loadConfig({ NODE_ENV: 'production', PASSWORD_BREACH_URL: url });
    expect(production('http://breach.example/range/')).toThrow(
      /PASSWORD_BREACH_URL must be a URL that starts with https:/,
    );
    expect(production('https://breach.example/range/')).not.toThrow(/PASSWORD_BREACH_URL/);
  });
});
