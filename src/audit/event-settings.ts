import type { SettingsReader } from '../platform/config/settings-reader';
import { isSigningSecret, signingSecretRule } from '../platform/config/signing-secret';

export interface WebhookSettings {
  readonly url: string;
  /** `whsec_` and the key in base64. */
  readonly secret: string;
}

/** What leaves the service besides the tables of the audit (docs/spec/extensions.md#e). */
export abstract class EventSettings {
  /** Whether the rows of the audit also become lines on standard output. */
  abstract readonly stream: boolean;
  abstract readonly webhook: WebhookSettings | undefined;
  /** An event that has waited for so long is given up when one more attempt fails. */
  abstract readonly giveUpHours: number;
}

export function readEventSettings(env: SettingsReader, production: boolean): EventSettings {
  return {
    stream: env.choice('AUDIT_STREAM', ['off', 'stdout'], 'off') === 'stdout',
    webhook: readWebhook(env, production),
    // `purge` deletes an event after 30 days, whether it waits or not.
    giveUpHours: env.count('EVENTS_GIVE_UP_HOURS', 72, { max: 720 }),
  };
}

function readWebhook(env: SettingsReader, production: boolean): WebhookSettings | undefined {
  const url = env.optional('WEBHOOK_URL');
  const secret = env.optional('WEBHOOK_SECRET');
  if (url !== undefined) checkUrl(env, url, production);
  if (secret !== undefined && !isSigningSecret(secret)) env.problem('WEBHOOK_SECRET', signingSecretRule);
  if (url !== undefined && secret === undefined) env.problem('WEBHOOK_SECRET', 'is required with WEBHOOK_URL');
  if (url === undefined && secret !== undefined) env.problem('WEBHOOK_URL', 'is required with WEBHOOK_SECRET');
  return url === undefined || secret === undefined ? undefined : { url, secret };
}

/** Production requires TLS, because an event contains names and addresses of people. */
function checkUrl(env: SettingsReader, url: string, production: boolean): void {
  if (env.url('WEBHOOK_URL', production ? ['https:'] : ['https:', 'http:']) === '') return;
  const { username, password, hash } = new URL(url);
  if (username !== '' || password !== '' || hash !== '') {
    env.problem('WEBHOOK_URL', 'must have no user name, no password and no fragment (#)');
  }
}
