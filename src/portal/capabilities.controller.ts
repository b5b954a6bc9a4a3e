import { Controller, Get, Header } from '@nestjs/common';
import { CaptchaSettings } from '../captcha/captcha-settings';
import { DirectorySettings } from '../directory/ldap-settings';
import { BrandSettings } from '../mail/brand-settings';
import { MfaSettings } from '../mfa/mfa-settings';
import { PasskeySettings } from '../sessions/passkey-settings';
import { TokenBindingSettings } from '../sessions/token-binding-settings';
import { TrustedDeviceSettings } from '../sessions/session-settings';
import { AnswersTo, anyone } from '../platform/http/audience';
import { ApiOperation, ApiTags } from '../platform/http/api-docs';
import { languages } from '../shared/languages';
import { LoginNameSettings } from '../users/account-settings';
import { CapabilitiesResponse } from './capabilities.dto';
import { PortalSettings } from './portal-settings';

@ApiTags('portal')
@Controller()
export class CapabilitiesController {
  private readonly answer: CapabilitiesResponse;

  constructor(
    directory: DirectorySettings,
    captcha: CaptchaSettings,
    mfa: MfaSettings,
    trustedDevices: TrustedDeviceSettings,
    brand: BrandSettings,
    passkeySettings: PasskeySettings,
    portal: PortalSettings,
    loginNames: LoginNameSettings,
    tokenBinding: TokenBindingSettings,
  ) {
    this.answer = capabilitiesOf({
      ldap: directory.ldap,
      captcha,
      mfa: { ...mfa, ...trustedDevices },
      brand,
      passkeys: passkeySettings.passkeys,
      homeUrl: portal.homeUrl,
      byEmail: loginNames.byEmail,
      binding: tokenBinding.binding,
    });
  }

  @Get('capabilities')
  @Header('cache-control', 'public, max-age=60')
  @ApiOperation({ operationId: 'getCapabilities', summary: 'Get what this service offers, for a login page' })
  @AnswersTo(anyone, CapabilitiesResponse)
  capabilities(): CapabilitiesResponse {
    return this.answer;
  }
}

interface Settings
  extends
    DirectorySettings,
    PasskeySettings,
    LoginNameSettings,
    Pick<PortalSettings, 'homeUrl'>,
    Pick<TokenBindingSettings, 'binding'> {
  readonly captcha: CaptchaSettings;
  readonly mfa: MfaSettings & TrustedDeviceSettings;
  readonly brand: BrandSettings;
}

function capabilitiesOf({
  ldap,
  captcha,
  mfa,
  brand,
  passkeys,
  homeUrl,
  byEmail,
  binding,
}: Settings): CapabilitiesResponse {
  const [provider = 'altcha'] = captcha.providers;
  return {
    providers: ldap === undefined ? ['password'] : ['password', 'ldap'],
    captcha: {
      provider,
      site_key: provider === 'altcha' ? null : (captcha.siteverify[provider]?.siteKey ?? null),
    },
    login_by_email: byEmail,
    mfa_required: mfa.rule === 'always',
    mfa: mfa.rule,
    passkeys: passkeys !== undefined,
    trusted_device_days: mfa.trustedDeviceDays,
    token_binding: binding,
    password_reset: true,
    home_url: homeUrl ?? null,
    languages: [...languages],
    brand: {
      name: brand.name ?? null,
      logo_url: brand.logoUrl ?? null,
      logo_dark_url: brand.logoDarkUrl ?? null,
      favicon_url: brand.faviconUrl ?? null,
      color: brand.color,
      support_url: brand.supportUrl ?? null,
      privacy_url: brand.privacyUrl ?? null,
      imprint_url: brand.imprintUrl ?? null,
    },
  };
}
