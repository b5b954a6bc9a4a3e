import { type OpenIdSettings, readOpenIdSettings } from '../applications/openid-settings';
import { type AuditKeySettings, readAuditKeySettings } from '../audit/audit-key-settings';
import { type EventSettings, readEventSettings } from '../audit/event-settings';
import { type LogAddressSettings, readLogAddressSettings } from '../audit/log-settings';
import { type CaptchaSettings, readCaptchaSettings } from '../captcha/captcha-settings';
import { type DirectorySettings, readDirectorySettings } from '../directory/ldap-settings';
import { readReceiverSettings, type ReceiverSettings } from '../events/receiver-settings';
import {
  type ProviderAddressSettings,
  readProviderAddressSettings,
} from '../identity-providers/provider-address-settings';
import { type LegacySettings, readLegacySettings } from '../legacy/legacy-settings';
import { type BrandSettings, readBrandSettings } from '../mail/brand-settings';
import { type MailSettings, readMailSettings } from '../mail/mail-settings';
import { type MfaSettings, readMfaSettings } from '../mfa/mfa-settings';
import {
  type BreachSettings,
  readBreachSettings,
  readResetSettings,
  type ResetSettings,
} from '../password-reset/reset-settings';
import { type DatabaseSettings, readDatabaseSettings } from '../platform/config/database-settings';
import type { EffectiveSettings } from '../platform/config/effective-settings';
import { type HttpSettings, isLoopback, readHttpSettings } from '../platform/config/http-settings';
import { type KeySettings, readKeySettings } from '../platform/config/key-settings';
import { type LogExportSettings, readLogExportSettings } from '../platform/config/log-export-settings';
import { type LimitSettings, readLimitSettings } from '../platform/config/limit-settings';
import { readServiceSettings, type ServiceSettings } from '../platform/config/service-settings';
import { SettingsReader } from '../platform/config/settings-reader';
import { readTracingSettings, type TracingSettings } from '../platform/config/tracing-settings';
import { type PortalSettings, readPortalSettings } from '../portal/portal-settings';
import { readScimSettings, type ScimSettings } from '../scim/scim-settings';
import { type JwtSettings, readJwtSettings } from '../sessions/jwt-settings';
import { type PasskeySettings, readPasskeySettings } from '../sessions/passkey-settings';
import { readTokenBindingSettings, type TokenBindingSettings } from '../sessions/token-binding-settings';
import {
  type AdminSettings,
  type PendingLoginSettings,
  readAdminSettings,
  readPendingLoginSettings,
  readSignInSettings,
  readTrustedDeviceSettings,
  type SignInSettings,
  type TrustedDeviceSettings,
} from '../sessions/session-settings';
import {
  type LockSettings,
  type LoginNameSettings,
  type PrivacySettings,
  readLockSettings,
  readLoginNameSettings,
  readPrivacySettings,
  readSecondFactorSettings,
  type SecondFactorSettings,
} from '../users/account-settings';
import { type HashingSettings, readHashingSettings } from '../users/hashing-settings';
import { type PasswordSettings, readPasswordSettings } from '../users/password-settings';

/** The slices whose settings have no group of their own. */
type Ungrouped = ServiceSettings &
  KeySettings &
  PrivacySettings &
  SignInSettings &
  DirectorySettings &
  LegacySettings &
  PasskeySettings &
  OpenIdSettings &
  ScimSettings;

/**
 * All settings (docs/spec/decisions.md#8): validated, typed and frozen. Only compositions know this class. Other classes
 * inject the slice that they need, such as `MfaSettings`, which `ConfigModule` provides.
 */
export abstract class AppConfig implements Ungrouped {
  abstract readonly production: boolean;
  abstract readonly systemUrl: string;
  abstract readonly dataDir: string;
  abstract readonly dataKeys: KeySettings['dataKeys'];
  abstract readonly hideAccountExistence: boolean;
  abstract readonly newSignInNotice: boolean;
  abstract readonly ldap: DirectorySettings['ldap'];
  abstract readonly legacy: LegacySettings['legacy'];
  abstract readonly passkeys: PasskeySettings['passkeys'];
  abstract readonly openId: OpenIdSettings['openId'];
  abstract readonly scim: ScimSettings['scim'];
  abstract readonly logLevel: string;
  abstract readonly redisUrl: string | undefined;
  abstract readonly http: HttpSettings;
  abstract readonly database: DatabaseSettings;
  abstract readonly limits: LimitSettings;
  abstract readonly tracing: TracingSettings;
  abstract readonly logExport: LogExportSettings;
  abstract readonly jwt: JwtSettings;
  abstract readonly lock: LockSettings;
  abstract readonly loginNames: LoginNameSettings;
  abstract readonly hashing: HashingSettings;
  abstract readonly mfa: MfaSettings & SecondFactorSettings & PendingLoginSettings & TrustedDeviceSettings;
  abstract readonly reset: ResetSettings;
  abstract readonly passwords: PasswordSettings & BreachSettings;
  abstract readonly captcha: CaptchaSettings;
  abstract readonly portal: PortalSettings;
  abstract readonly brand: BrandSettings;
  abstract readonly mail: MailSettings;
  abstract readonly events: EventSettings;
  abstract readonly eventReceivers: ReceiverSettings;
  abstract readonly logAddresses: LogAddressSettings;
  abstract readonly auditKey: AuditKeySettings;
  abstract readonly admin: AdminSettings;
  abstract readonly tokenBinding: TokenBindingSettings;
  abstract readonly identityProviders: ProviderAddressSettings;
  abstract readonly effective: EffectiveSettings;
}

/** @throws SettingsProblem that names each setting that is missing or wrong, but never its value */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): AppConfig {
  const env = new SettingsReader(environment);
  const production = env.choice('NODE_ENV', ['production', 'development', 'test'], 'development') === 'production';
  const http = readHttpSettings(env, production);
  const service = readServiceSettings(env, production, http.port);
  const { dataDir, systemUrl } = service;
  const database = readDatabaseSettings(env, production);
  const redisUrl = env.optional('REDIS_URL') === undefined ? undefined : env.url('REDIS_URL', ['redis:', 'rediss:']);
  const portal = readPortalSettings(env);
  const jwt = readJwtSettings(env, { production, dataDir, systemUrl });
  const directory = readDirectorySettings(env);
  const openId = readOpenIdSettings(env, { production, dataDir, systemUrl, jwt });
  const testingAllowed = !production && isLoopback(http.host);

  const config: Omit<AppConfig, 'effective'> = {
    ...service,
    http,
    logLevel: env.choice('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    database,
    redisUrl,
    tokenBinding: readTokenBindingSettings(env, { production, systemUrl, redisUrl, databaseUrl: database.url }),
    jwt,
    lock: readLockSettings(env),
    loginNames: readLoginNameSettings(env),
    ...readPrivacySettings(env),
    hashing: readHashingSettings(env, production),
    mfa: {
      ...readMfaSettings(env),
      ...readSecondFactorSettings(env),
      ...readPendingLoginSettings(env),
      ...readTrustedDeviceSettings(env),
    },
    reset: readResetSettings(env, testingAllowed),
    passwords: { ...readPasswordSettings(env), ...readBreachSettings(env, production) },
    ...readKeySettings(env, production, dataDir),
    captcha: readCaptchaSettings(env, { production, testingAllowed, pages: portal.on }),
    portal,
    brand: readBrandSettings(env, portal.brandDir),
    ...readPasskeySettings(env, systemUrl),
    ...directory,
    ...readLegacySettings(env, production),
    mail: readMailSettings(env),
    ...readSignInSettings(env),
    events: readEventSettings(env, production),
    eventReceivers: readReceiverSettings(env, openId.openId),
    logAddresses: readLogAddressSettings(env),
    auditKey: readAuditKeySettings(env),
    admin: readAdminSettings(env),
    ...openId,
    identityProviders: readProviderAddressSettings(env),
    ...readScimSettings(env, directory),
    limits: readLimitSettings(env, production),
    tracing: readTracingSettings(env),
    logExport: readLogExportSettings(env),
  };
  env.refuseMisspeltNames();
  env.refuseTwoSources();
  env.assertNoProblems();
  return deepFreeze({ ...config, effective: env.effective() });
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    const plain = Array.isArray(member) || Object.getPrototypeOf(member ?? 0) === Object.prototype;
    if (plain) deepFreeze(member as object);
  }
  return Object.freeze(value);
}
