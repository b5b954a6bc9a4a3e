'use strict';

const typescript = require('./scripts/swc-options.cjs');

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
  transform: { '\\.ts$': ['@swc/jest', typescript], '\\.[cm]?js$': ['@swc/jest', packages] },
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

/**
 * Endpoint tests that run on SQLite only. They are about another server, the protocol, settings or documents. Tests of
 * the database, races and several processes run the same statements on MariaDB.
 */
const storeNeutral = [
  'admin-(access|config|mails|names|overview)',
  'breach-check',
  'capabilities',
  'change-pwd-mfa',
  'client-gone',
  'data-key',
  'demo-names',
  'enrolment-step-up',
  'expiry-warnings',
  'forgot-password-timing',
  'http(-logs|-settings)?',
  'integration-guide',
  'introspection',
  'ldap-[a-z-]+',
  'leaks',
  'limits',
  'login-(hidden-existence|history|overload)',
  'metrics',
  'new-sign-in',
  'openapi-examples',
  'otp-resend',
  'password-policy',
  'token-attacks',
  'tracing',
  'young-session',
].map((name) => `/test/spec/${name}\\.e2e-spec\\.ts$`);

/**
 * Runs the same files once per database. The global `__DATABASE__` tells a test which one it has.
 * @param onlySqlite patterns of files that test another server than the database
 */
function oncePerDatabase(name, testMatch, onlySqlite = []) {
  return [
    { ...common, ...patient, displayName: `${name}-sqlite`, testMatch, globals: { __DATABASE__: 'sqlite' } },
    {
      ...common,
      ...withMariaDb,
      ...patient,
      displayName: `${name}-mariadb`,
      testMatch,
      testPathIgnorePatterns: ['/node_modules/', ...onlySqlite],
      globals: { __DATABASE__: 'mariadb' },
    },
  ];
}

/** @type {import('jest').Config} */
module.exports = {
  // One more than the cores of a small machine: many tests wait for other processes.
  maxWorkers: 3,
  // A worker keeps memory of each test file that it has run, up to 2 GB at the end of all.
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
    ...oncePerDatabase('spec', ['<rootDir>/test/spec/**/*.e2e-spec.ts'], storeNeutral),
    ...oncePerDatabase('db', ['<rootDir>/test/db/**/*.db-spec.ts']),
    {
      ...common,
      ...withMariaDb,
      ...slow,
      displayName: 'process',
      testMatch: ['<rootDir>/test/process/**/*.process-spec.ts'],
    },
    {
      ...common,
      ...slow,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.browser-spec.ts'],
      // The pages do not depend on the database, so SQLite is enough.
      globals: { __DATABASE__: 'sqlite' },
    },
    { ...common, ...slow, displayName: 'servers', testMatch: ['<rootDir>/test/servers/**/*.spec.ts'] },
  ],
};
