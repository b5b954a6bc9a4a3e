import type { AppConfig } from '../platform/config/app-config';
import { contentSecurityPolicy } from './content-security-policy';

const policyOf = (providers: string[], logoUrl?: string) =>
  contentSecurityPolicy({ captcha: { providers }, brand: { logoUrl } } as unknown as AppConfig);

it('with the own captcha and a logo of the own folder, no origin but this one is allowed', () => {
  expect(policyOf(['altcha'], '/brand/logo.svg')).not.toMatch(/unsafe|https?:|\*|frame-src/);
});

it.each([
  ['turnstile', 'https://challenges.cloudflare.com'],
  ['hcaptcha', 'https://*.hcaptcha.com'],
  ['recaptcha', 'https://www.google.com/recaptcha/'],
])('%s adds its origins to scripts and frames, and nothing inline', (provider, origin) => {
  const policy = policyOf(['altcha', provider]);
  for (const directive of ['script-src', 'frame-src']) {
    expect(policy.split('; ').find((part) => part.startsWith(`${directive} `))).toContain(origin);
  }
  expect(policy).not.toMatch(/unsafe/);
  expect(policy).toContain("default-src 'none'");
});

it('a logo elsewhere adds its origin to images alone', () => {
  const extended = policyOf(['altcha'], 'https://cdn.example.com/a/logo.svg').split('; ');
  expect(extended.filter((part) => part.includes('https:'))).toEqual(["img-src 'self' blob: https://cdn.example.com"]);
});
