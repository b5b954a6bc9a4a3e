import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataKey } from '../../test/support/settings';
import { type AppConfig, loadConfig } from '../settings/app-config';
import { SettingsProblem } from '../platform/config/settings-reader';

const base = {
  NODE_ENV: 'test',
  JWT_SECRET: 'a secret of 43 characters, all of one kind.',
  DATA_ENCRYPTION_KEY: dataKey('brand'),
};
const load = (settings: Record<string, string>): AppConfig => loadConfig({ ...base, ...settings });

function problems(settings: Record<string, string>): readonly string[] {
  try {
    load(settings);
    return [];
  } catch (error) {
    return (error as SettingsProblem).problems;
  }
}

describe('a logo in BRAND_DIR', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'brand-'));
    writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('needs BRAND_DIR', () => {
    expect(problems({ BRAND_LOGO_URL: '/brand/logo.svg' })).toEqual([
      'BRAND_DIR is not set, and BRAND_LOGO_URL names a file in it',
    ]);
  });

  it('must be a file that can be read', () => {
    expect(load({ BRAND_LOGO_URL: '/brand/logo.svg', BRAND_DIR: folder }).brand.logoUrl).toBe('/brand/logo.svg');
    mkdirSync(join(folder, 'folder.png'));
    for (const name of ['missing.svg', 'folder.png']) {
      expect(problems({ BRAND_LOGO_URL: `/brand/${name}`, BRAND_DIR: folder })).toEqual([
        'BRAND_LOGO_URL names no file in BRAND_DIR that can be read',
      ]);
    }
  });
});

describe('the logo of the mails', () => {
  let folder: string;
  const logo = (BRAND_LOGO_URL: string) => load({ BRAND_LOGO_URL, BRAND_DIR: folder }).brand.mailLogo;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'brand-'));
    for (const name of ['a.svg', 'a.png', 'b.svg', 'c.jpg', 'd.webp']) writeFileSync(join(folder, name), 'x');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is the png or jpg of BRAND_LOGO_URL, or the png beside a logo that mail programs do not show', () => {
    expect(logo('/brand/a.png')).toBe(join(folder, 'a.png'));
    expect(logo('/brand/c.jpg')).toBe(join(folder, 'c.jpg'));
    expect(logo('/brand/a.svg')).toBe(join(folder, 'a.png'));
    expect([logo('/brand/b.svg'), logo('/brand/d.webp')]).toEqual([undefined, undefined]);
  });

  it('is never one of another server, which would learn who opens the mail', () => {
    expect(logo('https://cdn.example.com/a.png')).toBeUndefined();
  });
});

it('the start fails when white text on the brand colour has too little contrast, and the message names the contrast', () => {
  expect(problems({ BRAND_COLOR: '#777777' })).toEqual([
    'BRAND_COLOR gives white text a contrast of 4.47:1, and it must reach 4.5:1',
  ]);
  expect(problems({ BRAND_COLOR: '#767676' })).toEqual([]);
});

describe('the site key of a captcha', () => {
  const turnstile = { CAPTCHA_PROVIDER: 'turnstile', CAPTCHA_SECRET: 'not-a-secret' };

  it('is required only when the service serves the pages', () => {
    expect(problems(turnstile)).toEqual([]);
    expect(problems({ ...turnstile, PORTAL: 'on' })).toEqual([
      'CAPTCHA_SITE_KEY is not set, and the pages (PORTAL) need it for turnstile',
    ]);
  });

  it('has one setting per provider, with the name of the provider, when several providers are configured', () => {
    const both = {
      CAPTCHA_PROVIDER: 'turnstile,hcaptcha',
      CAPTCHA_TURNSTILE_SECRET: 'not-a-secret',
      CAPTCHA_HCAPTCHA_SECRET: 'not-a-secret',
    };
    const { captcha } = load({ ...both, CAPTCHA_TURNSTILE_SITE_KEY: 'site-1', CAPTCHA_HCAPTCHA_SITE_KEY: 'site-2' });
    expect([captcha.siteverify.turnstile?.siteKey, captcha.siteverify.hcaptcha?.siteKey]).toEqual(['site-1', 'site-2']);
    expect(problems({ ...both, PORTAL: 'on', CAPTCHA_SITE_KEY: 'site-1' })).toEqual([
      expect.stringMatching('^CAPTCHA_TURNSTILE_SITE_KEY is not set'),
      expect.stringMatching('^CAPTCHA_HCAPTCHA_SITE_KEY is not set'),
    ]);
  });
});
