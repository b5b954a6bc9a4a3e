import { dataKey } from '../../test/support/settings';
import { loadConfig } from '../settings/app-config';
import type { SettingsProblem } from '../platform/config/settings-reader';

const base = {
  NODE_ENV: 'test',
  JWT_SECRET: 'a secret of 43 characters, all of one kind.',
  DATA_ENCRYPTION_KEY: dataKey('legacy'),
};
const production = { NODE_ENV: 'production', SYSTEM_URL: 'https://portal.test', DATABASE_URL: 'sqlite:x' };
const LEGACY_VERIFY_SECRET = `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`;
const load = (settings: Record<string, string>) => loadConfig({ ...base, ...settings }).legacy;

function problems(settings: Record<string, string>): readonly string[] {
  try {
    load(settings);
    return [];
  } catch (error) {
    return (error as SettingsProblem).problems.filter((problem) => problem.startsWith('LEGACY_'));
  }
}

describe('LEGACY_VERIFY_URL, LEGACY_VERIFY_SECRET and LEGACY_VERIFY_TIMEOUT_MS', () => {
  it('are off by default, and need each other', () => {
    expect(load({})).toBeUndefined();
    expect(problems({ LEGACY_VERIFY_URL: 'https://old.test/verify' })).toEqual([
      'LEGACY_VERIFY_SECRET is required with LEGACY_VERIFY_URL',
    ]);
    expect(problems({ LEGACY_VERIFY_SECRET })).toEqual(['LEGACY_VERIFY_URL is required with LEGACY_VERIFY_SECRET']);
  });

  it('are taken as they are given', () => {
    const url = 'https://old.test/verify?tenant=1';
    const settings = { LEGACY_VERIFY_URL: url, LEGACY_VERIFY_SECRET };
    expect(load({ ...settings, ...production, SMTP_URL: 'smtp://mail.test' })).toEqual({
      ...{ url, secret: LEGACY_VERIFY_SECRET, timeoutMs: 3000 },
    });
    expect(load({ ...settings, LEGACY_VERIFY_TIMEOUT_MS: '10000' })).toMatchObject({ timeoutMs: 10_000 });
  });

  it.each(['http://127.0.0.1:8000/verify', 'http://localhost/verify', 'http://[::1]:8000/verify'])(
    'T708 %s is taken outside of production, and refused in production: each request has a password',
    (url) => {
      const settings = { LEGACY_VERIFY_URL: url, LEGACY_VERIFY_SECRET };
      expect(problems(settings)).toEqual([]);
      expect(problems({ ...settings, ...production })).toEqual([
        'LEGACY_VERIFY_URL must be a URL that starts with https://',
      ]);
    },
  );

  it.each([
    ['http://old.test/verify', 'must start with https://, because each request has a password'],
    ['http://127.0.0.1.old.test/verify', 'must start with https://, because each request has a password'],
    ['https://user:secret@old.test/', 'must have no user name, no password and no fragment (#)'],
    ['https://old.test/#x', 'must have no user name, no password and no fragment (#)'],
    ['old.test', 'must be a URL that starts with https:// or http://'],
    ['ftp://old.test/', 'must be a URL that starts with https:// or http://'],
  ])('T708 %s is refused, and the problem shows nothing of it', (url, problem) => {
    expect(problems({ LEGACY_VERIFY_URL: url, LEGACY_VERIFY_SECRET })).toEqual([`LEGACY_VERIFY_URL ${problem}`]);
  });

  it.each(['secret', 'whsec_', `whsec_${Buffer.alloc(23).toString('base64')}`, 'whsec_!!!!'])(
    'the secret %j is refused',
    (secret) => {
      expect(problems({ LEGACY_VERIFY_URL: 'https://old.test/', LEGACY_VERIFY_SECRET: secret })).toEqual([
        'LEGACY_VERIFY_SECRET must be whsec_ and 24 to 64 bytes in base64',
      ]);
    },
  );

  it.each(['0', '10001', '1.5', 'soon'])('the time-out %j is refused', (given) => {
    expect(problems({ LEGACY_VERIFY_TIMEOUT_MS: given })).toEqual([
      'LEGACY_VERIFY_TIMEOUT_MS must be a whole number from 1 to 10000',
    ]);
  });
});
