import { isLoopback } from '../platform/config/http-settings';
import type { SettingsReader } from '../platform/config/settings-reader';
import { urlOf } from '../shared/url-text';

export const tokenBindings = ['optional', 'required', 'off'] as const;
export type TokenBindingMode = (typeof tokenBindings)[number];

/** Which tokens are bound to a key of the client (docs/spec/extensions.md#n), and where proofs are remembered. */
export abstract class TokenBindingSettings {
  abstract readonly binding: TokenBindingMode;
  /** The origins that clients may ask: that of `SYSTEM_URL`, then those of `TOKEN_BINDING_ORIGINS`. */
  abstract readonly origins: readonly string[];
  /** The path of `SYSTEM_URL`, which an ingress removes. Empty for most. */
  abstract readonly pathPrefix: string;
  /** Also accepts the own name that a request has used, when it is one of a loopback address: only outside production. */
  abstract readonly loopbackNames: boolean;
  /** Undefined: proofs are remembered in the database, or by the process when the database is a file. */
  abstract readonly proofsRedisUrl: string | undefined;
  abstract readonly singleProcess: boolean;
}

interface Surroundings {
  readonly production: boolean;
  readonly systemUrl: string;
  readonly redisUrl: string | undefined;
  readonly databaseUrl: string;
}

export function readTokenBindingSettings(
  env: SettingsReader,
  { production, systemUrl, redisUrl, databaseUrl }: Surroundings,
): TokenBindingSettings {
  const more = env.list('TOKEN_BINDING_ORIGINS');
  if (!more.every((origin) => urlOf(origin)?.origin === origin)) {
    env.problem(
      'TOKEN_BINDING_ORIGINS',
      'must be a list of origins such as https://api.example.com, separated by commas',
    );
  }
  // Without SYSTEM_URL the start fails, which the reader has noted.
  const { origin, pathname, hostname } = new URL(systemUrl === '' ? 'https://unset.invalid' : systemUrl);
  return {
    binding: env.choice('TOKEN_BINDING', tokenBindings, 'optional'),
    origins: [origin, ...more],
    pathPrefix: pathname.replace(/\/+$/, ''),
    loopbackNames: !production && isLoopback(hostname.replace(/^\[|\]$/g, '')),
    proofsRedisUrl: redisUrl,
    singleProcess: databaseUrl.startsWith('sqlite:'),
  };
}
