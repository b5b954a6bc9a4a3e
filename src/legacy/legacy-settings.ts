import { isLoopback } from '../platform/config/http-settings';
import type { SettingsReader } from '../platform/config/settings-reader';
import { isSigningSecret, signingSecretRule } from '../platform/config/signing-secret';

export interface LegacySystemSettings {
  readonly url: string;
  /** `whsec_` and the key in base64. */
  readonly secret: string;
  readonly timeoutMs: number;
}

/** The old system that checks the passwords which could not be brought along (docs/spec/extensions.md#legacy-login). */
export abstract class LegacySettings {
  abstract readonly legacy: LegacySystemSettings | undefined;
}

export function readLegacySettings(env: SettingsReader, production: boolean): LegacySettings {
  const url = env.optional('LEGACY_VERIFY_URL');
  const secret = env.optional('LEGACY_VERIFY_SECRET');
  const timeoutMs = env.count('LEGACY_VERIFY_TIMEOUT_MS', 3000, { max: 10_000 });
  if (url !== undefined) checkUrl(env, url, production);
  if (secret !== undefined && !isSigningSecret(secret)) env.problem('LEGACY_VERIFY_SECRET', signingSecretRule);
  if (url !== undefined && secret === undefined) {
    env.problem('LEGACY_VERIFY_SECRET', 'is required with LEGACY_VERIFY_URL');
  }
  if (url === undefined && secret !== undefined) {
    env.problem('LEGACY_VERIFY_URL', 'is required with LEGACY_VERIFY_SECRET');
  }
  return { legacy: url === undefined || secret === undefined ? undefined : { url, secret, timeoutMs } };
}

/** Each request has a password, so it is encrypted on every network, also outside of production. */
function checkUrl(env: SettingsReader, url: string, production: boolean): void {
  const key = 'LEGACY_VERIFY_URL';
  if (env.url(key, production ? ['https:'] : ['https:', 'http:']) === '') return;
  const { protocol, hostname, username, password, hash } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
    env.problem(key, 'must start with https://, because each request has a password');
  }
  if (username !== '' || password !== '' || hash !== '') {
    env.problem(key, 'must have no user name, no password and no fragment (#)');
  }
}
