import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { keptSecret, randomSecret } from '../platform/config/kept-secrets';
import { bitsOfVariety, minVarietyBits } from './jwt/secret-variety';
import type { SettingsReader } from '../platform/config/settings-reader';

const algorithms = ['HS256', 'ES256', 'RS256'] as const;
export type JwtAlgorithm = (typeof algorithms)[number];

const refreshTokenAudiences = ['auto', 'issuer', 'former'] as const;

export interface VerificationKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/** Keys are KeyObjects, because jsonwebtoken is forty times slower with a string (measured: 1.2 ms against 0.03 ms). */
export abstract class JwtSettings {
  abstract readonly algorithm: JwtAlgorithm;
  abstract readonly signing: VerificationKey;
  /** The current key, then those of `JWT_PREVIOUS_KEYS`, whose tokens are valid until they expire. */
  abstract readonly verification: readonly VerificationKey[];
  abstract readonly issuer: string;
  /** The claim `aud` of access tokens. */
  abstract readonly audience: string;
  /** The claim `aud` of refresh tokens, which no service behind the portal accepts. */
  abstract readonly refreshAudience: string;
  /** `former`: new refresh tokens have the audience of access tokens, as in version 1.0.0. `auto`: see RefreshAudience. */
  abstract readonly refreshTokensFor: (typeof refreshTokenAudiences)[number];
  abstract readonly accessTtlSeconds: number;
  abstract readonly refreshTtlSeconds: number;
  abstract readonly rotation: boolean;
  abstract readonly reuseGraceSeconds: number;
  /** The greatest age of a session's last credential check at a route that needs a fresh login (`youngSession`). */
  abstract readonly stepUpMaxAgeSeconds: number;
}

interface Surroundings {
  readonly production: boolean;
  readonly dataDir: string;
}

export function readJwtSettings(env: SettingsReader, context: Surroundings & { systemUrl: string }): JwtSettings {
  env.mention('JWT_SECRET', 'JWT_PRIVATE_KEY', 'JWT_PREVIOUS_KEYS');
  const algorithm = env.choice('JWT_ALGORITHM', algorithms, 'HS256');
  const keys = algorithm === 'HS256' ? readSecrets(env, context) : readKeyPairs(env, algorithm, context);
  const [issuer, audience] = [env.text('JWT_ISSUER', context.systemUrl), env.text('JWT_AUDIENCE', 'portal')];
  return {
    algorithm,
    signing: keys[0]?.signing ?? unusable,
    verification: keys.map((key) => key.verification),
    issuer,
    audience,
    // Version 1.0.0 allowed the same text for both. An access token and a refresh token must still differ.
    refreshAudience: issuer === audience ? `${issuer}#refresh` : issuer,
    refreshTokensFor: env.choice('REFRESH_TOKEN_AUDIENCE', refreshTokenAudiences, 'auto'),
    accessTtlSeconds: env.count('ACCESS_TOKEN_TTL_SECONDS', 900),
    refreshTtlSeconds: env.count('REFRESH_TOKEN_TTL_SECONDS', 7 * 86_400),
    rotation: env.flag('REFRESH_TOKEN_ROTATION', false),
    reuseGraceSeconds: env.count('REFRESH_REUSE_GRACE_SECONDS', 10, { min: 0 }),
    stepUpMaxAgeSeconds: env.count('STEP_UP_MAX_AGE_SECONDS', 300),
  };
}

/** A placeholder while further problems are collected. The start has already failed at that point. */
const unusable: VerificationKey = { kid: '', key: createSecretKey(Buffer.alloc(32)) };

interface KeyEntry {
  readonly signing: VerificationKey;
  readonly verification: VerificationKey;
}

function readSecrets(env: SettingsReader, { production, dataDir }: Surroundings): KeyEntry[] {
  const current =
    env.optional('JWT_SECRET') ?? (production ? '' : keptSecret(env, dataDir, 'jwt', () => randomSecret(48)));
  if (current === '' && production) env.problem('JWT_SECRET', 'is required in production: make one with keys generate');
  const named = [
    ['JWT_SECRET', current] as const,
    ...previousSecrets(env).map((secret) => ['JWT_PREVIOUS_KEYS', secret] as const),
  ];
  return named.flatMap(([key, secret]) => {
    if (secret === '') return [];
    const bytes = Buffer.from(secret, 'utf8');
    if (bytes.length < 32) {
      env.problem(key, 'must be at least 32 bytes long: make one with keys generate');
      return [];
    }
    if (bitsOfVariety(bytes) < minVarietyBits) {
      env.problem(key, `has less than ${minVarietyBits} bits of variety: make one with keys generate`);
      return [];
    }
    const kid = createHash('sha256').update('kid:').update(bytes).digest('base64url').slice(0, 16);
    const entry = { kid, key: createSecretKey(bytes) };
    return [{ signing: entry, verification: entry }];
  });
}

/** A JSON array such as `["one, with a comma", "two"]`, or secrets that are separated by commas. */
function previousSecrets(env: SettingsReader): readonly string[] {
  const text = env.optional('JWT_PREVIOUS_KEYS') ?? '';
  if (!/^\s*\[\s*"/.test(text)) return env.list('JWT_PREVIOUS_KEYS');
  try {
    const secrets: unknown = JSON.parse(text);
    if (Array.isArray(secrets) && secrets.every((secret) => typeof secret === 'string' && secret !== '')) {
      return secrets as string[];
    }
  } catch {
    // The message of this error would quote the secret.
  }
  env.problem('JWT_PREVIOUS_KEYS', 'begins like a JSON array, but is not an array of strings');
  return [];
}

type KeyPairAlgorithm = Exclude<JwtAlgorithm, 'HS256'>;

function readKeyPairs(env: SettingsReader, algorithm: KeyPairAlgorithm, context: Surroundings): KeyEntry[] {
  const { production, dataDir } = context;
  const kept = () => keptSecret(env, dataDir, `jwt-${algorithm.toLowerCase()}`, () => freshPrivateKey(algorithm));
  const pem = env.optional('JWT_PRIVATE_KEY') ?? (production ? '' : kept());
  if (pem === '' && production)
    env.problem(
      'JWT_PRIVATE_KEY',
      `is required in production with JWT_ALGORITHM=${algorithm}: make one with keys generate`,
    );
  if (pem === '') return [];
  const previous = (env.optional('JWT_PREVIOUS_KEYS') ?? '').match(/-----BEGIN [\s\S]*?-----END [A-Z ]+-----/g) ?? [];
  return [['JWT_PRIVATE_KEY', pem] as const, ...previous.map((one) => ['JWT_PREVIOUS_KEYS', one] as const)].flatMap(
    ([name, text]) => {
      try {
        const signing = name === 'JWT_PRIVATE_KEY' ? createPrivateKey(text.replaceAll('\\n', '\n')) : undefined;
        const key = createPublicKey(signing ?? text.replaceAll('\\n', '\n'));
        assertFits(key, algorithm);
        const verification = { kid: thumbprint(key), key };
        return [{ signing: { kid: verification.kid, key: signing ?? key }, verification }];
      } catch {
        env.problem(name, `is not a PEM key for ${algorithm} (P-256, or RSA of at least 2048 bits)`);
        return [];
      }
    },
  );
}

function freshPrivateKey(algorithm: KeyPairAlgorithm): string {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function assertFits(key: KeyObject, algorithm: KeyPairAlgorithm): void {
  const details = key.asymmetricKeyDetails;
  const fits =
    algorithm === 'ES256'
      ? key.asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1'
      : key.asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= 2048;
  if (!fits) throw new Error('the key has another type');
}

/** RFC 7638: SHA-256 over the required members in lexicographic order. */
function thumbprint(key: KeyObject): string {
  const jwk = key.export({ format: 'jwk' });
  const members =
    jwk.kty === 'EC' ? { crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y } : { e: jwk.e, kty: jwk.kty, n: jwk.n };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
