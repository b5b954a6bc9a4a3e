import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testSettings } from '../../../test/support/settings';
import { loadConfig } from '../../settings/app-config';
import { SettingsProblem } from './settings-reader';

function problems(more: Record<string, string>): readonly string[] {
  try {
    loadConfig({ ...testSettings, DATABASE_URL: 'sqlite::memory:', ...more });
    return [];
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
}

const page = readFileSync(join(__dirname, '../../../docs/settings.md'), 'utf8');
const settings = [...page.matchAll(/^\| (`[A-Z].*?) \|/gm)]
  .flatMap((row) => [...(row[1] ?? '').matchAll(/`([A-Z0-9_]+)`/g)])
  .map((match) => match[1] as string);

describe('a misspelt setting stops the start, because ignoring it could leave a protection off', () => {
  it.each([
    ['MFA_REQUIERD', 'MFA_REQUIRED'],
    ['MFA_REQUIRE', 'MFA_REQUIRED'],
    ['MAF_REQUIRED', 'MFA_REQUIRED'],
    ['MFAREQUIRED', 'MFA_REQUIRED'],
    ['mfa_required', 'MFA_REQUIRED'],
    ['MFA-REQUIRED', 'MFA_REQUIRED'],
    ['HIDE_ACCOUNT_EXISTANCE', 'HIDE_ACCOUNT_EXISTENCE'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['RATE_LIMITS', 'RATE_LIMIT'],
    ['RATELIMIT', 'RATE_LIMIT'],
    ['REDIS_URI', 'REDIS_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['SMTP_URI', 'SMTP_URL'],
    ['LDAP_STARTTLS', 'LDAP_START_TLS'],
    ['LDAP_ATTR_MAIL', 'LDAP_ATTR_EMAIL'],
    ['LDAP_TIMEOUT', 'LDAP_TIMEOUT_MS'],
    ['OTP_TTL', 'OTP_TTL_SECONDS'],
    ['ACCESS_TOKEN_TTL_MINUTES', 'ACCESS_TOKEN_TTL_SECONDS'],
    ['PASSWORD_EXPIRY_DAYS', 'PASSWORD_EXPIRE_DAYS'],
    ['BCRYPT_COSTS', 'BCRYPT_COST'],
    ['METRIC_PORT', 'METRICS_PORT'],
    ['JWT_SECRET_FLIE', 'JWT_SECRET'],
    ['JTW_SECRET_FILE', 'JWT_SECRET'],
    ['CAPTCHA_TURNSTYLE_SECRET', 'CAPTCHA_TURNSTILE_SECRET'],
    ['NODE_EVN', 'NODE_ENV'],
    ['LOGLEVEL', 'LOG_LEVEL'],
  ])('%s is refused in one line that names %s and no value', (name, meant) => {
    expect(problems({ [name]: 'canary-value' })).toEqual([`${name} is not a setting, DID_YOU_MEAN ${meant}`]);
  });

  const guarded = settings.filter((name) => name.length >= 8 && !name.startsWith('OTEL_'));

  it('is refused for every setting of docs/settings.md, also for those that another setting switches off', () => {
    expect(guarded.length).toBeGreaterThan(75);
    for (const name of guarded) {
      // Transposes two letters of the longest word.
      const word = name.split('_').sort((a, b) => b.length - a.length)[0]!;
      const at = [...word].findIndex((letter, index) => index > 0 && letter !== word[index + 1]);
      const typed = name.replace(word, `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`);
      expect(problems({ [typed]: 'x' })).toEqual([`${typed} is not a setting, DID_YOU_MEAN ${name}`]);
    }
  });

  it('is reported together with all other problems', () => {
    expect(problems({ MFA_REQUIERD: 'true', PORT: 'x', BCRYPT_COST: 'y' })).toHaveLength(3);
  });

  it('is ignored if its value is empty', () => {
    expect(problems({ MFA_REQUIERD: '' })).toEqual([]);
  });
});

describe('a name under which another program has an address or an account stops the start', () => {
  it.each([
    ...[
      'SMTP_HOST',
      'SMTP_PORT',
      'SMTP_USER',
      'SMTP_USERNAME',
      'SMTP_PASSWORD',
      'SMTP_PASS',
      'SMTP_SECURE',
      'SMTP_SERVER',
    ]
      .concat(['MAIL_HOST', 'MAIL_PORT', 'MAIL_USERNAME', 'EMAIL_HOST', 'EMAIL_HOST_PASSWORD', 'SMTP_PASSWORD_FILE'])
      .map((name) => [name, 'SMTP_URL']),
    ['SMTP_FROM', 'MAIL_FROM'],
    ...['DB_HOST', 'DB_PORT', 'DB_USER', 'DB_PASSWORD', 'DB_NAME', 'DB_URL', 'DB_PASSWORD_FILE', 'DATABASE_HOST']
      .concat(['DATABASE_USER', 'DATABASE_NAME', 'DATABASE_PASSWORD', 'db_host'])
      .map((name) => [name, 'DATABASE_URL']),
    ...['REDIS_HOST', 'REDIS_PORT', 'REDIS_PASSWORD', 'REDIS_DB'].map((name) => [name, 'REDIS_URL']),
    ...['LDAP_HOST', 'LDAP_PORT', 'LDAP_SERVER', 'LDAP_URI'].map((name) => [name, 'LDAP_URL']),
    ['LDAP_USER', 'LDAP_BIND_DN'],
    ['LDAP_PASSWORD', 'LDAP_BIND_PASSWORD'],
    ['LDAP_BASE_DN', 'LDAP_SEARCH_BASE'],
    ['LDAP_FILTER', 'LDAP_SEARCH_FILTER'],
  ])('%s is refused in one line that names %s and no value', (name, meant) => {
    expect(problems({ [name]: 'canary-value' })).toEqual([`${name} is not a setting, DID_YOU_MEAN ${meant}`]);
  });

  it.each(['MYSQL_HOST', 'MYSQL_PORT', 'MARIADB_PASSWORD', 'MYSQL_DATABASE'])('%s without DATABASE_URL', (name) => {
    expect(problems({ DATABASE_URL: '', [name]: 'canary-value' })).toEqual([
      `${name} is not a setting, DID_YOU_MEAN DATABASE_URL`,
    ]);
  });
});

describe('a name of another program never stops the start', () => {
  it('no setting of docs/settings.md and no _FILE of it is taken for another setting', () => {
    for (const name of settings) {
      for (const typed of [name, `${name}_FILE`]) {
        expect({ typed, found: problems({ [typed]: 'x' }).filter((text) => text.includes('DID_YOU_MEAN')) }).toEqual({
          typed,
          found: [],
        });
      }
    }
  });

  it.each([
    // Shells, terminals, systems.
    ...[
      'HOSTNAME',
      'HOSTTYPE',
      'HOSTS',
      'POST',
      'PORTS',
      'LANG',
      'LC_ALL',
      'LOGNAME',
      'MAIL',
      'MAILCHECK',
      'USER',
      'PATH',
    ],
    ...[
      'PWD',
      'OLDPWD',
      'SHLVL',
      'TERM',
      'TZ',
      'TMPDIR',
      '_',
      'XDG_DATA_DIRS',
      'XDG_DATA_HOME',
      'SSH_AUTH_SOCK',
      'DISPLAY',
    ],
    ...['HTTP_PROXY', 'https_proxy', 'NO_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'INVOCATION_ID', 'JOURNAL_STREAM'],
    // Node and its tools.
    ...[
      'NODE_OPTIONS',
      'NODE_EXTRA_CA_CERTS',
      'NODE_PATH',
      'NODE_DEBUG',
      'NODE_VERSION',
      'NODE_NAME',
      'YARN_VERSION',
      'UV_THREADPOOL_SIZE',
    ],
    ...[
      'npm_config_user_agent',
      'npm_lifecycle_event',
      'npm_package_name',
      'npm_config_node_gyp',
      'INIT_CWD',
      'CI',
      'DEBUG',
    ],
    // Kubernetes, the downward API, operators.
    ...['KUBERNETES_PORT', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT_HTTPS', 'KUBERNETES_PORT_443_TCP_ADDR'],
    ...['FOO_SERVICE_PORT', 'LDAP_SERVICE_HOST', 'LDAP_PORT_389_TCP', 'LDAP_PORT_389_TCP_PROTO', 'SMTP_SERVICE_PORT'],
    ...['METRICS_SERVICE_HOST', 'METRICS_SERVICE_PORT', 'METRICS_PORT_9100_TCP_PORT', 'REDIS_URL_SERVICE_HOST'],
    ...['POD_NAME', 'POD_IP', 'POD_NAMESPACE', 'NODE_IP', 'HOST_IP', 'GOMEMLIMIT', 'MEMORY_LIMIT'],
    // Neighbouring programs, and other services that share a ConfigMap.
    ...[
      'MYSQL_ROOT_PASSWORD',
      'MYSQL_PWD',
      'MARIADB_ROOT_PASSWORD',
      'REDIS_ARGS',
      'LDAPURI',
      'LDAPTLS_CACERT',
      'LDAPRC',
    ],
    ...['HTTP_URL', 'IMAP_URL', 'METRICS_HOST', 'METRICS_PATH', 'DB_POOL', 'EMAIL', 'MAIL_SPOOL', 'LDAP_ORGANISATION'],
    ...[
      'SSH_PRIVATE_KEY',
      'GPG_PRIVATE_KEY',
      'TLS_PRIVATE_KEY',
      'JWT_PUBLIC_KEY',
      'APP_PREFIX',
      'APP_DOCS',
      'APP_ENV',
      'LOG_FORMAT',
    ],
    ...[
      'LOG_LABEL',
      'SENTRY_DSN',
      'VAULT_TOKEN',
      'AWS_SECRET_ACCESS_KEY',
      'GIT_COMMIT',
      'BUILD_NUMBER',
      'USER_ID',
      'MAX_OLD_SPACE',
    ],
    // OpenTelemetry, also a misspelt name of it.
    ...[
      'OTEL_SERVICE_NAME',
      'OTEL_RESOURCE_ATTRIBUTES',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    ],
    ...['OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_SDK_DISABLE'],
    // Not names of settings at all.
    ...['', '=C:', 'BASH_FUNC_x%%', 'a.b.c', `A${'_B'.repeat(2000)}`, 'MFA_REQUIRED\nX'],
  ])('%j is accepted', (name) => {
    expect(problems({ [name]: 'anything' })).toEqual([]);
  });

  it.each(['METRIC_PORT', 'REDIS_UR', 'SMTP_URLS_PORT', 'REDIS_PORT', 'MYSQL_PORT', 'SMTP_PORT', 'DB_PORT'])(
    '%s is accepted as a service link of Kubernetes',
    (name) => {
      expect(problems({ [name]: 'tcp://10.0.0.7:9100' })).toEqual([]);
    },
  );

  it('DB_NAME of a Docker link is accepted', () => {
    expect(problems({ DB_NAME: '/web/db', DB_PORT: 'tcp://172.17.0.5:3306' })).toEqual([]);
  });

  it.each(['MYSQL_HOST', 'MYSQL_PASSWORD', 'MYSQL_DATABASE', 'MARIADB_USER', 'MYSQL_PASSWORD_FILE'])(
    '%s, which hosting platforms and images define, is accepted next to DATABASE_URL',
    (name) => expect(problems({ [name]: 'canary-value' })).toEqual([]),
  );

  it('REDIS_HOST is accepted next to REDIS_URL or its file', () => {
    const redis = { REDIS_HOST: 'canary-value', REDIS_PORT: '6379', REDIS_PASSWORD: 'canary-value' };
    expect(problems({ ...redis, REDIS_URL: 'redis://redis' })).toEqual([]);
    expect(problems({ ...redis, REDIS_URL_FILE: '/no/such/file' }).join()).not.toContain('DID_YOU_MEAN');
  });

  it('the names in the environment of this process are accepted', () => {
    const foreign = Object.fromEntries(Object.keys(process.env).map((name) => [name, 'x'] as const));
    expect(problems(foreign).filter((text) => text.includes('DID_YOU_MEAN'))).toEqual([]);
  });
});
