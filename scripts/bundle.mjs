#!/usr/bin/env node
// The last step of `npm run build:server` (ADR 0015). It bundles the compiled server, its command line and their
// packages into a few files. Without it, finding and reading two thousand files takes most of the start. It then starts both programs
// once, to write the V8 code cache.
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { writeCodeCache } from './code-cache.mjs';
import { withModuleFunctions, withOneCopyOfModules } from './module-functions.mjs';
import { outside } from './runtime-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'dist/src');
const chunks = 'bundle';

// tsc does not copy the files that it does not compile.
for (const folder of ['mail/templates', 'openapi/examples', 'shared/languages']) {
  cpSync(join(root, 'src', folder), join(compiled, folder), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  });
}
const worker = 'hashing/engine/hash-worker.js';
for (const file of [worker, 'hashing/engine/politeness.js', 'hashing/engine/derive-key.js'])
  cpSync(join(root, 'src', file), join(compiled, file));

/** Packages that are loaded from node_modules instead of being bundled, with all their entry points. */
const external = Object.keys(outside).map((name) => new RegExp(`^${name}(/|$)`));

/** Texts of packages that the bundle replaces, as pairs. The build stops if the source of such a package has changed. */
const adapted = {
  // These packages call `require` in a way that the bundler cannot see, and would load second copies of other packages.
  '@nestjs/typeorm/dist/common/typeorm-compat.js': [['const require = createRequire(import.meta.url);', '']],
  'typeorm/platform/PlatformTools.js': [
    ['return require(name);', "return name === 'mysql2' ? require('mysql2') : require(name);"],
  ],
  // Two functions instead of all of lodash.
  '@nestjs-modules/mailer/dist/mailer.service.js': [
    [
      'const lodash_1 = require("lodash");',
      'const lodash_1 = { get: require("lodash/get"), defaultsDeep: require("lodash/defaultsDeep") };',
    ],
  ],
  // Node warns of this constructor (DEP0005) when its caller is not in node_modules.
  'speakeasy/index.js': [
    ['new Buffer(secret, encoding)', 'Buffer.from(secret, encoding)'],
    ['new Buffer(8)', 'Buffer.alloc(8)'],
    ["= Buffer(key, 'ascii')", "= Buffer.from(key, 'ascii')"],
    ['(Buffer(key))', '(Buffer.from(key))'],
  ],
  'base32.js/index.js': [['new Buffer(bytes)', 'Buffer.from(bytes)']],
};

/** TypeORM drivers of unsupported databases, a tenth of all code. They are replaced by empty modules. */
const unusedDrivers =
  /\/node_modules\/typeorm\/driver\/(?!mysql|better-sqlite3|sqlite-abstract|types)[^/]+\/\w+Driver\.js$/;

/** `class-validator` loads the table of all phone numbers for a decorator that the service does not use. */
const phoneNumbers = /\/node_modules\/libphonenumber-js\//;

/** Optional packages that TypeORM, Nest and Fastify load if they are installed. */
const optional =
  /^(@fastify|@google-cloud|@nestjs|@sap|@sentry)\/|^(mongodb|mssql|oracledb|pg|pg-.*|redis|sql\.js|typeorm-.*)$/;

/**
 * The signal handler and the flags of V8. The bundle puts its code at the front of both programs, because process 1 of a
 * container ignores SIGTERM until it has a listener. Loading the packages takes longer than all that Node does before.
 */
const first = join(compiled, 'process-start.js');
/** Lets the programs start from the V8 code cache. */
const second = join(compiled, 'code-cache.js');
const front = () =>
  [first, second].map((file) => `{\n${readFileSync(file, 'utf8').replace(/^\/\/#.*$/m, '')}}\n`).join('');

const empty = (id) => unusedDrivers.test(id) || phoneNumbers.test(id) || id === first;

/**
 * Bytes of a file of packages. The memory that V8 needs to parse a file of 4 MB stays with the process: 25 MB, and a fifth of
 * the start (ADR 0015).
 */
const maxSize = 600_000;

const adapt = {
  name: 'adapt',
  load: (id) => (empty(id) ? 'module.exports = {};' : undefined),
  transform(code, id) {
    const changes = Object.entries(adapted).find(([path]) => id.endsWith(`/node_modules/${path}`))?.[1];
    if (changes) {
      for (const [from] of changes) {
        if (!code.includes(from)) throw new Error(`the source of ${id} has changed: adapt scripts/bundle.mjs to it`);
      }
      return changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), code);
    }
    if (!id.startsWith(compiled) || !/\b__(dir|file)name\b/.test(code)) return;
    // The code moves into the bundle, but the templates and package.json that it reads stay where they are.
    const place = relative(join(compiled, chunks), id);
    return code.replace(/\b__(dir|file)name\b/g, (_name, kind) => {
      const path = kind === 'file' ? place : dirname(place);
      return `require('node:path').join(__dirname, ${JSON.stringify(path)})`;
    });
  },
  renderChunk(rendered, { name, moduleIds }) {
    const code = name === 'rolldown-runtime' ? withOneCopyOfModules(rendered) : rendered;
    // The code of the service stays readable for stack traces. Packages lose comments and spaces, and keep their names.
    const small = moduleIds.some((id) => id.startsWith(compiled))
      ? code
      : minifySync(name, code, { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } })
          .code;
    // V8 keeps a pure ASCII source in one byte per character, and any other source in two.
    return withModuleFunctions(small).replace(
      /[^\0-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  },
};

const bundle = await rolldown({
  input: { main: join(compiled, 'main.js'), cli: join(compiled, 'cli.js') },
  cwd: root,
  platform: 'node',
  external,
  plugins: [adapt],
  onLog(level, log, tell) {
    // `depd` makes the wrapper of a deprecated function with eval, from nothing but names of its own.
    if (log.code === 'EVAL' && log.id?.includes('/node_modules/depd/')) return;
    if (log.code !== 'UNRESOLVED_IMPORT') return tell(level, log);
    if (!optional.test(/'([^']+)'/.exec(log.message)?.[1] ?? '')) throw new Error(log.message);
  },
});
await bundle.write({
  dir: compiled,
  format: 'cjs',
  minify: false,
  intro: ({ isEntry }) => (isEntry ? front() : ''),
  entryFileNames: '[name].js',
  chunkFileNames: `${chunks}/[name].js`,
  // The packages that are loaded on demand from node_modules are CommonJS. A file with `import()` could have no code cache.
  dynamicImportInCjs: false,
  codeSplitting: {
    groups: [
      { name: 'packages', test: /node_modules/, tags: ['$initial'], priority: 1, entriesAware: true, maxSize },
      {
        name: 'service',
        test: (id) => id.startsWith(compiled) && !/src.(main|cli)\.js$/.test(id),
        tags: ['$initial'],
        entriesAware: true,
      },
    ],
  },
});

// The threads that hash passwords load this file by its path. The file includes @portal-auth/bcrypt-pair.
const bundledWorker = await rolldown({ input: join(compiled, worker), cwd: root, platform: 'node', external });
await bundledWorker.write({ file: join(compiled, worker), format: 'cjs', minify: false });

await writeCodeCache();
