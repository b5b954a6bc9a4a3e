import { randomBytes } from 'node:crypto';
import { type AdminConfig, readAdminConfig } from './admin-config';
import { type BrandConfig, type PortalConfig, readBrandConfig, readPortalConfig } from './brand-config';
import { type CaptchaConfig, readCaptchaConfig } from './captcha-config';
import { readDatabaseUrl } from './database-url';
import { type EventsConfig, readEventsConfig } from './events-config';
import { type HttpConfig, isLoopback, readHttpConfig, readSystemUrl } from './http-config';
import { type JwtConfig, readJwtConfig } from './jwt-config';
import { keptSecret } from './kept-secrets';
import { type LdapConfig, readLdapConfig } from './ldap-config';
import { type LimitsConfig, readLimitsConfig } from './limits-config';
import { type MailConfig, readMailConfig } from './mail-config';
import { type PasskeyConfig, readPasskeyConfig } from './passkey-config';
import { type PasswordConfig, readPasswordConfig } from './password-config';
import { defaultHashThreads } from './processors';
import { SettingsReader } from './settings-reader';
import { readTracingConfig, type TracingConfig } from './tracing-config';

/** All settings (docs/spec/decisions.md#8): validated, typed and frozen. Other code injects this class. */
export abstract class AppConfig {
  abstract readonly production: boolean;
  abstract readonly http: HttpConfig;
  /** The public address of the portal. It is the only base of links in mails (docs/spec/attacks.md#w29). */
  abstract readonly systemUrl: string;
  abstract readonly dataDir: string;
  abstract readonly logLevel: string;
  abstract readonly database: {
    readonly url: string;
    /** The file of `DATABASE_URL_FILE`, which is read again when the server refuses new connections. */
    readonly urlFile: string | undefined;
    readonly poolSize: number;
    readonly migrateOnStart: boolean;
    readonly sqliteSynchronous: 'full' | 'normal';
    /**
     * Whether statements have the time limits of a service that answers within 5 s. The command line sets false.
     */
    readonly timeLimits: boolean;
  };
  abstract readonly redisUrl: string | undefined;
  abstract readonly jwt: JwtConfig;
  abstract readonly lock: { readonly maxCount: number; readonly windowSeconds: number; readonly dormantDays: number };
  abstract readonly hideAccountExistence: boolean;
  abstract readonly hashing: {
    readonly cost: number;
    readonly threads: number;
    /** Whether one thread compares two waiting passwords at the same time (ADR 0016). */
    readonly pairs: boolean;
    readonly queueLimit: number;
    readonly queueMaxWaitMs: number;
  };
  abstract readonly mfa: {
    readonly required: boolean;
    readonly pendingTtlSeconds: number;
    readonly pendingBinding: 'owner' | 'none';
    readonly cooldownSeconds: number;
    readonly codeTtlSeconds: number;
    readonly maxAttempts: number;
    readonly accountMaxFailures: number;
    readonly totpIssuer: string;
    readonly totpWindow: number;
    readonly enrolmentTtlSeconds: number;
    readonly enrolmentBinding: 'bearer' | 'ip';
    /** 0: no device is trusted. */
    readonly trustedDeviceDays: number;
  };
  abstract readonly reset: {
    readonly responseUid: 'reference' | 'token';
    readonly ttlSeconds: number;
    readonly throttleSeconds: number;
    readonly inviteTtlSeconds: number;
  };
  abstract readonly passwords: PasswordConfig;
  /** Keys of 32 bytes (`DATA_ENCRYPTION_KEY`). The first key encrypts, and every key decrypts. */
  abstract readonly dataKeys: readonly Buffer[];
  abstract readonly captcha: CaptchaConfig;
  abstract readonly portal: PortalConfig;
  abstract readonly brand: BrandConfig;
  /** Undefined: no passkeys. */
  abstract readonly passkeys: PasskeyConfig | undefined;
  abstract readonly ldap: LdapConfig | undefined;
  abstract readonly mail: MailConfig;
  /** Whether the owner gets a mail when a login succeeds from a browser that is new for the account. */
  abstract readonly newSignInNotice: boolean;
  abstract readonly events: EventsConfig;
  abstract readonly admin: AdminConfig;
  abstract readonly limits: LimitsConfig;
  abstract readonly tracing: TracingConfig;
}

/** @throws SettingsProblem that names each setting that is missing or wrong, but never its value */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): AppConfig {
  const env = new SettingsReader(environment);
  const production = env.choice('NODE_ENV', ['production', 'development', 'test'], 'development') === 'production';
  const http = readHttpConfig(env, production);
  const dataDir = env.text('DATA_DIR', './data');
  const systemUrl = readSystemUrl(env, production, http.port);
  const cost = env.count('BCRYPT_COST', 12, { min: production ? 10 : 4, max: 14 });
  const portal = readPortalConfig(env);
  const testingAllowed = !production && isLoopback(http.host);

  const config: AppConfig = {
    production,
    http,
    systemUrl,
    dataDir,
    logLevel: env.choice('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    database: {
      url: readDatabaseUrl(env, production),
      urlFile: env.fileOf('DATABASE_URL'),
      poolSize: env.count('DATABASE_POOL_SIZE', 10, { max: 1000 }),
      migrateOnStart: env.flag('MIGRATE_ON_START', !production),
      sqliteSynchronous: env.choice('SQLITE_SYNCHRONOUS', ['full', 'normal'], 'full'),
      timeLimits: true,
    },
    redisUrl: env.optional('REDIS_URL') === undefined ? undefined : env.url('REDIS_URL', ['redis:', 'rediss:']),
    jwt: readJwtConfig(env, { production, dataDir, systemUrl }),
    lock: {
      maxCount: env.count('MAX_LOCK_COUNT', 3),
      windowSeconds: env.count('USER_LOCK_TIME', 900),
      dormantDays: env.count('ACCOUNT_DORMANT_DAYS', 180, { min: 0, max: 36_500 }),
    },
    hideAccountExistence: env.flag('HIDE_ACCOUNT_EXISTENCE', false),
    hashing: {
      cost,
      threads: env.count('HASH_THREADS', defaultHashThreads(), { max: 256 }),
      pairs: env.choice('HASH_PAIRS', ['on', 'off'], 'on') === 'on',
      queueLimit: env.count('HASH_QUEUE_LIMIT', 1000),
      queueMaxWaitMs: env.count('HASH_QUEUE_MAX_WAIT_MS', queueMaxWaitMs(cost)),
    },
    mfa: {
      required: env.flag('MFA_REQUIRED', false),
      pendingTtlSeconds: env.count('MFA_PENDING_TTL_SECONDS', 300),
      pendingBinding: env.choice('MFA_PENDING_BINDING', ['owner', 'none'], 'owner'),
      cooldownSeconds: env.count('OTP_COOLDOWN_SECONDS', 60),
      codeTtlSeconds: env.count('OTP_TTL_SECONDS', 300),
      maxAttempts: env.count('OTP_MAX_ATTEMPTS', 5),
      accountMaxFailures: env.count('OTP_ACCOUNT_MAX_FAILURES', 10),
      totpIssuer: env.text('TOTP_ISSUER', 'Portal'),
      totpWindow: env.count('TOTP_WINDOW', 1, { min: 0, max: 10 }),
      enrolmentTtlSeconds: env.count('TOTP_ENROLMENT_TTL_SECONDS', 300),
      enrolmentBinding: env.choice('TOTP_ENROLMENT_BINDING', ['bearer', 'ip'], 'bearer'),
      trustedDeviceDays: env.count('MFA_TRUSTED_DEVICE_DAYS', 0, { min: 0, max: 36_500 }),
    },
    reset: {
      responseUid: readResponseUid(env, testingAllowed),
      ttlSeconds: env.count('RESET_REQUEST_TTL_SECONDS', 1800),
      throttleSeconds: env.count('RESET_REQUEST_THROTTLE_SECONDS', 300),
      inviteTtlSeconds: env.count('INVITE_TTL_SECONDS', 259_200),
    },
    passwords: readPasswordConfig(env, production),
    dataKeys: readDataKeys(env, production, dataDir),
    captcha: readCaptchaConfig(env, { production, testingAllowed, pages: portal.on }),
    portal,
    brand: readBrandConfig(env, portal),
    passkeys: readPasskeyConfig(env, systemUrl),
    ldap: readLdapConfig(env),
    mail: readMailConfig(env),
    newSignInNotice: env.flag('NEW_SIGN_IN_NOTICE', false),
    events: readEventsConfig(env, production),
    admin: readAdminConfig(env),
    limits: readLimitsConfig(env, production),
    tracing: readTracingConfig(env),
  };
  env.refuseMisspeltNames();
  env.refuseTwoSources();
  env.assertNoProblems();
  return deepFreeze(config);
}

function readResponseUid(env: SettingsReader, testingAllowed: boolean): 'reference' | 'token' {
  const value = env.choice('RESET_RESPONSE_UID', ['reference', 'token'], 'reference');
  if (value === 'token' && !testingAllowed) {
    env.problem('RESET_RESPONSE_UID', 'may be token only outside production and on a loopback HOST: set reference');
  }
  return value;
}

function readDataKeys(env: SettingsReader, production: boolean, dataDir: string): Buffer[] {
  const configured = env.list('DATA_ENCRYPTION_KEY');
  if (configured.length === 0 && production)
    env.problem('DATA_ENCRYPTION_KEY', 'is required in production: make one with keys generate');
  // Buffer.from skips characters that are not base64, so a mistyped key would become another key.
  if (configured.some((text) => !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))) {
    env.problem('DATA_ENCRYPTION_KEY', 'must be 32 bytes in base64, or several such keys separated by commas');
  }
  const fresh = () => randomBytes(32).toString('base64');
  const texts = configured.length > 0 || production ? configured : [keptSecret(env, dataDir, 'data-encryption', fresh)];
  const keys = texts.map((text) => Buffer.from(text, 'base64'));
  if (keys.some((key) => key.length === 32 && new Set(key).size === 1)) {
    env.problem('DATA_ENCRYPTION_KEY', 'repeats one byte 32 times and is not random: make one with keys generate');
  }
  return keys;
}

/**
 * A longer hash needs a longer queue to keep all threads busy, but nobody wants to wait sixteen times as long for it: the
 * wait grows with the root of the work. 1000 at cost 10, 2000 at cost 12, 4000 at cost 14.
 */
function queueMaxWaitMs(cost: number): number {
  return Math.max(1000, Math.round(2000 * 2 ** ((cost - 12) / 2)));
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    const plain = Array.isArray(member) || Object.getPrototypeOf(member ?? 0) === Object.prototype;
    if (plain) deepFreeze(member as object);
  }
  return Object.freeze(value);
}
