import type { SettingsReader } from '../platform/config/settings-reader';

export abstract class ResetSettings {
  abstract readonly responseUid: 'reference' | 'token';
  abstract readonly ttlSeconds: number;
  abstract readonly throttleSeconds: number;
  abstract readonly inviteTtlSeconds: number;
}

/** @param testingAllowed whether an answer may have the secret of the link */
export function readResetSettings(env: SettingsReader, testingAllowed: boolean): ResetSettings {
  return {
    responseUid: readResponseUid(env, testingAllowed),
    ttlSeconds: env.count('RESET_REQUEST_TTL_SECONDS', 1800),
    throttleSeconds: env.count('RESET_REQUEST_THROTTLE_SECONDS', 300),
    inviteTtlSeconds: env.count('INVITE_TTL_SECONDS', 259_200),
  };
}

export abstract class BreachSettings {
  /** The address of a range of breached passwords, to which five hex digits are appended. */
  abstract readonly breachUrl: string;
}

const publicRanges = 'https://api.pwnedpasswords.com/range/';

export function readBreachSettings(env: SettingsReader, production: boolean): BreachSettings {
  return { breachUrl: readBreachUrl(env, production) };
}

function readResponseUid(env: SettingsReader, testingAllowed: boolean): 'reference' | 'token' {
  const value = env.choice('RESET_RESPONSE_UID', ['reference', 'token'], 'reference');
  if (value === 'token' && !testingAllowed) {
    env.problem('RESET_RESPONSE_UID', 'may be token only outside production and on a loopback HOST: set reference');
  }
  return value;
}

/** Production requires TLS: without it, anybody on the way could call every password safe. */
function readBreachUrl(env: SettingsReader, production: boolean): string {
  const key = 'PASSWORD_BREACH_URL';
  const url = env.url(key, production ? ['https:'] : ['https:', 'http:'], publicRanges);
  if (url.includes('#')) env.problem(key, 'must have no fragment (#): the digits of the hash are appended');
  // A query such as `?prefix=` takes the digits as they are. A path needs a slash, which `url` has removed.
  return url.includes('?') ? url : `${url}/`;
}
