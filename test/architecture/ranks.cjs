/**
 * The two laws of the layout (docs/architecture.md), checked by machine.
 * Rank law: a module imports only strictly lower ranks. Door law: only the files directly in another module's folder.
 */
const ranks = [
  ['shared'],
  ['platform', 'hashing'],
  ['users', 'audit', 'captcha', 'mail', 'directory'],
  ['tokens'],
  ['mfa', 'password-reset'],
  ['auth', 'health', 'metrics', 'retention'],
];

const rankRules = ranks.flatMap((modules, rank) =>
  modules.map((module) => {
    const allowed = [...ranks.slice(0, rank).flat(), module];
    return {
      name: `rank-${rank}-${module}`,
      comment: `${module} (rank ${rank}) may import only lower ranks: an import upwards or sideways is a cycle waiting.`,
      severity: 'error',
      from: { path: `^src/${module}/` },
      to: { path: '^src/', pathNot: `^src/(${allowed.join('|')})/` },
    };
  }),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Of two decorated classes that import each other one sees undefined while the other loads.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'doors',
      comment: 'Sub-folders are private rooms: another module enters through the files directly in the folder.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/([^/]+)/[^/]+/', pathNot: '^src/($1|shared|platform)/' },
    },
    {
      name: 'doors-of-the-root',
      comment: 'The programs (main, cli, demo) enter through the doors as well.',
      severity: 'error',
      from: { path: '^src/([^/]+\\.ts$|cli/|demo/)' },
      to: { path: '^src/(hashing|users|audit|captcha|mail|directory|tokens|mfa|password-reset|auth|health|metrics|retention)/[^/]+/' },
    },
    ...rankRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
