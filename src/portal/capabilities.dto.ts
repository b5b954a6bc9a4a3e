import { tokenBindings, type TokenBindingMode } from '../sessions/token-binding-settings';
import type { MfaRule } from '../mfa/mfa-settings';
import { ApiProperty } from '../platform/http/api-docs';

/** The captcha that a login needs. */
export class CaptchaCapability {
  @ApiProperty({ enum: ['altcha', 'turnstile', 'hcaptcha', 'recaptcha'], description: 'The provider to show first.' })
  provider: string;

  @ApiProperty({ type: String, nullable: true, description: 'The public key for the widget. `altcha` has none.' })
  site_key: string | null;
}

/** The name, logo, colour and links of the company on the pages. */
export class BrandCapability {
  @ApiProperty({ type: String, nullable: true, example: 'Example Corp' })
  name: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'An https URL, or a path of this origin.' })
  logo_url: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The logo on dark backgrounds, like `logo_url`.' })
  logo_dark_url: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The icon of the browser tab, like `logo_url`.' })
  favicon_url: string | null;

  @ApiProperty({ example: '#2457c5', description: 'White text on this colour has a contrast of at least 4.5:1.' })
  color: string;

  @ApiProperty({ type: String, nullable: true, description: 'A line below the name.' })
  tagline: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'An https or mailto URL.' })
  support_url: string | null;

  @ApiProperty({ type: String, nullable: true })
  privacy_url: string | null;

  @ApiProperty({ type: String, nullable: true })
  imprint_url: string | null;
}

/** An identity provider whose button everybody sees. */
export class IdentityProviderCapability {
  @ApiProperty({ example: 'entra', description: 'For POST /login/external/{id}.' })
  id: string;

  @ApiProperty({ example: 'Entra ID' })
  name: string;
}

/** The features of this service, so that pages show no others (docs/spec/extensions.md#h). */
export class CapabilitiesResponse {
  @ApiProperty({
    type: [String],
    enum: ['password', 'ldap'],
    description: 'The kinds of account. `/login` takes each as `provider`, and `auto` for a name of either kind.',
  })
  providers: string[];

  @ApiProperty({ type: CaptchaCapability })
  captcha: CaptchaCapability;

  @ApiProperty({
    type: [IdentityProviderCapability],
    description:
      'The identity providers that are listed. POST /login/discover finds the others by the domain of a name.',
  })
  identity_providers: IdentityProviderCapability[];

  @ApiProperty({
    description:
      'Whether a login page asks for the name first: an identity provider has domains (POST /login/discover).',
  })
  login_discovery: boolean;

  @ApiProperty({ description: 'Whether `/login` takes the address of a local user as `username`.' })
  login_by_email: boolean;

  @ApiProperty({ description: 'Whether every login with a password needs a second factor.' })
  mfa_required: boolean;

  @ApiProperty({
    enum: ['never', 'enrolled', 'always'],
    description: 'Whose logins with a password need a second factor. `enrolled`: those of users with an authenticator.',
  })
  mfa: MfaRule;

  @ApiProperty({ description: 'Whether people can sign in with a passkey.' })
  passkeys: boolean;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Days that a device can be trusted for; 0 where it cannot.',
  })
  trusted_device_days: number;

  @ApiProperty({
    enum: tokenBindings,
    description:
      'Whether tokens are bound to a key of the client (RFC 9449): where the client sends a proof, always, or never.',
  })
  token_binding: TokenBindingMode;

  @ApiProperty({ description: 'Whether the service has `/forget-password`.' })
  password_reset: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'https://portal.example.com/',
    description: 'Where a sign-in without `return_to` leads: an https URL, or a path of the origin of the pages.',
  })
  home_url: string | null;

  @ApiProperty({ type: [String], example: ['en', 'de', 'zh-CN'], description: 'Languages of the mails (BCP 47).' })
  languages: string[];

  @ApiProperty({ type: BrandCapability })
  brand: BrandCapability;
}
