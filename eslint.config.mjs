import tseslint from 'typescript-eslint';

const httpExceptions = 'BadRequest|Unauthorized|Forbidden|NotFound|Conflict|InternalServerError|ServiceUnavailable';

/** The message of each rule gives its reason. dependency-cruiser checks the imports (`npm run check:deps`). */
const architecture = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Use Clock.now(): only a time that a test can move can be tested, for example the end of an account lock.',
  },
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Use Clock.now(): only a time that a test can move can be tested, for example the end of an account lock.',
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'Use Random: Math.random() is predictable, and codes and identifiers must not be.',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Read settings with the SettingsReader: there a wrong value stops the start with a clear message.',
  },
  {
    selector: `NewExpression[callee.name=/^(Http|${httpExceptions})Exception$/]`,
    message: 'Throw a DomainError with an entry of the error catalogue: clients decide by its code, not by the status.',
  },
  {
    selector: 'Literal[value=/^[A-Z]+(_[A-Z]+)*_[0-9]{6}$/]',
    message: 'Error codes are written in the error catalogue only: import its entry.',
  },
  {
    selector: "CallExpression[callee.property.name='save']",
    message: 'save() reads before it writes, so one of two parallel calls loses its change. Use one guarded UPDATE.',
  },
  {
    selector: "CallExpression[callee.name='forwardRef']",
    message: 'forwardRef hides an import cycle: move what both classes need to a module of a lower rank.',
  },
  {
    selector: "AwaitExpression > CallExpression[callee.object.name='fastify'][callee.property.name='register']",
    message: 'An await loads the plugin at once and fixes the error handler of all routes before Nest sets its own.',
  },
  {
    selector: 'CallExpression[callee.property.name=/^(compareSync|hashSync)$/]',
    message: 'A synchronous hash blocks the event loop, and with it all requests. Use the hashing port.',
  },
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'node_modules/**',
      'data/**',
      'examples/next-page/next-env.d.ts',
      'coverage/**',
      'sdk/*/src/generated/**',
      'sdk/*/test/**',
      'portal/vite.config.ts',
      'bench/**',
      'scripts/**',
      'tools/**',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    files: ['**/*.ts', '**/*.mts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...architecture],
      'no-restricted-properties': [
        'error',
        { object: 'URL', property: 'canParse', message: 'Take urlOf: canParse refuses umlauts once it is optimised.' },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['src/shared/clock.ts', 'src/shared/random.ts', 'src/platform/config/**', 'src/settings/env.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['src/shared/errors/error-catalogue.ts', 'ormconfig.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // Clients take error codes from the OpenAPI document, whose types check them. They, the guard and the examples
    // run in other programs, where the ports of this service do not exist.
    files: ['sdk/**', 'portal/**', 'guard/**', 'examples/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['test/**/*.ts', 'guard/test/**/*.ts', 'src/**/*.spec.ts', 'migrations/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.object.name='jest'][callee.property.name=/^(mock|unstable_mockModule|doMock)$/]",
          message: 'Do not mock modules: pass a fake of the port, as every side effect is behind a port.',
        },
      ],
      // Tests read answers of the service without types.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs', '**/*.js'], ...tseslint.configs.disableTypeChecked },
  // Its packages are installed for its test only, and its own build checks the types.
  { files: ['examples/next-page/**'], ...tseslint.configs.disableTypeChecked },
  // CommonJS without a build step: files that Node or jest loads as they are.
  { files: ['**/*.cjs', '**/*.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    // Threads and tests of the package block on purpose.
    files: ['packages/bcrypt-pair/**', 'src/hashing/engine/{hash-worker,politeness}.js'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
