'use strict';

const typescript = require('./scripts/swc-options.cjs');

const compiler = '<rootDir>/scripts/jest-swc.cjs';

// For packages that ship only ES modules, such as Nest 12. `isModule: 'unknown'` leaves CommonJS files as they are.
const packages = {
  swcrc: false,
  isModule: 'unknown',
  jsc: { target: 'es2023', parser: { syntax: 'ecmascript' } },
  module: { type: 'commonjs' },
  sourceMaps: false,
};

const common = {
  rootDir: __dirname,
  testEnvironment: 'node',
  // All projects share the files that one of them has compiled.
  id: 'service',
  transform: { '\\.ts$': [compiler, typescript], '\\.[cm]?js$': [compiler, packages] },
  // Large CommonJS bundles that need no transformation.
  transformIgnorePatterns: ['/node_modules/playwright-core/', '/node_modules/typescript/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  setupFiles: ['reflect-metadata'],
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
};

// All projects of a run share one MariaDB: jest runs a setup file once, even if several projects name it.
const withMariaDb = {
  globalSetup: '<rootDir>/test/support/servers/shared-mariadb-setup.ts',
  globalTeardown: '<rootDir>/test/support/servers/shared-mariadb-teardown.ts',
};

const patient = { setupFilesAfterEnv: ['<rootDir>/test/support/patient-limits.ts'] };

const slow = { setupFilesAfterEnv: [...patient.setupFilesAfterEnv, '<rootDir>/test/support/servers/slow-tests.ts'] };

const endpointTests = (names) => names.map((name) => `/test/spec/${name}\\.e2e-spec\\.ts$`);

/** Endpoint tests about another server, one setting or a document. They run once. */
const once = endpointTests([
  'breach-check',
  'capabilities',
  'data-key',
  'external-(accounts|hostile)',
  'demo-application',
  'demo-names',
  'forgot-password-timing',
  'ldap-(directory-answers|doctor|follow|outage|provisioning|recheck|silence|slow-groups|tls)',
  'login-overload',
  'openapi-examples',
  'openid-directory',
  'scim-clients',
  'tracing',
]);

/**
 * Endpoint tests that run on SQLite only, once with the defaults and once with everything on. They are about the protocol
 * and the rules. Tests of the database, races and several processes run the same statements on MariaDB.
 */
const storeNeutral = endpointTests([
  'admin-(access|checks|config|mails|names|overview)',
  'change-pwd-mfa',
  'client-gone',
  'enrolment-step-up',
  'event-receivers',
  'expiry-warnings',
  'http(-logs|-settings)?',
  'integration-guide',
  'introspection',
  'ldap-(identity|login|passkeys)',
  'leaks',
  'limits',
  'login-(discover|hidden-existence|history)',
  'metrics',
  'new-sign-in',
  'oidc-(conformance|fapi|redirect-uris)',
  'otp-resend',
  'password-policy',
  'token-attacks',
  'verify',
  'young-session',
]);

/** Starts the application with everything on (test/support/everything.ts). */
const everything = { __PROFILE__: 'everything' };

/**
 * Runs the same files once per database. The global `__DATABASE__` tells a test which one it has.
 * @param mariadb what differs on MariaDB
 */
function oncePerDatabase(name, testMatch, { globals, ...mariadb } = {}) {
  return [
    { ...common, ...patient, displayName: `${name}-sqlite`, testMatch, globals: { __DATABASE__: 'sqlite' } },
    {
      ...common,
      ...withMariaDb,
      ...patient,
      displayName: `${name}-mariadb`,
      testMatch,
      globals: { __DATABASE__: 'mariadb', ...globals },
      ...mariadb,
    },
  ];
}

/** @type {import('jest').Config} */
module.exports = {
  // One more than the cores of a small machine: many tests wait for other processes.
  maxWorkers: 3,
  // A worker keeps the compiled code of what its test files have loaded (scripts/shared-scripts.cjs), some 250 MB. One that grows
  // far beyond that starts again.
  workerIdleMemoryLimit: '1GB',
  // Only a test that hangs may meet it: on a busy machine a test takes many times as long as on an idle one.
  testTimeout: 90_000,
  // Half a second is not enough for a worker to end on a busy machine. Jest reports one that it had to kill as a leak.
  workerGracefulExitTimeout: 20_000,
  watchman: false,
  projects: [
    {
      ...common,
      // Some unit tests run programs of tools/.
      globalSetup: '<rootDir>/test/support/tools-setup.ts',
      displayName: 'unit',
      testMatch: ['src', 'test/unit', 'sdk/typescript/test', 'guard/test', 'packages'].map(
        (folder) => `<rootDir>/${folder}/**/*.spec.ts`,
      ),
    },
    // Each file runs with the defaults on SQLite, and with everything on: on MariaDB, or on SQLite where it runs only there.
    ...oncePerDatabase('spec', ['<rootDir>/test/spec/**/*.e2e-spec.ts'], {
      globals: everything,
      testPathIgnorePatterns: ['/node_modules/', ...once, ...storeNeutral],
    }),
    {
      ...common,
      ...patient,
      displayName: 'spec-everything',
      testRegex: storeNeutral,
      globals: { __DATABASE__: 'sqlite', ...everything },
    },
    // The pairs of settings take a minute. On MariaDB they run for a release, with all values (npm run check:pairs).
    ...oncePerDatabase('db', ['<rootDir>/test/db/**/*.db-spec.ts'], {
      testPathIgnorePatterns: ['/node_modules/', ...(process.env.PAIRS ? [] : ['/test/db/settings-pairs\\.db-spec'])],
    }),
    {
      ...common,
      ...withMariaDb,
      ...slow,
      displayName: 'process',
      testMatch: ['<rootDir>/test/process/**/*.process-spec.ts'],
    },
    {
      ...common,
      setupFilesAfterEnv: [...slow.setupFilesAfterEnv, '<rootDir>/test/support/browser/second-attempt.ts'],
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.browser-spec.ts'],
      // The pages do not depend on the database, so SQLite is enough.
      globals: { __DATABASE__: 'sqlite' },
    },
    { ...common, ...slow, displayName: 'servers', testMatch: ['<rootDir>/test/servers/**/*.spec.ts'] },
  ],
};
