/** A setting as this process has read it at its start. */
export interface EffectiveSetting {
  readonly key: string;
  readonly source: 'environment' | 'file' | 'default';
  /** As it was written, or the default. Null for a secret, and for a default that is no text. */
  readonly value: string | null;
  readonly secret: boolean;
  readonly set: boolean;
  /** The page of the documentation, with the heading. */
  readonly documented: string;
}

/** Where each setting of this process comes from. It holds no secret. */
export abstract class EffectiveSettings {
  abstract readonly rows: readonly EffectiveSetting[];
  /** Every name that is a setting, also of those that were not read. */
  abstract readonly names: ReadonlySet<string>;
  /** Names that are probably misspelt, and do not stop the start: one sentence for each. */
  abstract readonly doubts: readonly string[];
}

/** Keys, passwords and tokens, and addresses that may have a password in them. */
const secretNames = /_(SECRET|PASSWORD|PRIVATE_KEY|PREVIOUS_KEYS|ENCRYPTION_KEY|TEST_TOKEN)$/;
const secretAddresses = ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL', 'WEBHOOK_URL'];

/** Any other address with an account or a query in it is one that somebody has put a secret into. */
const hasAccount = (value: string): boolean => /:\/\/[^/\s]*@|:\/\/\S*\?/.test(value);

/** The headings of docs/settings.md. The first form that fits a name decides. */
const headings: readonly [names: RegExp, heading: string][] = [
  [/^(DATABASE|REDIS|SQLITE|MIGRATE)_/, 'stores'],
  [/^ADMIN_/, 'administration'],
  [/^OIDC/, 'openid-provider'],
  [/^IDP_/, 'identity-providers'],
  [/^SCIM/, 'scim'],
  [/^(JWT|ACCESS_TOKEN|REFRESH|STEP_UP|TOKEN_BINDING|DATA_ENCRYPTION)/, 'tokens'],
  [/^PASSKEY/, 'passkeys'],
  [/^CAPTCHA_/, 'captcha'],
  [/^LDAP_/, 'directory'],
  [/^(SMTP|MAIL)_/, 'mail'],
  [/^(AUDIT_|LOG_IP_DAYS|WEBHOOK_|EVENTS?_)/, 'events'],
  [/^(PORTAL|BRAND_|SUPPORT_URL|PRIVACY_URL|IMPRINT_URL)/, 'pages'],
  [/^RATE_LIMIT/, 'rate-limits'],
  [/^(MFA|OTP|TOTP)_/, 'second-factor'],
  [
    /^(MAX_LOCK|USER_LOCK|ACCOUNT_|LOGIN_|HIDE_|BCRYPT|HASH_|PASSWORD_|NEW_SIGN_IN|RESET_|INVITE_|LEGACY_)/,
    'login-and-passwords',
  ],
];

export const documentedAt = (key: string): string =>
  `docs/settings.md#${headings.find(([names]) => names.test(key))?.[1] ?? 'server'}`;

/** @param fallback the default. Undefined: it is no text, or depends on other settings */
export function effectiveSetting(
  key: string,
  source: EffectiveSetting['source'],
  given: string | undefined,
  fallback: string | undefined,
): EffectiveSetting {
  const value = source === 'default' ? (fallback ?? '') : (given ?? '');
  const secret = secretNames.test(key) || secretAddresses.includes(key) || hasAccount(value);
  return {
    ...{ key, source, secret, set: source !== 'default', documented: documentedAt(key) },
    value: secret || value === '' ? null : value,
  };
}
