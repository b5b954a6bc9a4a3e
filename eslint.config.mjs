import tseslint from 'typescript-eslint';

const httpExceptions = 'BadRequest|Unauthorized|Forbidden|NotFound|Conflict|InternalServerError|ServiceUnavailable';

/** Each rule says why it is there; the layout itself is held by dependency-cruiser (`npm run check:deps`). */
const architecture = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Time comes from Clock only: a lock window that nobody can move in a test is a lock window nobody tests.',
  },
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Time comes from Clock only: a lock window that nobody can move in a test is a lock window nobody tests.',
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'Codes and identifiers come from Random (a CSPRNG).',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Settings are read in platform/config only, where a wrong one stops the start.',
  },
  {
    selector: `NewExpression[callee.name=/^(Http|${httpExceptions})Exception$/]`,
    message: 'Throw a DomainError with an entry of the catalogue: the contract is codes, not statuses.',
  },
  {
    selector: 'Literal[value=/^(LOGIN|MFA|AUTH|AUTH_MFA|CAPTCHA|COMMON)_[0-9]{6}$/]',
    message: 'Codes stand in the error catalogue only; import the entry.',
  },
  {
    selector: "CallExpression[callee.property.name='save']",
    message: 'save() reads, modifies and writes: two of them lose one update. Use one guarded UPDATE.',
  },
  { selector: "CallExpression[callee.name='forwardRef']", message: 'A cycle: move what both need down a rank.' },
  {
    selector: 'CallExpression[callee.property.name=/^(compareSync|hashSync)$/]',
    message: 'A synchronous hash holds the event loop for everybody.',
  },
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'node_modules/**',
      'data/**',
      'coverage/**',
      'sdk/*/src/generated/**',
      'sdk/*/test/**',
      'portal/vite.config.ts',
      'bench/**',
      'scripts/**',
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
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['src/shared/clock.ts', 'src/shared/random.ts', 'src/platform/config/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['src/shared/errors/error-catalogue.ts', 'ormconfig.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // Clients: the codes come to them from the document, whose types check them; their clock is the browser's.
    files: ['sdk/**', 'portal/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['test/**/*.ts', 'src/**/*.spec.ts', 'migrations/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.object.name='jest'][callee.property.name=/^(mock|unstable_mockModule|doMock)$/]",
          message: 'No module mocking: every effect is behind a port, pass a fake.',
        },
      ],
      // Answers of the service are looked at as they come.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs', '**/*.js'], ...tseslint.configs.disableTypeChecked },
);
