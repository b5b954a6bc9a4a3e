import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataKey as dataKeyOf } from '../../test/support/settings';
import { type AppConfig, loadConfig } from './app-config';
import { defaultHashThreads } from '../hashing/processors';
import { SettingsProblem } from '../platform/config/settings-reader';

type Environment = Record<string, string | undefined>;

const secret = 'a-secret-that-is-long-enough-for-HS256';
const dataKey = dataKeyOf(1);
const pem = (type: 'EC' | 'RSA' | 'small RSA' | 'P-384' = 'EC') => {
  const { privateKey } =
    type === 'EC' || type === 'P-384'
      ? generateKeyPairSync('ec', { namedCurve: type === 'EC' ? 'P-256' : type })
      : generateKeyPairSync('rsa', { modulusLength: type === 'RSA' ? 2048 : 1024 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

const auditPem = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const development: Environment = { JWT_SECRET: secret, DATA_ENCRYPTION_KEY: dataKey };
const production: Environment = {
  ...development,
  NODE_ENV: 'production',
  DATABASE_URL: 'mysql://service:word@db.internal:3307/auth',
  SYSTEM_URL: 'https://portal.example.com',
};

const load = (more: Environment = {}) => loadConfig({ ...development, ...more });

/** The problems that stop a start, or none. */
function problems(environment: Environment): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
}

const wholeNumbers = ['-1', '1.5', '1e3', ' 7', 'seven', '0x10', '99999999999'];
const fromOne = ['0', ...wholeNumbers];
const booleans = ['yes', 'TRUE', '1', 'on'];

type Setting = [
  key: string,
  read: (config: AppConfig) => unknown,
  byDefault: unknown,
  given: string,
  means: unknown,
  refused: string[],
];

/** For each setting: the key, how it is read, its default in development, a value, its meaning, and refused values. */
const settings: Setting[] = [
  ['NODE_ENV', (c) => c.production, false, 'test', false, ['prod', 'Production', 'staging']],
  ['HOST', (c) => c.http.host, '127.0.0.1', '10.0.0.9', '10.0.0.9', []],
  ['PORT', (c) => c.http.port, 3000, '8080', 8080, ['65536', ...wholeNumbers]],
  [
    'API_PREFIX',
    (c) => c.http.apiPrefix,
    '',
    '/api/v1',
    '/api/v1',
    [
      ...['api', '/a b', '//x', '/a//b', '/a?b', '/:id', '/*'],
      // Clients resolve these before they ask, so no request would have the prefix.
      ...['/..', '/.', '/../admin', '/api/../v1', '/api/./v1', '/api/..', '/%2e%2e/admin', '/api/%2E/v1', '/a%2Fb'],
    ],
  ],
  ['API_PREFIX', (c) => c.http.apiPrefix, '', '/.api/v1..2/...', '/.api/v1..2/...', []],
  [
    'SYSTEM_URL',
    (c) => c.systemUrl,
    'http://127.0.0.1:3000',
    'https://p.example/',
    'https://p.example',
    [
      ...[
        'p',
        'ftp://p',
        'https://p.example/?q=1',
        'https://p.example/#f',
        'https://p.example ',
        'https://p.exa\nmple',
      ],
      // `new URL` accepts these as https://p.example, and a link in a mail would have the text.
      ...['https:p.example', 'https:/p.example', 'https:\\\\p.example', 'https:///p.example', 'https://\\p.example'],
      // Each link in a mail and each token would have the account.
      ...['https://user:canary-0f9d2c@p.example', 'https://user@p.example', 'https://:canary-0f9d2c@p.example'],
      ...['https:////user:canary-0f9d2c@p.example', 'https://\\/user:canary-0f9d2c@p.example'],
    ],
  ],
  // These worked in 1.1.0: who opens a link in a mail resolves the path.
  ['SYSTEM_URL', (c) => c.systemUrl, 'http://127.0.0.1:3000', 'https://p.example/../a', 'https://p.example/../a', []],
  [
    'TOKEN_BINDING_ORIGINS',
    (c) => c.tokenBinding.origins.slice(1),
    [],
    'https://api.example,https://b.example:8443',
    ['https://api.example', 'https://b.example:8443'],
    ['*', 'https://b.example/', 'b.example', 'https://a.example,https://b.example/path'],
  ],
  [
    'CORS_ORIGINS',
    (c) => c.http.corsOrigins,
    [],
    'https://a.example, https://b.example:8443',
    ['https://a.example', 'https://b.example:8443'],
    ['*', 'null', 'https://a.example/', 'https://a.example/path', 'a.example', 'https://a.example,*'],
  ],
  [
    'IDP_ALLOWED_HOSTS',
    (c) => c.identityProviders.allowedHosts,
    [],
    'Keys.corp.example.com, 10.0.0.9,[FD12::1]',
    ['keys.corp.example.com', '10.0.0.9', 'fd12::1'],
    ['https://a.example', 'a.example:8443', '*.example', 'a b', 'a/b', '0x7f.1', 'fd12:0::1'],
  ],
  [
    'TRUSTED_PROXIES',
    (c) => c.http.trustedProxies.map(([address, bits]) => `${address.toString()}/${bits}`),
    [],
    '10.0.0.0/8, 192.0.2.7, 2001:db8::/32',
    ['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32'],
    ['10.0.0.0/33', 'proxy.example', '10.0.0.0/', '10.1', '010.0.0.1', '1'],
  ],
  ['API_DOCS', (c) => c.http.apiDocs, true, 'false', false, booleans],
  ['METRICS_PORT', (c) => c.http.metricsPort, undefined, '9100', 9100, ['65536', ...fromOne]],
  [
    'DATABASE_URL',
    (c) => c.database.url,
    'sqlite:./data/auth.sqlite',
    'mysql://u:p@h:3306/auth',
    'mysql://u:p@h:3306/auth',
    [
      'postgres://u@h/auth',
      'mysql://u:p@h',
      'mysql://u:p@h/',
      'mysql:///auth',
      'mysql://u:p@h:port/auth',
      'mysql://u:%zz@h/auth',
      'mysql://u:p@h/auth?sslmode=off',
      'mysql://u:p@h/auth?ssl-mode=PREFERRED',
      'mysql://u:p@h/auth?ssl-ca=/no/such/file.pem',
      'sqlite:',
      'auth.sqlite',
    ],
  ],
  ['DATABASE_POOL_SIZE', (c) => c.database.poolSize, 10, '5', 5, fromOne],
  ['MIGRATE_ON_START', (c) => c.database.migrateOnStart, true, 'false', false, booleans],
  ['SQLITE_SYNCHRONOUS', (c) => c.database.sqliteSynchronous, 'full', 'normal', 'normal', ['off', 'FULL', '1']],
  ['REDIS_URL', (c) => c.redisUrl, undefined, 'rediss://r:6380', 'rediss://r:6380', ['r:6380', 'http://r']],
  // The client reads it as the port of a host with the name `redis`.
  ['REDIS_URL', (c) => c.redisUrl, undefined, 'redis:6379', 'redis:6379', []],
  ['JWT_ALGORITHM', (c) => c.jwt.algorithm, 'HS256', 'HS256', 'HS256', ['none', 'hs256', 'HS512', 'ES384']],
  ['JWT_ISSUER', (c) => c.jwt.issuer, 'http://127.0.0.1:3000', 'issuer', 'issuer', []],
  ['JWT_AUDIENCE', (c) => typeof c.jwt.audience, 'string', 'audience', 'string', []],
  ['REFRESH_TOKEN_AUDIENCE', (c) => c.jwt.refreshTokensFor, 'auto', 'issuer', 'issuer', ['portal', 'AUTO']],
  ['ACCESS_TOKEN_TTL_SECONDS', (c) => c.jwt.accessTtlSeconds, 900, '60', 60, fromOne],
  ['REFRESH_TOKEN_TTL_SECONDS', (c) => c.jwt.refreshTtlSeconds, 604_800, '3600', 3600, fromOne],
  ['REFRESH_TOKEN_ROTATION', (c) => c.jwt.rotation, false, 'true', true, booleans],
  ['REFRESH_REUSE_GRACE_SECONDS', (c) => c.jwt.reuseGraceSeconds, 10, '0', 0, wholeNumbers],
  ['STEP_UP_MAX_AGE_SECONDS', (c) => c.jwt.stepUpMaxAgeSeconds, 300, '60', 60, fromOne],
  ['MAX_LOCK_COUNT', (c) => c.lock.maxCount, 3, '5', 5, fromOne],
  ['USER_LOCK_TIME', (c) => c.lock.windowSeconds, 900, '5', 5, fromOne],
  [
    'AUDIT_PRIVATE_KEY',
    (c) => c.auditKey.privateKey?.asymmetricKeyType,
    undefined,
    auditPem(),
    'ed25519',
    ['x', pem()],
  ],
  ['LOG_IP_DAYS', (c) => c.logAddresses.days, 0, '30', 30, wholeNumbers],
  ['ACCOUNT_DORMANT_DAYS', (c) => c.lock.dormantDays, 180, '0', 0, wholeNumbers],
  ['LOGIN_BY_EMAIL', (c) => c.loginNames.byEmail, true, 'false', false, booleans],
  ['HIDE_ACCOUNT_EXISTENCE', (c) => c.hideAccountExistence, false, 'true', true, booleans],
  ['BCRYPT_COST', (c) => c.hashing.cost, 12, '4', 4, ['3', '15', ...fromOne]],
  ['HASH_THREADS', (c) => c.hashing.threads, defaultHashThreads(), '3', 3, ['257', ...fromOne]],
  ['HASH_PAIRS', (c) => c.hashing.pairs, true, 'off', false, ['true', 'false', '1']],
  ['HASH_QUEUE_LIMIT', (c) => c.hashing.queueLimit, 1000, '10', 10, fromOne],
  ['HASH_QUEUE_MAX_WAIT_MS', (c) => c.hashing.queueMaxWaitMs, 2000, '500', 500, fromOne],
  ['MFA_REQUIRED', (c) => c.mfa.rule, 'never', 'true', 'always', [...booleans, 'always', 'never', 'ENROLLED']],
  ['MFA_PENDING_TTL_SECONDS', (c) => c.mfa.pendingTtlSeconds, 300, '60', 60, fromOne],
  ['MFA_PENDING_BINDING', (c) => c.mfa.pendingBinding, 'owner', 'none', 'none', ['ip', 'OWNER']],
  ['OTP_COOLDOWN_SECONDS', (c) => c.mfa.cooldownSeconds, 60, '30', 30, fromOne],
  ['OTP_TTL_SECONDS', (c) => c.mfa.codeTtlSeconds, 300, '120', 120, fromOne],
  ['OTP_MAX_ATTEMPTS', (c) => c.mfa.maxAttempts, 5, '3', 3, fromOne],
  ['OTP_ACCOUNT_MAX_FAILURES', (c) => c.mfa.accountMaxFailures, 10, '20', 20, fromOne],
  ['TOTP_ISSUER', (c) => typeof c.mfa.totpIssuer, 'string', 'Issuer', 'string', []],
  ['TOTP_WINDOW', (c) => c.mfa.totpWindow, 1, '0', 0, wholeNumbers],
  ['TOTP_ENROLMENT_TTL_SECONDS', (c) => c.mfa.enrolmentTtlSeconds, 300, '60', 60, fromOne],
  ['MFA_TRUSTED_DEVICE_DAYS', (c) => c.mfa.trustedDeviceDays, 0, '30', 30, ['-1', '1.5', 'off', '36501']],
  ['TOTP_ENROLMENT_BINDING', (c) => c.mfa.enrolmentBinding, 'bearer', 'ip', 'ip', ['none', 'owner']],
  ['RESET_RESPONSE_UID', (c) => c.reset.responseUid, 'reference', 'token', 'token', ['uid', 'both']],
  ['RESET_REQUEST_TTL_SECONDS', (c) => c.reset.ttlSeconds, 1800, '60', 60, fromOne],
  ['RESET_REQUEST_THROTTLE_SECONDS', (c) => c.reset.throttleSeconds, 300, '60', 60, fromOne],
  ['INVITE_TTL_SECONDS', (c) => c.reset.inviteTtlSeconds, 259_200, '3600', 3600, fromOne],
  ['PASSWORD_EXPIRE_DAYS', (c) => c.passwords.expireDays, 90, '0', 0, wholeNumbers],
  [
    'PASSWORD_BREACH_URL',
    (c) => c.passwords.breachUrl,
    'https://api.pwnedpasswords.com/range/',
    'http://127.0.0.1:8080/range/',
    'http://127.0.0.1:8080/range/',
    ['breach.example', 'ftp://breach.example/', 'https://breach.example/#', 'https://breach.example/ x'],
  ],
  [
    'PASSWORD_EXPIRY_WARN_DAYS',
    (c) => c.passwords.expiryWarnDays,
    [14, 7, 1],
    '3, 30',
    [30, 3],
    ['0', '7,7', '7,off', '36501', ...wholeNumbers.filter((text) => text !== ' 7')],
  ],
  ['NEW_SIGN_IN_NOTICE', (c) => c.newSignInNotice, false, 'true', true, booleans],
  ['PASSWORD_HISTORY', (c) => c.passwords.history, 3, '5', 5, wholeNumbers],
  [
    'CAPTCHA_PROVIDER',
    (c) => c.captcha.providers,
    ['altcha'],
    'altcha',
    ['altcha'],
    ['off', 'altcha,altcha', 'Altcha'],
  ],
  ['CAPTCHA_TIMEOUT_MS', (c) => c.captcha.timeoutMs, 3000, '500', 500, fromOne],
  ['CAPTCHA_EXPECTED_HOSTNAME', (c) => c.captcha.expectedHostname, undefined, 'p.example', 'p.example', []],
  ['CAPTCHA_EXPECTED_ACTION', (c) => c.captcha.expectedAction, undefined, 'login', 'login', []],
  ['CAPTCHA_TEST_TOKEN', (c) => c.captcha.testToken, undefined, 'fixed', 'fixed', []],
  ['MFA_REQUIRED', (c) => c.mfa.rule, 'never', 'enrolled', 'enrolled', []],
  [
    'PORTAL_HOME_URL',
    (c) => c.portal.homeUrl,
    undefined,
    'https://portal.example.com/start?from=login#top',
    'https://portal.example.com/start?from=login#top',
    [
      ...['http://portal.example.com', 'portal.example.com', 'javascript:alert(1)', 'https:', 'https:///evil.example'],
      ...[
        '//evil.example',
        '/\\evil.example',
        '\\\\evil.example',
        '/\t/evil.example',
        '/..//evil.example',
        '/%2Fevil.example',
      ],
      ...['https://user:word@portal.example.com', 'https://portal.example.com/ x', ' /start', 'start'],
    ],
  ],
  ['PORTAL_HOME_URL', (c) => c.portal.homeUrl, undefined, '/start?a=/b#c', '/start?a=/b#c', []],
  ['PORTAL', (c) => c.portal.on, false, 'on', true, ['true', 'ON']],
  [
    'BRAND_NAME',
    (c) => c.brand.name,
    undefined,
    'Fish & Sons',
    'Fish & Sons',
    [' ', 'two\nlines', 'x'.repeat(65), 'a\u202Eb'],
  ],
  [
    'BRAND_LOGO_URL',
    (c) => c.brand.logoUrl,
    undefined,
    'https://cdn.example.com/logo.svg',
    'https://cdn.example.com/logo.svg',
    ['http://cdn.example.com/logo.svg', 'javascript:alert(1)', '/logo.svg', '/brand/../logo.svg', '/brand/logo.html'],
  ],
  [
    'BRAND_LOGO_DARK_URL',
    (c) => c.brand.logoDarkUrl,
    undefined,
    'https://cdn.example.com/white.png',
    'https://cdn.example.com/white.png',
    ['http://cdn.example.com/logo.svg', '/brand/logo.ico'],
  ],
  [
    'BRAND_FAVICON_URL',
    (c) => c.brand.faviconUrl,
    undefined,
    'https://cdn.example.com/icon.ico',
    'https://cdn.example.com/icon.ico',
    ['data:image/png;base64,AA', '/brand/icon.gif'],
  ],
  ['BRAND_DIR', (c) => c.portal.brandDir, undefined, __dirname, __dirname, ['/no/such/folder', __filename]],
  [
    'BRAND_COLOR',
    (c) => c.brand.color,
    '#2457c5',
    '#A01030',
    '#a01030',
    ['red', '#abc', '#a0103', '#ffffff', '#777777', '#a01030;x'],
  ],
  [
    'SUPPORT_URL',
    (c) => c.brand.supportUrl,
    undefined,
    'mailto:help@example.com',
    'mailto:help@example.com',
    ['javascript:alert(1)', 'http://help.example.com', 'help'],
  ],
  ['PRIVACY_URL', (c) => c.brand.privacyUrl, undefined, 'https://e.com/p', 'https://e.com/p', ['mailto:a@example.com']],
  ['IMPRINT_URL', (c) => c.brand.imprintUrl, undefined, 'https://e.com/i', 'https://e.com/i', ['data:text/html,x']],
  ['RATE_LIMIT', (c) => c.limits.on, false, 'on', true, ['true', 'ON']],
  ['DATA_DIR', (c) => c.dataDir, './data', '/var/lib/auth', '/var/lib/auth', []],
  ['LOG_LEVEL', (c) => c.logLevel, 'info', 'warn', 'warn', ['verbose', 'WARN']],
  [
    'SMTP_URL',
    (c) => c.mail.smtpUrl,
    undefined,
    'smtps://m:465',
    'smtps://m:465',
    ['m:465', 'http://m', 'smtp://', 'smtp:m:25', 'smtp://m?tls=maybe', 'smtps://m?tls=none', 'smtp://u:%zz@m'],
  ],
  [
    'MAIL_FROM',
    (c) => c.mail.from,
    'no-reply@localhost',
    'Portal <p@example.com>',
    'Portal <p@example.com>',
    ['Portal', 'a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com'],
  ],
];

it.each([
  ['10', 1000],
  ['11', 1414],
  ['12', 2000],
  ['14', 4000],
])('HASH_QUEUE_MAX_WAIT_MS fits BCRYPT_COST=%s', (BCRYPT_COST, expected) => {
  expect(load({ BCRYPT_COST }).hashing.queueMaxWaitMs).toBe(expected);
});

describe('settings (docs/spec/decisions.md#8)', () => {
  describe.each(settings)('%s', (key, read, byDefault, given, means, refused) => {
    it('has its default if it is not set or empty', () => {
      expect(read(load())).toEqual(byDefault);
      expect(read(load({ [key]: '' }))).toEqual(byDefault);
    });

    it('is read from the environment', () => {
      expect(read(load({ [key]: given }))).toEqual(means);
    });

    it('stops the start if it is wrong, with a message that names the key and not the value', () => {
      for (const value of refused) {
        const found = problems({ ...development, [key]: value });
        expect({ value, found }).toEqual({ value, found: [expect.stringMatching(`^${key} `)] });
        // A message may contain a short value ("1", "sqlite:") by chance.
        if (value.length > 7) expect(found.join()).not.toContain(value);
      }
    });
  });

  it('the rate limits have the defaults of docs/spec/decisions.md#rate-limits, and each can be set', () => {
    const { limits } = load();
    expect(limits).toMatchObject({ login: 600, otp: 600, captcha: 600, forgotPassword: 300, other: 3000, target: 10 });
    expect(limits.session).toBe(120);
    const set = { RATE_LIMIT_LOGIN: '7', RATE_LIMIT_SESSION: '3', RATE_LIMIT_TARGET: '2' };
    expect(load(set).limits).toMatchObject({ login: 7, session: 3, target: 2 });
  });

  it('the default of SYSTEM_URL contains PORT, and the default of JWT_ISSUER is SYSTEM_URL', () => {
    expect(load({ PORT: '8080' }).systemUrl).toBe('http://127.0.0.1:8080');
    expect(load({ SYSTEM_URL: 'https://p.example' }).jwt.issuer).toBe('https://p.example');
  });

  it('settings cannot be changed while the program runs', () => {
    const config = load() as unknown as Record<string, Record<string, unknown>>;
    for (const group of Object.values(config).filter((value) => typeof value === 'object')) {
      expect(Object.isFrozen(group)).toBe(true);
    }
    expect(() => Object.assign(config.lock as object, { maxCount: 1000 })).toThrow(TypeError);
  });
});

describe('NAME_FILE', () => {
  let directory: string;
  beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'settings-'))));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['JWT_SECRET', 'another-secret-of-at-least-32-bytes!'],
    ['DATA_ENCRYPTION_KEY', dataKeyOf(9)],
    ['DATABASE_URL', 'mysql://u:from-a-file@h/auth'],
    ['REDIS_URL', 'redis://:from-a-file@r'],
    ['SMTP_URL', 'smtp://u:from-a-file@m'],
    ['CAPTCHA_TEST_TOKEN', 'from-a-file'],
  ])('%s can be read from a file, with or without a final line break', (key, value) => {
    const inline = load({ [key]: value });
    for (const content of [value, `${value}\n`, `${value}\r\n`]) {
      const { database, ...others } = load({ [key]: undefined, [`${key}_FILE`]: file(key, content) });
      // The file of the database is read again while the service runs.
      const urlFile = key === 'DATABASE_URL' ? join(directory, key) : undefined;
      // GET /admin/settings tells where the value was read.
      const { effective } = others;
      expect(effective.rows.find((row) => row.key === key)?.source).toBe('file');
      expect({ ...others, database }).toEqual({ ...inline, effective, database: { ...inline.database, urlFile } });
    }
  });

  it('an empty value is no second source', () => {
    const path = file('audience', 'from-a-file');
    expect(load({ JWT_AUDIENCE: '', JWT_AUDIENCE_FILE: path }).jwt.audience).toBe('from-a-file');
    expect(load({ JWT_AUDIENCE: 'direct', JWT_AUDIENCE_FILE: '' }).jwt.audience).toBe('direct');
  });

  it.each([
    ...settings.map(([key]) => key),
    'JWT_SECRET',
    'JWT_PRIVATE_KEY',
    'DATA_ENCRYPTION_KEY',
    'LDAP_BIND_PASSWORD',
  ])('%s and its file stop the start, so that a change of the one that does not count cannot go unnoticed', (key) => {
    const given = settings.find(([name]) => name === key)?.[3] ?? { ...development }[key] ?? pem();
    const both = { ...development, [key]: given, [`${key}_FILE`]: file('second-source', 'canary-0f9d2c') };
    expect(problems(both)).toEqual([`${key} and ${key}_FILE are both set: remove one of them`]);
  });

  it.each(['SECRET', 'VERIFY_URL', 'SITE_KEY'])(
    'two names of the %s of one captcha provider stop the start',
    (part) => {
      const captcha = { ...development, CAPTCHA_PROVIDER: 'turnstile,altcha', CAPTCHA_SECRET: 'shh' };
      const path = file('captcha', 'https://verify.example.com');
      const url = 'https://captcha.example.com';
      const found = problems({ ...captcha, [`CAPTCHA_${part}`]: url, [`CAPTCHA_TURNSTILE_${part}_FILE`]: path });
      expect(found).toEqual([`CAPTCHA_${part} and CAPTCHA_TURNSTILE_${part}_FILE are both set: remove one of them`]);
      const two = { ...captcha, CAPTCHA_PROVIDER: 'turnstile,hcaptcha', CAPTCHA_TURNSTILE_SECRET: 'shh' };
      expect(problems({ ...two, CAPTCHA_HCAPTCHA_SECRET: 'two' })).toEqual([]);
    },
  );

  it('an empty file counts as not set', () => {
    expect(problems({ ...production, JWT_SECRET: '', JWT_SECRET_FILE: file('empty', '\n') })).toEqual([
      'JWT_SECRET is required in production: make one with keys generate',
    ]);
  });

  it('a file that cannot be read is reported once, by its key and without its path', () => {
    const path = join(directory, 'no-such-file');
    for (const key of ['SMTP_URL', 'REDIS_URL', 'JWT_SECRET', 'METRICS_PORT']) {
      const found = problems({ ...production, [key]: undefined, [`${key}_FILE`]: path });
      expect(found.filter((problem) => problem.startsWith(`${key}_FILE `))).toHaveLength(1);
      expect(found.join()).not.toContain(path);
    }
  });
});

describe('production', () => {
  it('starts with the required settings, and has defaults of its own', () => {
    const config = loadConfig(production);
    expect(config.production).toBe(true);
    expect(config.http).toMatchObject({ host: '0.0.0.0', apiDocs: false });
    expect(config.database.migrateOnStart).toBe(false);
    expect(config.limits.on).toBe(true);
  });

  it('requires DATABASE_URL, SYSTEM_URL, a JWT key and DATA_ENCRYPTION_KEY, and reports all of them at once (T164)', () => {
    expect([...problems({ NODE_ENV: 'production' })].sort()).toEqual([
      'DATABASE_URL is required in production',
      'DATA_ENCRYPTION_KEY is required in production: make one with keys generate',
      'JWT_SECRET is required in production: make one with keys generate',
      'SYSTEM_URL is required in production',
    ]);
  });

  it.each([
    ['SYSTEM_URL', 'http://portal.example.com'],
    ['BCRYPT_COST', '9'],
    ['RESET_RESPONSE_UID', 'token'],
    ['CAPTCHA_TEST_TOKEN', 'dev-captcha-token'],
  ])('refuses %s=%s (T101)', (key, value) => {
    expect(problems({ ...production, HOST: '127.0.0.1', [key]: value })).toEqual([expect.stringMatching(`^${key} `)]);
  });

  it('accepts a key pair instead of a secret', () => {
    const { jwt } = loadConfig({ ...production, JWT_SECRET: '', JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY: pem() });
    expect(jwt.signing.key.type).toBe('private');
    expect(jwt.verification.map(({ key }) => key.type)).toEqual(['public']);
  });

  it('generates no secret', () => {
    const directory = mkdtempSync(join(tmpdir(), 'settings-'));
    problems({ NODE_ENV: 'production', DATA_DIR: directory });
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});

describe('the literal contract and the test token are allowed on a loopback address only', () => {
  const dangerous = [
    ['RESET_RESPONSE_UID', 'token'],
    ['CAPTCHA_TEST_TOKEN', 'dev-captcha-token'],
  ] as const;
  const hosts = [
    '0.0.0.0',
    '::',
    '10.1.2.3',
    '192.168.0.1',
    '128.0.0.1',
    'portal.example.com',
    '127.0.0.1.example.com',
  ];

  it.each(dangerous.flatMap((one) => hosts.map((host) => [...one, host])))(
    '%s=%s is refused on %s',
    (key, value, HOST) => {
      expect(problems({ ...development, HOST, [key]: value })).toEqual([expect.stringMatching(`^${key} `)]);
    },
  );

  it.each(dangerous.flatMap((one) => ['127.0.0.1', '127.8.8.8', '::1', 'localhost'].map((host) => [...one, host])))(
    '%s=%s is allowed on %s',
    (key, value, HOST) => {
      expect(problems({ ...development, HOST, [key]: value })).toEqual([]);
    },
  );
});

describe('JWT keys', () => {
  it('JWT_SECRET needs at least 32 bytes, and a character of several bytes counts as several (T164)', () => {
    expect(problems({ ...development, JWT_SECRET: secret.slice(0, 31) })).toEqual([
      expect.stringMatching('^JWT_SECRET '),
    ]);
    expect(problems({ ...development, JWT_SECRET: secret.slice(0, 32) })).toEqual([]);
    expect(problems({ ...development, JWT_SECRET: '密码学家的长秘密短语呀' })).toEqual([]);
    expect(load({ JWT_SECRET: secret }).jwt.signing.key.export().toString()).toBe(secret);
  });

  it('former secrets verify tokens and do not sign them, and a short former secret is refused', () => {
    const former = 'the-former-secret-of-at-least-32-bytes';
    const { signing, verification } = load({ JWT_PREVIOUS_KEYS: former }).jwt;
    expect(signing.key.export().toString()).toBe(secret);
    expect(verification.map(({ key }) => key.export().toString())).toEqual([secret, former]);
    expect(new Set(verification.map(({ kid }) => kid)).size).toBe(2);
    expect(problems({ ...development, JWT_PREVIOUS_KEYS: `${former},short` })).toEqual([
      expect.stringMatching('^JWT_PREVIOUS_KEYS '),
    ]);
  });

  it.each([
    ['one letter', 'x'.repeat(32)],
    ['a word again and again', 'changeme'.repeat(5)],
    ['digits', '31415926535897932384626433832795'],
  ])(
    'a secret that consists of %s is refused as current and as former secret, and the message does not contain it',
    (_what, weak) => {
      for (const key of ['JWT_SECRET', 'JWT_PREVIOUS_KEYS']) {
        const found = problems({ ...development, [key]: weak });
        expect(found).toEqual([`${key} has less than 128 bits of variety: make one with keys generate`]);
      }
    },
  );

  describe('former secrets that contain a comma', () => {
    const awkward = ['a secret, with commas, and long enough', ' "quotes" and \\ and spaces at both ends '];
    const list = JSON.stringify(awkward);

    it.each([list, ` ${list}\n`, JSON.stringify(awkward, undefined, 2)])(
      'can be written as a JSON array (%#)',
      (text) => {
        const { verification } = load({ JWT_PREVIOUS_KEYS: text }).jwt;
        expect(verification.map(({ key }) => key.export().toString())).toEqual([secret, ...awkward]);
      },
    );

    it('a list separated by commas is still read, also if a secret begins with a bracket', () => {
      const plain = ['[the-first-former-secret-of-32-bytes]', 'the-second-former-secret-of-32-bytes'];
      const { verification } = load({ JWT_PREVIOUS_KEYS: plain.join(' , ') }).jwt;
      expect(verification.map(({ key }) => key.export().toString())).toEqual([secret, ...plain]);
    });

    it.each([
      list.slice(0, -1),
      `${list},`,
      '["a former secret, which is long enough", 7]',
      '["a former secret, which is long enough", ""]',
      '["a former secret, which is long enough", ["and another one in a list of its own"]]',
    ])('a damaged array stops the start, and the message does not contain it (%#)', (text) => {
      const found = problems({ ...development, JWT_PREVIOUS_KEYS: text });
      expect(found).toEqual(['JWT_PREVIOUS_KEYS begins like a JSON array, but is not an array of strings']);
    });
  });

  it.each([
    ['ES256', pem('RSA')],
    ['ES256', pem('P-384')],
    ['RS256', pem('EC')],
    ['RS256', pem('small RSA')],
    ['RS256', 'not a key'],
  ])('%s refuses a key of another type or size', (JWT_ALGORITHM, JWT_PRIVATE_KEY) => {
    expect(problems({ ...development, JWT_ALGORITHM, JWT_PRIVATE_KEY })).toEqual([
      expect.stringMatching('^JWT_PRIVATE_KEY '),
    ]);
  });

  it('a PEM may contain \\n instead of line breaks, and former keys verify tokens', () => {
    const [current, former] = [pem(), pem()];
    const { jwt } = load({
      JWT_ALGORITHM: 'ES256',
      JWT_PRIVATE_KEY: current.replaceAll('\n', '\\n'),
      JWT_PREVIOUS_KEYS: former,
    });
    expect(jwt.verification).toHaveLength(2);
    expect(jwt.verification[0]?.kid).toBe(jwt.signing.kid);
    expect(jwt.verification[1]?.kid).not.toBe(jwt.signing.kid);
  });
});

describe('OIDC=on with the key of JWT_ALGORITHM', () => {
  const openId = { ...production, OIDC: 'on', JWT_ALGORITHM: 'ES256' };

  it.each([
    ['missing', '', ''],
    ['no key', 'canary-0f9d2c', ''],
    ['no key, beside a former one', 'canary-0f9d2c', pem()],
    ['of another type', pem('RSA'), ''],
  ])('stops the start with one line if the key is %s', (_what, JWT_PRIVATE_KEY, JWT_PREVIOUS_KEYS) => {
    expect(problems({ ...openId, JWT_PRIVATE_KEY, JWT_PREVIOUS_KEYS })).toEqual([
      expect.stringMatching('^JWT_PRIVATE_KEY is '),
    ]);
  });

  it('signs with it', () => {
    expect(problems({ ...openId, JWT_PRIVATE_KEY: pem() })).toEqual([]);
  });
});

describe('OIDC_PREVIOUS_KEYS', () => {
  it('a key that is also the current one, or comes twice, is published once', () => {
    const [current, former] = [pem(), pem('RSA')];
    const { openId } = load({ OIDC: 'on', OIDC_PRIVATE_KEY: current, OIDC_PREVIOUS_KEYS: former + current + former });
    // `KeyObject.equals` of two types would leave an error in OpenSSL, which the next reading of a key takes for its own.
    expect(() => createPrivateKey(current)).not.toThrow();
    expect(openId?.keys.map(({ key }) => key.export({ type: 'pkcs8', format: 'pem' }))).toEqual([current, former]);
  });
});

describe('METRICS_PORT', () => {
  it.each([
    ['9100', '9100'],
    [undefined, '3000'],
  ])('stops the start if it is that of PORT=%s, where the service itself listens', (PORT, METRICS_PORT) => {
    expect(problems({ ...development, PORT, METRICS_PORT })).toEqual(['METRICS_PORT must be another port than PORT']);
  });

  it('may be the default of PORT if PORT is another one', () => {
    expect(problems({ ...development, PORT: '8080', METRICS_PORT: '3000' })).toEqual([]);
  });
});

describe('OIDC_ISSUER', () => {
  it.each([
    ['https://portal.example.com//oidc', 'must have a path'],
    ['https://portal.example.com', 'must have a path'],
    ['https://portal.example.com/oidc?tenant=a', 'must have a path'],
    ['https://portal.example.com/oidc#a', 'must have a path'],
    ['https://user@portal.example.com/oidc', 'must have a path'],
    ['portal.example.com/oidc', 'must be a URL'],
  ])('%s stops the start with one problem: %s', (OIDC_ISSUER, problem) => {
    expect(problems({ ...development, OIDC: 'on', OIDC_ISSUER })).toEqual([
      expect.stringMatching(`^OIDC_ISSUER ${problem}`),
    ]);
  });

  it('has a path, and loses a slash at its end', () => {
    const { openId } = load({ OIDC: 'on', OIDC_ISSUER: 'https://portal.example.com/oidc/' });
    expect(openId?.issuer).toBe('https://portal.example.com/oidc');
  });

  // Applications have this text. Their clients resolve it before they ask, and the endpoint is at the resolved path.
  it.each([
    'https://portal.example.com/../oidc',
    'https://portal.example.com/a/%2e%2e/oidc',
    'https:portal.example.com/oidc',
  ])('%s was an issuer in 1.1.0, so it stays as it is written', (OIDC_ISSUER) => {
    expect(load({ OIDC: 'on', OIDC_ISSUER }).openId?.issuer).toBe(OIDC_ISSUER);
  });

  it('is no problem of its own when it follows from a SYSTEM_URL with dot segments', () => {
    const { openId } = load({ OIDC: 'on', SYSTEM_URL: 'https://p.example/../portal' });
    expect(openId?.issuer).toBe('https://p.example/../portal/oidc');
  });
});

it.each([
  ['WEBHOOK_URL', { WEBHOOK_SECRET: `whsec_${dataKey}` }],
  ['LEGACY_VERIFY_URL', { LEGACY_VERIFY_SECRET: `whsec_${dataKey}` }],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', {}],
  ['PASSWORD_BREACH_URL', {}],
  ['CAPTCHA_VERIFY_URL', { CAPTCHA_PROVIDER: 'turnstile', CAPTCHA_SECRET: 'secret', CAPTCHA_SITE_KEY: 'key' }],
])('%s without // is no problem, as in 1.1.0: only the service asks it, and its client completes it', (key, more) => {
  expect(problems({ ...development, ...more, [key]: 'https:service.example/path' })).toEqual([]);
});

describe('DATA_ENCRYPTION_KEY', () => {
  it('is one key of 32 bytes, or several keys, whose order is kept', () => {
    const [first, second] = [1, 2].map((seed) => Buffer.from(dataKeyOf(seed), 'base64')) as [Buffer, Buffer];
    const keys = `${first.toString('base64')}, ${second.toString('base64')}`;
    expect(load({ DATA_ENCRYPTION_KEY: keys }).dataKeys).toEqual([first, second]);
  });

  it.each([
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['33 bytes', Buffer.alloc(33).toString('base64')],
    ['hexadecimal', Buffer.alloc(32).toString('hex')],
    ['a sentence', 'correct horse battery staple and so on'],
    ['one byte 32 times', Buffer.alloc(32).toString('base64')],
    ['a good one and one of one byte', `${dataKey},${Buffer.alloc(32, 7).toString('base64')}`],
    ['a good and a bad one', `${dataKey},c2hvcnQ=`],
    ['a good one with a character that is not base64', `*${dataKey}`],
  ])('refuses %s', (_what, value) => {
    expect(problems({ ...development, DATA_ENCRYPTION_KEY: value })).toEqual([
      expect.stringMatching('^DATA_ENCRYPTION_KEY '),
    ]);
  });
});

describe('captcha and directory', () => {
  it.each(['turnstile', 'hcaptcha', 'recaptcha'])('%s alone requires a secret, which may be CAPTCHA_SECRET', (name) => {
    expect(problems({ ...development, CAPTCHA_PROVIDER: name })).toEqual([expect.stringMatching('^CAPTCHA_SECRET ')]);
    const { captcha } = load({
      CAPTCHA_PROVIDER: name,
      CAPTCHA_SECRET: 'shh',
      CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9',
    });
    expect(captcha.siteverify).toEqual({ [name]: { secret: 'shh', verifyUrl: 'http://127.0.0.1:9' } });
  });

  it.each([
    ['turnstile', 'CAPTCHA_VERIFY_URL'],
    ['turnstile', 'CAPTCHA_TURNSTILE_VERIFY_URL'],
    ['turnstile,hcaptcha', 'CAPTCHA_HCAPTCHA_VERIFY_URL'],
  ])('%s in production refuses %s over http, which would send the secret in plain text', (names, key) => {
    const secrets = { CAPTCHA_TURNSTILE_SECRET: 'one', CAPTCHA_HCAPTCHA_SECRET: 'two', CAPTCHA_PROVIDER: names };
    expect(problems({ ...production, ...secrets, [key]: 'http://verify.example.com' })).toEqual([
      `${key} must be a URL that starts with https://`,
    ]);
    expect(problems({ ...production, ...secrets, [key]: 'https://verify.example.com' })).toEqual([]);
    expect(problems({ ...development, ...secrets, [key]: 'http://verify.example.com' })).toEqual([]);
  });

  it('several captcha providers need a secret each, except altcha', () => {
    const { captcha } = load({
      CAPTCHA_PROVIDER: 'turnstile,hcaptcha,altcha',
      CAPTCHA_TURNSTILE_SECRET: 'one',
      CAPTCHA_HCAPTCHA_SECRET: 'two',
    });
    expect(captcha.providers).toEqual(['turnstile', 'hcaptcha', 'altcha']);
    expect(captcha.siteverify).toMatchObject({ turnstile: { secret: 'one' }, hcaptcha: { secret: 'two' } });
    expect(problems({ ...development, CAPTCHA_PROVIDER: 'turnstile,hcaptcha', CAPTCHA_SECRET: 'one' })).toHaveLength(2);
  });

  it.each(['hcaptcha', 'hcaptcha,altcha'])(
    'an expected action is refused with %s, whose answers have none',
    (names) => {
      const captcha = { ...development, CAPTCHA_PROVIDER: names, CAPTCHA_SECRET: 'one' };
      expect(problems(captcha)).toEqual([]);
      expect(problems({ ...captcha, CAPTCHA_EXPECTED_ACTION: 'login' })).toEqual([
        'CAPTCHA_EXPECTED_ACTION cannot be used with hcaptcha as the first CAPTCHA_PROVIDER, because its answers have no action: remove it',
      ]);
    },
  );

  it('an expected action and hcaptcha as a later provider start, as in version 1.0.0', () => {
    const captcha = { CAPTCHA_PROVIDER: 'altcha,hcaptcha', CAPTCHA_SECRET: 'one', CAPTCHA_EXPECTED_ACTION: 'login' };
    expect(problems({ ...development, ...captcha })).toEqual([]);
  });

  const directory = {
    LDAP_URL: 'ldap://one.internal, ldaps://two.internal',
    LDAP_BIND_DN: 'cn=service',
    LDAP_BIND_PASSWORD: 'word',
    LDAP_SEARCH_BASE: 'ou=people',
  };

  it('the directory has the defaults of docs/spec/decisions.md#7 if LDAP_URL is set, and is off otherwise', () => {
    expect(load().ldap).toBeUndefined();
    expect(load(directory).ldap).toMatchObject({
      urls: ['ldap://one.internal', 'ldaps://two.internal'],
      searchFilter: '(uid={{username}})',
      startTls: false,
      timeoutMs: 3000,
      jitProvisioning: false,
      syncAttributes: true,
      matchAttributes: ['uid'],
      groups: {},
      recheck: { seconds: 300, graceSeconds: 14_400 },
    });
  });

  it('an account that is not bound is matched by LDAP_ATTR_LOGIN, or by all of LDAP_MATCH_ATTRIBUTES', () => {
    const matched = (more: Record<string, string>) => load({ ...directory, ...more }).ldap?.matchAttributes;
    expect(matched({ LDAP_ATTR_LOGIN: 'sAMAccountName' })).toEqual(['sAMAccountName']);
    expect(matched({ LDAP_MATCH_ATTRIBUTES: 'uid, mail' })).toEqual(['uid', 'mail']);
    expect(load({ ...development, LDAP_MATCH_ATTRIBUTES: 'mail' }).ldap).toBeUndefined();
  });

  it.each(['LDAP_SEARCH_FILTER', 'LDAP_JIT_PROVISIONING', 'LDAP_MATCH_ATTRIBUTES', 'LDAP_SYNC_ATTRIBUTES'])(
    '%s is known without LDAP_URL, so that a name like it is refused',
    (key) => {
      const typed = key.replace('P_', 'P');
      expect(problems({ ...development, [typed]: 'x' })).toEqual([`${typed} is not a setting, DID_YOU_MEAN ${key}`]);
    },
  );

  it.each(['LDAP_ATTR_LOGIN', 'LDAP_ATTR_EMAIL', 'LDAP_ATTR_NAME'])('%s must be the name of an attribute', (key) => {
    const message = `${key} must be the name of an LDAP attribute such as mail`;
    expect(problems({ ...directory, [key]: 'uid)(x=*' })).toEqual([message]);
  });

  it('the default grace is never shorter than LDAP_RECHECK_SECONDS', () => {
    const { ldap } = load({ ...directory, LDAP_RECHECK_SECONDS: '20000' });
    expect(ldap?.recheck).toEqual({ seconds: 20_000, graceSeconds: 20_000 });
    expect(load({ ...directory, LDAP_RECHECK_SECONDS: '0' }).ldap?.recheck.seconds).toBe(0);
  });

  it.each(['LDAP_GROUP_REQUIRED', 'LDAP_GROUP_ADMIN', 'LDAP_GROUPS'])(
    '%s without a directory stops the start',
    (key) => {
      expect(problems({ ...development, [key]: 'cn=portal,dc=example' })).toEqual([`${key} needs LDAP_URL`]);
    },
  );

  it('LDAP_GROUPS is a JSON object of DNs and names', () => {
    const text = '{"cn=Sales,ou=groups,dc=example":"Sales","cn=it,dc=example":"IT"}';
    expect([...load({ ...directory, LDAP_GROUPS: text }).ldap!.groups.named!]).toEqual([
      ['cn=Sales,ou=groups,dc=example', 'Sales'],
      ['cn=it,dc=example', 'IT'],
    ]);
    expect(load({ ...directory, LDAP_GROUPS: '{}' }).ldap!.groups.named!.size).toBe(0);
    expect(load(directory).ldap!.groups.named).toBeUndefined();
  });

  it.each([
    ['LDAP_URL', 'http://one.internal'],
    ['LDAP_BIND_DN', ''],
    ['LDAP_BIND_PASSWORD', ''],
    ['LDAP_SEARCH_BASE', ''],
    ['LDAP_SEARCH_FILTER', '(uid=alice)'],
    ['LDAP_START_TLS', 'maybe'],
    ['LDAP_CA_FILE', '/no/such/file.pem'],
    ['LDAP_TIMEOUT_MS', '60000'],
    ['LDAP_JIT_PROVISIONING', 'yes'],
    ['LDAP_SYNC_ATTRIBUTES', 'yes'],
    ['LDAP_MATCH_ATTRIBUTES', 'uid,ma*l'],
    ['LDAP_MATCH_ATTRIBUTES', ','],
    ['LDAP_GROUP_REQUIRED', 'portal'],
    ['LDAP_GROUP_ADMIN', 'cn=admins,,dc=example'],
    ['LDAP_GROUPS', 'cn=sales'],
    ['LDAP_GROUPS', '[]'],
    ['LDAP_GROUPS', 'null'],
    ['LDAP_GROUPS', '{"sales":"Sales"}'],
    ['LDAP_GROUPS', '{"cn=sales,dc=example":""}'],
    ['LDAP_GROUPS', '{"cn=sales,dc=example":7}'],
    ['LDAP_GROUPS', '{"cn=a":"a\\nb","cn=b":""}'],
    ['LDAP_RECHECK_SECONDS', '-1'],
    ['LDAP_RECHECK_GRACE_SECONDS', '299'],
  ])('%s=%s stops the start', (key, value) => {
    expect(problems({ ...development, ...directory, [key]: value })).toEqual([expect.stringMatching(`^${key} `)]);
  });
});

describe('problems', () => {
  it('are reported together, without the value of any setting', () => {
    const canary = 'canary-0f9d2c';
    const wrong = Object.fromEntries(
      settings.filter(([, , , , , refused]) => refused.length > 0).map(([key]) => [key, canary] as const),
    );
    const keys = [...Object.keys(wrong), 'JWT_SECRET', 'DATA_ENCRYPTION_KEY', 'JWT_PREVIOUS_KEYS', 'LDAP_URL'];
    const environment = Object.fromEntries(keys.map((key) => [key, canary]));
    for (const more of [{}, { NODE_ENV: 'production' }, { JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY: canary }]) {
      const found = problems({ ...environment, ...more });
      expect(found.join('\n')).not.toContain(canary);
      const named = new Set(found.map((problem) => problem.split(' ')[0]));
      const expected = keys.filter((key) => !(key in more) && !(key === 'JWT_SECRET' && 'JWT_PRIVATE_KEY' in more));
      expect([...named]).toEqual(
        expect.arrayContaining(
          expected.filter((key) => !['JWT_PREVIOUS_KEYS', 'BRAND_NAME', 'IDP_ALLOWED_HOSTS'].includes(key)),
        ),
      );
    }
  });

  it('are reported once each', () => {
    const found = problems({ ...development, PORT: 'x', SMTP_URL: 'x', REDIS_URL: 'x', METRICS_PORT: 'x' });
    expect(found).toHaveLength(4);
  });
});

describe('outside production', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'settings-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('secrets that are not set are generated once and kept in files that only the owner can read', () => {
    const first = loadConfig({ DATA_DIR: directory });
    const second = loadConfig({ DATA_DIR: directory });
    expect(second.jwt.signing.key.export()).toEqual(first.jwt.signing.key.export());
    expect(second.dataKeys).toEqual(first.dataKeys);
    expect(statSync(join(directory, 'secrets')).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(directory, 'secrets'))) {
      expect(statSync(join(directory, 'secrets', name)).mode & 0o777).toBe(0o600);
    }
  });

  it('the key pair of ES256 and RS256 is generated once and kept', () => {
    for (const JWT_ALGORITHM of ['ES256', 'RS256']) {
      const [first, second] = [1, 2].map(() => loadConfig({ DATA_DIR: directory, JWT_ALGORITHM }));
      expect(second?.jwt.signing.kid).toBe(first?.jwt.signing.kid);
    }
  });

  it('another DATA_DIR has other secrets', () => {
    const one = loadConfig({ DATA_DIR: join(directory, 'one') });
    const two = loadConfig({ DATA_DIR: join(directory, 'two') });
    expect(two.jwt.signing.kid).not.toBe(one.jwt.signing.kid);
  });

  it('a DATA_DIR that cannot be written is reported by its key and without its path', () => {
    const occupied = join(directory, 'occupied');
    writeFileSync(occupied, '');
    const found = problems({ DATA_DIR: occupied });
    expect(found).toEqual([expect.stringMatching('^DATA_DIR ')]);
    expect(found.join()).not.toContain(occupied);
  });
});
