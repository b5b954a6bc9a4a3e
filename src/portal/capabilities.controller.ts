import { Controller, Get, Header, Query } from '@nestjs/common';
import { type ShownBrand, TenantBrands } from '../brand/tenant-brands';
import { CaptchaSettings } from '../captcha/captcha-settings';
import { DirectorySettings } from '../directory/ldap-settings';
import { OfferedProviders } from '../identity-providers/offered-providers';
import { MfaSettings } from '../mfa/mfa-settings';
import { PasskeySettings } from '../sessions/passkey-settings';
import { TokenBindingSettings } from '../sessions/token-binding-settings';
import { TrustedDeviceSettings } from '../sessions/session-settings';
import { AnswersTo, anyone } from '../platform/http/audience';
import { ApiOperation, ApiQuery, ApiTags } from '../platform/http/api-docs';
import { languages } from '../shared/languages';
import { LoginNameSettings } from '../users/account-settings';
import { CapabilitiesResponse } from './capabilities.dto';
import { PortalSettings } from './portal-settings';

const tenantQuery = {
  name: 'tenant',
  required: false,
  schema: { type: 'string', maxLength: 64 },
  description: 'The tenant whose brand is shown. An unknown one is answered as none is.',
} as const;

@ApiTags('portal')
@Controller()
export class CapabilitiesController {
  /** What stays as long as the process runs. */
  private readonly answer: ReturnType<typeof capabilitiesOf>;

  constructor(
    directory: DirectorySettings,
    captcha: CaptchaSettings,
    mfa: MfaSettings,
    trustedDevices: TrustedDeviceSettings,
    passkeySettings: PasskeySettings,
    portal: PortalSettings,
    loginNames: LoginNameSettings,
    tokenBinding: TokenBindingSettings,
    private readonly offered: OfferedProviders,
    private readonly brands: TenantBrands,
  ) {
    this.answer = capabilitiesOf({
      ldap: directory.ldap,
      captcha,
      mfa: { ...mfa, ...trustedDevices },
      passkeys: passkeySettings.passkeys,
      homeUrl: portal.homeUrl,
      byEmail: loginNames.byEmail,
      binding: tokenBinding.binding,
    });
  }

  @Get('capabilities')
  @Header('cache-control', 'public, max-age=60')
  @ApiOperation({ operationId: 'getCapabilities', summary: 'Get what this service offers, for a login page' })
  @ApiQuery(tenantQuery)
  @AnswersTo(anyone, CapabilitiesResponse)
  async capabilities(@Query('tenant') tenant?: unknown): Promise<CapabilitiesResponse> {
    const [offered, brand] = await Promise.all([
      this.offered.all(),
      this.brands.shown(typeof tenant === 'string' ? tenant : undefined),
    ]);
    return {
      ...this.answer,
      identity_providers: offered.filter(({ listed }) => listed).map(({ id, name }) => ({ id, name })),
      login_discovery: offered.some(({ domains }) => domains.length > 0),
      brand: brandView(brand),
    };
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
}

function capabilitiesOf({ ldap, captcha, mfa, passkeys, homeUrl, byEmail, binding }: Settings) {
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
  };
}

const brandView = (brand: ShownBrand) => ({
  name: brand.name,
  logo_url: brand.logoUrl,
  logo_dark_url: brand.logoDarkUrl,
  favicon_url: brand.faviconUrl,
  color: brand.color,
  tagline: brand.tagline,
  support_url: brand.supportUrl,
  privacy_url: brand.privacyUrl,
  imprint_url: brand.imprintUrl,
});
