import type { AppConfig } from '../settings/app-config';
import { contentSecurityPolicy } from './content-security-policy';

const policyOf = (providers: string[], logoUrl?: string, openId?: object) =>
  contentSecurityPolicy({ captcha: { providers }, brand: { logoUrl }, openId } as unknown as AppConfig);

it('with the built-in captcha and a logo of the brand folder, the policy allows only its own origin', () => {
  expect(policyOf(['altcha'], '/brand/logo.svg')).not.toMatch(/unsafe|https?:|\*|frame-src/);
});

it.each([
  ['turnstile', 'https://challenges.cloudflare.com'],
  ['hcaptcha', 'https://*.hcaptcha.com'],
  ['recaptcha', 'https://www.google.com/recaptcha/'],
])('%s adds its origins to scripts and frames, and allows nothing inline', (provider, origin) => {
  const policy = policyOf(['altcha', provider]);
  for (const directive of ['script-src', 'frame-src']) {
    expect(policy.split('; ').find((part) => part.startsWith(`${directive} `))).toContain(origin);
  }
  expect(policy).not.toMatch(/unsafe/);
  expect(policy).toContain("default-src 'none'");
});

it('a logo of another origin adds this origin to images only', () => {
  const extended = policyOf(['altcha'], 'https://cdn.example.com/a/logo.svg').split('; ');
  expect(extended.filter((part) => part.includes('https:'))).toEqual(["img-src 'self' blob: https://cdn.example.com"]);
});

it('where applications sign in, their logos may come from any https host, and nothing else may', () => {
  const extended = policyOf(['altcha'], 'https://cdn.example.com/a/logo.svg', { issuer: 'https://x/oidc' }).split('; ');
  expect(extended.filter((part) => part.includes('https:'))).toEqual(["img-src 'self' blob: https:"]);
});
