import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { keptSecret } from '../platform/config/kept-secrets';
import type { SettingsReader } from '../platform/config/settings-reader';
import type { JwtSettings } from '../sessions/jwt-settings';
import { urlOf } from '../shared/url-text';

export type OpenIdAlgorithm = 'ES256' | 'RS256';

export interface OpenIdKey {
  readonly algorithm: OpenIdAlgorithm;
  readonly key: KeyObject;
}

export abstract class OpenIdSettings {
  /** Undefined with `OIDC=off`. */
  abstract readonly openId: OpenIdProviderSettings | undefined;
}

/** The OpenID provider (docs/spec/extensions.md#j). */
export interface OpenIdProviderSettings {
  readonly issuer: string;
  /** The current key, which signs, then the former ones, whose signatures are still accepted. */
  readonly keys: readonly [OpenIdKey, ...OpenIdKey[]];
}

interface Surroundings {
  readonly production: boolean;
  readonly dataDir: string;
  readonly systemUrl: string;
  readonly jwt: Pick<JwtSettings, 'algorithm' | 'signing'>;
}

export function readOpenIdSettings(env: SettingsReader, context: Surroundings): OpenIdSettings {
  env.mention('OIDC_ISSUER', 'OIDC_PRIVATE_KEY', 'OIDC_PREVIOUS_KEYS');
  if (env.choice('OIDC', ['on', 'off'], 'off') === 'off') return { openId: undefined };
  const issuer = readIssuer(env, context);
  const current = currentKey(env, context);
  const former = pems(env.optional('OIDC_PREVIOUS_KEYS') ?? '').flatMap((pem) =>
    parsed(env, 'OIDC_PREVIOUS_KEYS', pem),
  );
  if (current === undefined) return { openId: undefined };
  // In a rotation a key may stand in both settings. The package does not start with a key identifier that comes twice.
  const [first, ...others] = new Map([current, ...former].map((one) => [textOf(one), one])).values();
  return { openId: { issuer, keys: [first!, ...others] } };
}

/** Clients compare the issuer as a text, so it has no slash at the end, and no query or fragment (OpenID Discovery §3). */
function readIssuer(env: SettingsReader, { production, systemUrl }: Surroundings): string {
  const protocols = production ? ['https:'] : ['http:', 'https:'];
  const issuer = env.url('OIDC_ISSUER', protocols, `${systemUrl}/oidc`);
  const wellFormed = /^(\/[A-Za-z0-9._~-]+)+$/.test(urlOf(issuer)?.pathname ?? '');
  if (issuer !== '' && (!wellFormed || /[?#@]/.test(issuer)))
    env.problem('OIDC_ISSUER', 'must have a path, such as https://portal.example.com/oidc, and no query or fragment');
  return issuer;
}

/**
 * Applications verify the signatures with the published key, so a shared secret (`JWT_SECRET`) cannot sign for them.
 * Outside production a key is generated once and kept, like every other secret.
 */
function currentKey(env: SettingsReader, { production, dataDir, jwt }: Surroundings): OpenIdKey | undefined {
  const own = env.optional('OIDC_PRIVATE_KEY');
  if (own !== undefined) return parsed(env, 'OIDC_PRIVATE_KEY', own)[0];
  if (jwt.algorithm !== 'HS256') {
    // With a missing or wrong JWT_PRIVATE_KEY, which is told already, this key is a placeholder or a public key.
    return jwt.signing.key.type === 'private' ? { algorithm: jwt.algorithm, key: jwt.signing.key } : undefined;
  }
  if (!production) return parsed(env, 'DATA_DIR', keptSecret(env, dataDir, 'oidc', freshKey))[0];
  env.problem('OIDC_PRIVATE_KEY', 'is required with OIDC=on, unless JWT_ALGORITHM is ES256 or RS256');
  return undefined;
}

/** Keys are compared by it: `KeyObject.equals` of two types leaves an error in OpenSSL, and the next key is then refused. */
const textOf = ({ key }: OpenIdKey) => key.export({ type: 'pkcs8', format: 'pem' });

const pems = (text: string): readonly string[] => text.match(/-----BEGIN [\s\S]*?-----END [A-Z ]+-----/g) ?? [];

function parsed(env: SettingsReader, name: string, pem: string): OpenIdKey[] {
  if (pem === '') return [];
  try {
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'));
    const algorithm = algorithmOf(key);
    if (algorithm !== undefined) return [{ algorithm, key }];
  } catch {
    // The message of this error would quote the key.
  }
  env.problem(name, 'is not a private key in PEM (P-256, or RSA of at least 2048 bits)');
  return [];
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): OpenIdAlgorithm | undefined {
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? 'RS256' : undefined;
}

function freshKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}
