import { generateKeyPairSync } from 'node:crypto';
import { dataKey } from '../settings';
import type { Declared } from './declared-settings';
import type { Counterparts } from './counterparts';
import type { Together } from './covering-array';

type Environment = Readonly<Record<string, string>>;

/** The values of one factor by their names. The first one is the default. */
export type Factor = Readonly<Record<string, Environment>>;
export type Factors = Readonly<Record<string, Factor>>;

/** One value of each factor, by their names. */
export type Row = Readonly<Record<string, string>>;

const needsMore: Readonly<Record<string, string>> = {
  NODE_ENV: 'production refuses the addresses of the stand-ins',
  HOST: 'an address of another interface',
  PORT: 'the service of a test does not listen',
  DATA_DIR: 'each service has its own',
  DATABASE_URL: 'the jest project chooses the database',
  CAPTCHA_TEST_TOKEN: 'the walk needs it with altcha',
  JWT_SECRET: 'a secret, without which the service does not start in production',
  JWT_PRIVATE_KEY: 'generated for each JWT_ALGORITHM',
  JWT_PREVIOUS_KEYS: 'belongs to one JWT_ALGORITHM: process/key-rotation',
  OIDC_PREVIOUS_KEYS: 'published beside the key: process/key-rotation',
  LDAP_START_TLS: 'needs a directory with a certificate: spec/ldap-tls',
  LDAP_CA_FILE: 'needs a directory with a certificate: spec/ldap-tls',
  LDAP_ATTR_LOGIN: 'the name of an attribute: spec/ldap-provisioning',
  LDAP_ATTR_EMAIL: 'the name of an attribute: spec/ldap-provisioning',
  LDAP_ATTR_NAME: 'the name of an attribute: spec/ldap-provisioning',
  LDAP_MATCH_ATTRIBUTES: 'the name of an attribute: spec/ldap-identity',
  LDAP_SEARCH_FILTER: 'the stand-in understands one form: spec/ldap-identity',
  LDAP_GROUP_REQUIRED: 'the stand-in has no groups: spec/ldap-groups',
  PASSWORD_BREACH_URL: 'asked by a stored policy only: spec/breach-check',
  BRAND_DIR: 'a folder of files: spec/brand',
};

/** The text settings, and the numbers of which one value is a switch. `{}` leaves the setting out. */
function texts({ urls, metricsPort, pem, rsa, auditPem }: Values): Factors {
  return {
    API_PREFIX: { none: {}, set: { API_PREFIX: '/api/v1' } },
    SYSTEM_URL: {
      host: { SYSTEM_URL: 'http://portal.test' },
      path: { SYSTEM_URL: 'http://portal.test/sign-in' },
      address: { SYSTEM_URL: 'http://192.0.2.5:8080' },
    },
    CORS_ORIGINS: { none: {}, set: { CORS_ORIGINS: 'https://pages.example.com' } },
    TRUSTED_PROXIES: { none: {}, set: { TRUSTED_PROXIES: '127.0.0.0/8' } },
    METRICS_PORT: { off: {}, on: { METRICS_PORT: metricsPort } },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      off: {},
      on: { OTEL_EXPORTER_OTLP_ENDPOINT: urls.collector },
      traces: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${urls.collector}/v1/traces` },
    },
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: {
      none: {},
      set: { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${urls.collector}/v1/logs` },
    },
    REDIS_URL: { off: {}, on: { REDIS_URL: urls.redis } },
    OIDC_ISSUER: { portal: {}, other: { OIDC_ISSUER: 'http://id.portal.test/sso/oidc' } },
    OIDC_PRIVATE_KEY: { none: {}, rsa: { OIDC_PRIVATE_KEY: rsa }, ec: { OIDC_PRIVATE_KEY: pem } },
    IDP_ALLOWED_HOSTS: { none: {}, set: { IDP_ALLOWED_HOSTS: 'keys.corp.example.com' } },
    JWT_ISSUER: { url: {}, name: { JWT_ISSUER: 'the-portal' } },
    JWT_AUDIENCE: { portal: {}, issuer: { JWT_AUDIENCE: 'the-portal' } },
    TOKEN_BINDING_ORIGINS: { none: {}, set: { TOKEN_BINDING_ORIGINS: 'https://api.example.com' } },
    DATA_ENCRYPTION_KEY: {
      one: { DATA_ENCRYPTION_KEY: dataKey(7) },
      generated: { DATA_ENCRYPTION_KEY: '' },
      two: { DATA_ENCRYPTION_KEY: `${dataKey(8)},${dataKey(7)}` },
    },
    PASSWORD_EXPIRY_WARN_DAYS: { days: {}, off: { PASSWORD_EXPIRY_WARN_DAYS: 'off' } },
    LEGACY_VERIFY_URL: { off: {}, on: urls.legacy },
    PASSKEY_RP_ID: { host: {}, set: { PASSKEY_RP_ID: 'portal.test' } },
    TOTP_ISSUER: { portal: {}, own: { TOTP_ISSUER: 'Müller & Söhne: login' } },
    CAPTCHA_PROVIDER: {
      altcha: {},
      turnstile: { CAPTCHA_PROVIDER: 'turnstile', ...urls.captcha('') },
      hcaptcha: { CAPTCHA_PROVIDER: 'hcaptcha', ...urls.captcha('HCAPTCHA_') },
      recaptcha: { CAPTCHA_PROVIDER: 'recaptcha', ...urls.captcha('RECAPTCHA_') },
      several: {
        CAPTCHA_PROVIDER: 'hcaptcha,turnstile,altcha',
        ...urls.captcha('HCAPTCHA_'),
        ...urls.captcha('TURNSTILE_'),
      },
    },
    CAPTCHA_SITE_KEY: {
      none: {},
      set: {
        CAPTCHA_TURNSTILE_SITE_KEY: 'site-key',
        CAPTCHA_HCAPTCHA_SITE_KEY: 'site-key',
        CAPTCHA_RECAPTCHA_SITE_KEY: 'site-key',
      },
      // The name for a single provider. With several it belongs to none.
      single: { CAPTCHA_SITE_KEY: 'site-key' },
    },
    CAPTCHA_EXPECTED_HOSTNAME: { none: {}, set: { CAPTCHA_EXPECTED_HOSTNAME: 'portal.test' } },
    CAPTCHA_EXPECTED_ACTION: { none: {}, set: { CAPTCHA_EXPECTED_ACTION: 'login' } },
    LDAP_URL: {
      off: {},
      on: urls.directory,
      groups: {
        ...urls.directory,
        LDAP_GROUPS: '{"cn=sales,dc=example":"Sales"}',
        LDAP_GROUP_ADMIN: 'cn=admins,dc=example',
      },
    },
    SMTP_URL: { off: {}, on: { SMTP_URL: urls.smtp } },
    MAIL_FROM: { address: {}, name: { MAIL_FROM: 'Müller & Söhne <login@example.com>' } },
    AUDIT_PRIVATE_KEY: { none: {}, set: { AUDIT_PRIVATE_KEY: auditPem } },
    WEBHOOK_URL: { off: {}, on: urls.webhook },
    PORTAL_HOME_URL: { none: {}, path: { PORTAL_HOME_URL: '/start' }, url: { PORTAL_HOME_URL: 'https://a.example/' } },
    BRAND_NAME: {
      none: {},
      all: {
        ...{ BRAND_NAME: 'Müller & Söhne', BRAND_COLOR: '#a01030', SUPPORT_URL: 'mailto:help@example.com' },
        BRAND_LOGO_URL: 'https://cdn.example.com/logo.svg',
        BRAND_LOGO_DARK_URL: 'https://cdn.example.com/dark.svg',
        BRAND_FAVICON_URL: 'https://cdn.example.com/icon.svg',
        ...{ PRIVACY_URL: 'https://a.example/privacy', IMPRINT_URL: 'https://a.example/imprint' },
      },
    },
    SCIM_USER_PROVIDER: {
      password: { SCIM_USER_PROVIDER: 'password' },
      oidc: { SCIM_USER_PROVIDER: 'oidc', SCIM_IDENTITY_PROVIDER: 'acme' },
      ldap: { SCIM_USER_PROVIDER: 'ldap' },
    },
  };
}

/** What cannot go together, and the one line that then stops the start. */
export const refusedTogether: readonly { readonly values: Together; readonly says: string }[] = [
  {
    values: { SCIM: ['on'], SCIM_USER_PROVIDER: ['ldap'], LDAP_URL: ['off'] },
    says: 'SCIM_USER_PROVIDER is ldap, and there is no directory: set LDAP_URL',
  },
  {
    values: { PASSKEY_RP_ID: ['set'], SYSTEM_URL: ['address'] },
    says: 'PASSKEY_RP_ID must be the host name of SYSTEM_URL or a domain above it, such as example.com',
  },
  {
    values: { LDAP_URL: ['on', 'groups'], LDAP_RECHECK_SECONDS: ['300'], LDAP_RECHECK_GRACE_SECONDS: ['0'] },
    says: 'LDAP_RECHECK_GRACE_SECONDS must not be less than LDAP_RECHECK_SECONDS',
  },
  ...['turnstile', 'hcaptcha', 'recaptcha'].map((name) => ({
    values: { PORTAL: ['on'], CAPTCHA_PROVIDER: [name], CAPTCHA_SITE_KEY: ['none'] },
    says: `CAPTCHA_SITE_KEY is not set, and the pages (PORTAL) need it for ${name}`,
  })),
  {
    values: { PORTAL: ['on'], CAPTCHA_PROVIDER: ['several'], CAPTCHA_SITE_KEY: ['none', 'single'] },
    says: ['HCAPTCHA', 'TURNSTILE']
      .map((name) => `CAPTCHA_${name}_SITE_KEY is not set, and the pages (PORTAL) need it for ${name.toLowerCase()}`)
      .join('; '),
  },
  {
    values: {
      OTEL_LOGS_EXPORTER: ['otlp'],
      OTEL_SDK_DISABLED: ['false'],
      OTEL_EXPORTER_OTLP_ENDPOINT: ['off', 'traces'],
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: ['none'],
    },
    says: 'OTEL_LOGS_EXPORTER is otlp, so OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is required',
  },
  {
    values: { CAPTCHA_PROVIDER: ['hcaptcha', 'several'], CAPTCHA_EXPECTED_ACTION: ['set'] },
    says: 'CAPTCHA_EXPECTED_ACTION cannot be used with hcaptcha as the first CAPTCHA_PROVIDER, because its answers have no action: remove it',
  },
];

interface Values extends Pick<Counterparts, 'urls' | 'metricsPort'> {
  readonly pem: string;
  readonly rsa: string;
  readonly auditPem: string;
}

const export_ = { type: 'pkcs8', format: 'pem' } as const;
export const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(export_).toString();

/** The settings that are in no factor and have no reason for it. Decide about each of them above. */
export function undecided(declared: ReadonlyMap<string, Declared>, factors: Factors): string[] {
  const inFactors = new Set(Object.values(factors).flatMap((values) => Object.values(values).flatMap(Object.keys)));
  return [...declared]
    .filter(([name, { kind }]) => kind !== 'number' && !inFactors.has(name) && !(name in needsMore))
    .map(([name]) => name);
}

/**
 * Each setting that has few values: its choices, or 0 for a number that may be 0, which often switches something off. Texts
 * have the values above. Other numbers are bounds and durations, which `app-config.spec` tests.
 */
export function factorsOf(declared: ReadonlyMap<string, Declared>, counterparts: Counterparts): Factors {
  const { urls, metricsPort } = counterparts;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(export_).toString();
  const auditPem = generateKeyPairSync('ed25519').privateKey.export(export_).toString();
  const given = texts({ urls, metricsPort, rsa, auditPem, pem: ecKey() });
  const found = [...declared].flatMap(([name, one]): [string, Factor][] => {
    if (name in given || name in needsMore) return [];
    const values = valuesOf(one);
    return values.length === 0 ? [] : [[name, Object.fromEntries(values.map((value) => [value, { [name]: value }]))]];
  });
  return { ...Object.fromEntries(found), ...given };
}

/** The default first. */
function valuesOf(one: Declared): string[] {
  if (one.kind === 'choice') return [...new Set([one.byDefault, ...one.choices])];
  return one.kind === 'number' && one.fromZero ? [one.byDefault, one.byDefault === '0' ? '30' : '0'] : [];
}

/** For CI: at most three values of each factor, among them the first and the last. */
export const fewer = (factors: Factors): Factors =>
  Object.fromEntries(
    Object.entries(factors).map(([name, values]) => {
      const all = Object.entries(values);
      return [name, Object.fromEntries(all.length <= 3 ? all : [all[0]!, all[1]!, all.at(-1)!])];
    }),
  );

/** The environment of a row. */
export const environmentOf = (factors: Factors, row: Row): Record<string, string> =>
  Object.assign({}, ...Object.entries(row).map(([name, value]) => factors[name]![value]!));
