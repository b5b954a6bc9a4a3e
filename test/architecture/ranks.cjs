/**
 * Rules of dependency-cruiser for the two laws of the layout (docs/architecture.md).
 * Rank law: a module imports only modules of a lower rank.
 * Door law: of another module it imports only the files directly in that module's folder.
 */
const ranks = [
  ['shared'],
  ['platform', 'hashing'],
  ['users', 'audit', 'captcha', 'mail', 'directory', 'legacy'],
  ['groups', 'brand'],
  ['sessions'],
  ['mfa', 'password-reset', 'passkeys', 'events', 'identity-providers', 'applications'],
  ['offboarding'],
  ['auth', 'account', 'admin', 'introspection', 'health', 'metrics', 'retention', 'portal'],
  ['scim'],
  ['settings'],
  ['cli', 'demo', 'openapi'],
];
/** The rank of the programs, which import the files directly in `src` as well: the composition root and its set-up. */
const programs = ranks.length - 1;
/** Modules whose sub-folders may be imported, too. */
const open = ['shared', 'platform'];
const rankRules = ranks.flatMap((modules, rank) =>
  modules.map((module) => {
    const allowed = [...ranks.slice(0, rank).flat(), module].map((name) => `${name}/`);
    if (rank === programs) allowed.push('[^/]+\\.ts$');
    return {
      name: `rank-${rank}-${module}`,
      comment: `${module} (rank ${rank}) may import only modules of a lower rank: other imports lead to cycles.`,
      severity: 'error',
      from: { path: `^src/${module}/` },
      to: { path: '^src/', pathNot: `^src/(${allowed.join('|')})` },
    };
  }),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'When two decorated classes import each other, one of them is undefined while the other one loads.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'doors',
      comment: 'Sub-folders of a module are private. Import a file directly in the folder of the module instead.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/([^/]+)/[^/]+/', pathNot: `^src/($1|${open.join('|')})/` },
    },
    {
      name: 'doors-of-the-root',
      comment: 'Sub-folders of a module are private for the files directly in src as well.',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$' },
      to: { path: '^src/[^/]+/[^/]+/', pathNot: `^src/(${open.join('|')})/` },
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
