import { dataKey } from '../../test/support/settings';
import { type AppConfig, loadConfig } from '../settings/app-config';
import type { SettingsProblem } from '../platform/config/settings-reader';

const base = {
  NODE_ENV: 'test',
  JWT_SECRET: 'a secret of 43 characters, all of one kind.',
  DATA_ENCRYPTION_KEY: dataKey('events'),
};
const production = { NODE_ENV: 'production', SYSTEM_URL: 'https://portal.test', DATABASE_URL: 'sqlite:x' };
const load = (settings: Record<string, string>): AppConfig => loadConfig({ ...base, ...settings });
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xfb).toString('base64')}`;

function problems(settings: Record<string, string>): readonly string[] {
  try {
    load(settings);
    return [];
  } catch (error) {
    return (error as SettingsProblem).problems;
  }
}

const url = { WEBHOOK_URL: 'http://receiver.test/hook/?tenant=1' };
const secret = { WEBHOOK_SECRET: secretOf(32) };

describe('AUDIT_STREAM', () => {
  it('is off or stdout, and off when it is not set', () => {
    expect(load({}).events).toMatchObject({ stream: false, webhook: undefined });
    expect(load({ AUDIT_STREAM: 'stdout' }).events.stream).toBe(true);
    expect(problems({ AUDIT_STREAM: 'stderr' })).toEqual(['AUDIT_STREAM must be one of off, stdout']);
  });
});

describe('EVENTS_GIVE_UP_HOURS', () => {
  it('is 72, so that events outlast a weekend, and at most the 30 days after which purge deletes them', () => {
    expect(load({}).events.giveUpHours).toBe(72);
    expect(load({ EVENTS_GIVE_UP_HOURS: '720' }).events.giveUpHours).toBe(720);
    for (const value of ['0', '721', '1.5', 'three']) {
      const problem = 'EVENTS_GIVE_UP_HOURS must be a whole number from 1 to 720';
      expect(problems({ EVENTS_GIVE_UP_HOURS: value })).toEqual([problem]);
    }
  });
});

describe('WEBHOOK_URL and WEBHOOK_SECRET', () => {
  it('are used as they are, with the slash at the end of the path', () => {
    expect(load({ ...url, ...secret }).events.webhook).toEqual({ url: url.WEBHOOK_URL, secret: secret.WEBHOOK_SECRET });
  });

  it('one without the other stops the start', () => {
    expect(problems(url)).toEqual(['WEBHOOK_SECRET is required with WEBHOOK_URL']);
    expect(problems(secret)).toEqual(['WEBHOOK_URL is required with WEBHOOK_SECRET']);
  });

  it.each([
    ['http in production', 'http://receiver.test/', production, 'must be a URL that starts with https://'],
    ['another protocol', 'ftp://receiver.test/', {}, 'must be a URL that starts with https:// or http://'],
    ['no URL', 'receiver', {}, 'must be a URL that starts with https:// or http://'],
    ['a user name', 'https://user@receiver.test/', {}, 'must have no user name, no password and no fragment (#)'],
    ['a password', 'https://:pass@receiver.test/', {}, 'must have no user name, no password and no fragment (#)'],
    ['a fragment', 'https://receiver.test/#x', {}, 'must have no user name, no password and no fragment (#)'],
  ])('a URL with %s is refused', (_what, value, more, problem) => {
    expect(problems({ ...secret, ...more, WEBHOOK_URL: value })).toContain(`WEBHOOK_URL ${problem}`);
  });

  it.each([
    ['no prefix', secretOf(32).slice(6)],
    ['another prefix', secretOf(32).replace('whsec_', 'whsk_')],
    ['23 bytes', secretOf(23)],
    ['65 bytes', secretOf(65)],
    ['base64url', secretOf(32).replaceAll('+', '-')],
    ['characters that are not base64', `${secretOf(32)} `],
    ['no key', 'whsec_'],
  ])('a secret with %s is refused, and the message does not contain it', (_what, value) => {
    expect(problems({ ...url, WEBHOOK_SECRET: value })).toEqual([
      'WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in base64',
    ]);
  });

  it.each([24, 25, 26, 64])('a secret of %i bytes is accepted', (bytes) => {
    expect(problems({ ...url, WEBHOOK_SECRET: secretOf(bytes) })).toEqual([]);
  });
});
