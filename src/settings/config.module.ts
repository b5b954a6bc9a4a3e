import { type DynamicModule, Global, Module } from '@nestjs/common';
import { OpenIdSettings } from '../applications/openid-settings';
import { AuditKeySettings } from '../audit/audit-key-settings';
import { EventSettings } from '../audit/event-settings';
import { LogAddressSettings } from '../audit/log-settings';
import { CaptchaSettings } from '../captcha/captcha-settings';
import { DirectorySettings } from '../directory/ldap-settings';
import { ReceiverSettings } from '../events/receiver-settings';
import { ProviderAddressSettings, RequiredProviderSettings } from '../identity-providers/provider-address-settings';
import { LegacySettings } from '../legacy/legacy-settings';
import { BrandSettings } from '../mail/brand-settings';
import { MailSettings } from '../mail/mail-settings';
import { MfaSettings } from '../mfa/mfa-settings';
import { BreachSettings, ResetSettings } from '../password-reset/reset-settings';
import { DatabaseSettings } from '../platform/config/database-settings';
import { EffectiveSettings } from '../platform/config/effective-settings';
import { HttpSettings } from '../platform/config/http-settings';
import { KeySettings } from '../platform/config/key-settings';
import { LogExportSettings } from '../platform/config/log-export-settings';
import { LimitSettings } from '../platform/config/limit-settings';
import { RedisSettings } from '../platform/config/redis-settings';
import { ServiceSettings } from '../platform/config/service-settings';
import { TracingSettings } from '../platform/config/tracing-settings';
import { PortalSettings } from '../portal/portal-settings';
import { ScimSettings } from '../scim/scim-settings';
import { JwtSettings } from '../sessions/jwt-settings';
import { PasskeySettings } from '../sessions/passkey-settings';
import { TokenBindingSettings } from '../sessions/token-binding-settings';
import {
  AdminSettings,
  PendingLoginSettings,
  SignInSettings,
  TrustedDeviceSettings,
} from '../sessions/session-settings';
import { LockSettings, LoginNameSettings, PrivacySettings, SecondFactorSettings } from '../users/account-settings';
import { HashingSettings } from '../users/hashing-settings';
import { PasswordSettings } from '../users/password-settings';
import { AppConfig } from './app-config';

type Slice<T> = readonly [token: abstract new () => T, value: T];
const slice = <T>(token: abstract new () => T, value: NoInfer<T>): Slice<T> => [token, value];

/** Provides the slices of the settings that `main`, the command line or a test has loaded, and AppConfig itself. */
@Global()
@Module({})
export class ConfigModule {
  static with(config: AppConfig): DynamicModule {
    const slices = slicesOf(config).map(([provide, useValue]) => ({ provide, useValue }));
    return { module: ConfigModule, providers: slices, exports: slices };
  }
}

function slicesOf(config: AppConfig): readonly Slice<object>[] {
  const {
    production,
    systemUrl,
    dataDir,
    dataKeys,
    hideAccountExistence,
    newSignInNotice,
    ldap,
    legacy,
    passkeys,
    openId,
    scim,
  } = config;
  return [
    slice(AppConfig, config),
    slice(ServiceSettings, { production, systemUrl, dataDir }),
    slice(KeySettings, { dataKeys }),
    slice(EffectiveSettings, config.effective),
    slice(HttpSettings, config.http),
    slice(DatabaseSettings, config.database),
    slice(LimitSettings, config.limits),
    slice(RedisSettings, { redisUrl: config.redisUrl }),
    slice(TracingSettings, config.tracing),
    slice(LogExportSettings, config.logExport),
    slice(LockSettings, config.lock),
    slice(LoginNameSettings, config.loginNames),
    slice(PrivacySettings, { hideAccountExistence }),
    slice(HashingSettings, config.hashing),
    slice(PasswordSettings, config.passwords),
    slice(BreachSettings, config.passwords),
    slice(DirectorySettings, { ldap }),
    slice(LegacySettings, { legacy }),
    slice(CaptchaSettings, config.captcha),
    slice(MailSettings, config.mail),
    slice(BrandSettings, config.brand),
    slice(EventSettings, config.events),
    slice(ReceiverSettings, config.eventReceivers),
    slice(LogAddressSettings, config.logAddresses),
    slice(AuditKeySettings, config.auditKey),
    slice(JwtSettings, config.jwt),
    slice(SignInSettings, { newSignInNotice }),
    slice(AdminSettings, config.admin),
    slice(TokenBindingSettings, config.tokenBinding),
    slice(PasskeySettings, { passkeys }),
    slice(ProviderAddressSettings, config.identityProviders),
    slice(RequiredProviderSettings, { providerId: scim?.identityProvider ?? null }),
    slice(OpenIdSettings, { openId }),
    slice(ScimSettings, { scim }),
    slice(MfaSettings, config.mfa),
    slice(SecondFactorSettings, config.mfa),
    slice(PendingLoginSettings, config.mfa),
    slice(TrustedDeviceSettings, config.mfa),
    slice(ResetSettings, config.reset),
    slice(PortalSettings, config.portal),
    slice(OpenIdSettings, { openId }),
  ];
}
