import { generateKeyPairSync } from 'node:crypto';
import { webhookSecret } from './events/webhook-receiver';
import { freePort } from './servers/free-port';

/**
 * What an operator may switch on without another server, all at once. People do that, and a feature that is tested alone
 * may break another one. Nobody listens at the address of the webhook, so its events wait.
 */
export const everything = {
  PORTAL: 'on',
  ADMIN_API: 'on',
  OIDC: 'on',
  SCIM: 'on',
  AUDIT_STREAM: 'stdout',
  WEBHOOK_URL: 'https://127.0.0.1:9/events',
  WEBHOOK_SECRET: webhookSecret,
  EVENT_RECEIVERS: 'on',
  BRAND_NAME: 'Müller & Söhne',
  BRAND_COLOR: '#a01030',
  BRAND_LOGO_URL: 'https://cdn.example.com/logo.svg',
  BRAND_LOGO_DARK_URL: 'https://dark.example.com/logo.svg',
  BRAND_FAVICON_URL: 'https://cdn.example.com/icon.svg',
  SUPPORT_URL: 'mailto:help@example.com',
  PRIVACY_URL: 'https://www.example.com/privacy',
  IMPRINT_URL: 'https://www.example.com/imprint',
  MFA_TRUSTED_DEVICE_DAYS: '30',
  JWT_ALGORITHM: 'ES256',
  JWT_PRIVATE_KEY: generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
} as const;

export const isEverythingOn = typeof __PROFILE__ !== 'undefined';

/** The same with metrics. Each service needs a port of its own. */
export async function withMetrics(): Promise<Record<string, string>> {
  return { ...everything, METRICS_PORT: `${await freePort()}` };
}

/** The settings that the profile of the jest project adds to those of the tests (jest.config.js). */
export async function profileSettings(): Promise<Record<string, string>> {
  return isEverythingOn ? withMetrics() : {};
}
