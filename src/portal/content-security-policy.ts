import type { CaptchaSettings, SiteverifyProviderName } from '../captcha/captcha-settings';
import type { OpenIdSettings } from '../applications/openid-settings';
import type { BrandSettings } from '../mail/brand-settings';

/** The origins that a captcha widget loads scripts from and shows frames of, as its provider documents them. */
const captchaOrigins: Readonly<Record<SiteverifyProviderName, readonly string[]>> = {
  turnstile: ['https://challenges.cloudflare.com'],
  hcaptcha: ['https://hcaptcha.com', 'https://*.hcaptcha.com'],
  recaptcha: [
    'https://www.google.com/recaptcha/',
    'https://www.gstatic.com/recaptcha/',
    'https://recaptcha.google.com/recaptcha/',
  ],
};

/** A browser that opens an image of the brand by its URL must not run it as a page of this origin. */
export const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

interface Settings extends OpenIdSettings {
  readonly captcha: CaptchaSettings;
  readonly brand: BrandSettings;
}

/**
 * The Content-Security-Policy of the pages: files of this origin only, nothing inline, no frames, no form submits. Only
 * the configured captcha providers and the configured images extend it. `blob:` is for the QR code. Where applications sign
 * in here, an administrator can add one with a logo of any host, so images of all https hosts are allowed.
 */
export function contentSecurityPolicy({ captcha, brand, openId }: Settings): string {
  const origins = captcha.providers.flatMap((name) => (name === 'altcha' ? [] : captchaOrigins[name]));
  const images = [brand.logoUrl, brand.logoDarkUrl, brand.faviconUrl].flatMap((url) =>
    url?.startsWith('https:') ? [new URL(url).origin] : [],
  );
  const directives: readonly (readonly [string, ...string[]])[] = [
    ['default-src', "'none'"],
    ['script-src', "'self'", ...origins],
    ['style-src', "'self'", ...origins],
    ['img-src', "'self'", 'blob:', ...(openId === undefined ? new Set(images) : ['https:'])],
    ['connect-src', "'self'", ...origins],
    ...(origins.length === 0 ? [] : [['frame-src', ...origins] as [string, ...string[]]]),
    ['worker-src', "'self'"],
    ['base-uri', "'none'"],
    ['form-action', "'none'"],
    ['frame-ancestors', "'none'"],
  ];
  return directives.map((directive) => directive.join(' ')).join('; ');
}
