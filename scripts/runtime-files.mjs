#!/usr/bin/env node
// node scripts/runtime-files.mjs [--into DIRECTORY]
//
// Lists exactly the files that the built program loads: the bundle, the templates, the web pages, and the files in
// node_modules that the packages outside the bundle need (ADR 0015). Prints one path per line, or copies the files. The
// Dockerfile builds the image from these files.
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/**
 * The packages that the bundle leaves in node_modules: binaries, optional packages, and packages that are found by
 * their path. `entries`: the modules that the program loads, by default the package itself. `files`: the files that are
 * opened by a path that no `require` names.
 */
export const outside = {
  'better-sqlite3': { files: [/^build\/Release\/better_sqlite3\.node$/] },
  '@node-rs/bcrypt': {},
  '@node-rs/argon2': {},
  bcryptjs: {},
  '@css-inline/css-inline': {},
  'passport-ldapauth': {},
  'swagger-ui-dist': {
    entries: ['swagger-ui-dist/absolute-path.js'],
    files: [/^swagger-ui\.css$/, /^swagger-ui-(bundle|standalone-preset)\.js$/, /^favicon-.*\.png$/],
  },
  // The program reads the list itself, so it needs none of the modules.
  '@zxcvbn-ts/language-common': { entries: [], files: [/^src\/passwords\.json$/] },
  '@opentelemetry/api': {},
  '@opentelemetry/exporter-logs-otlp-http': {},
  '@opentelemetry/exporter-trace-otlp-http': {},
  '@opentelemetry/resources': {},
  '@opentelemetry/sdk-logs': {},
  '@opentelemetry/sdk-trace-node': {},
};

const ofTheBuild = [
  /^src\/(main|cli|hashing\/engine\/hash-worker)\.js$/,
  /^src\/bundle\/[^/]+\.js(\.cache)?$/,
  /\.hbs$/,
  /^src\/openapi\/examples\/recorded\.json$/,
  /^src\/shared\/languages\/[^/]+\.json$/,
];

/** Paths from the project's root, sorted. */
export async function runtimeFiles() {
  const files = new Set([
    'package.json',
    ...found(join(root, 'dist'), ofTheBuild),
    ...found(join(root, 'portal/dist'), [/\.\w+$/]),
  ]);
  for (const file of await modulesOf(Object.entries(outside).flatMap(entriesOf))) {
    files.add(relative(root, file));
    for (const manifest of manifestsOf(file)) files.add(relative(root, manifest));
  }
  for (const [name, { files: patterns = [] }] of Object.entries(outside)) {
    for (const file of found(join(root, 'node_modules', name), patterns)) files.add(file);
  }
  return [...files].sort();
}

/** @throws Error when a pattern matches no file: the package has changed, or the build is missing */
function found(directory, patterns) {
  const names = patterns.length === 0 ? [] : readdirSync(directory, { recursive: true });
  return patterns.flatMap((pattern) => {
    const matching = names.filter((name) => pattern.test(name));
    if (matching.length === 0) throw new Error(`no file of ${directory} is named like ${pattern}`);
    return matching.map((name) => relative(root, join(directory, name)));
  });
}

const entriesOf = ([name, { entries = [name] }]) => entries.map((entry) => require.resolve(entry));

/** All files that the entries require, import, or load as a binary. */
async function modulesOf(entries) {
  const files = new Set();
  const record = {
    name: 'record',
    async resolveId(source, importer, options) {
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (!resolved?.id.endsWith('.node')) return resolved;
      files.add(resolved.id);
      return { id: resolved.id, external: true };
    },
    transform(_code, id) {
      if (id.startsWith('/')) files.add(id);
    },
  };
  const graph = await rolldown({
    input: entries,
    cwd: root,
    platform: 'node',
    treeshake: false,
    // Resolves as Node does. A bundler would take the ES modules of packages that have both kinds.
    resolve: { conditionNames: ['node'], mainFields: ['main'] },
    plugins: [record],
    onLog(_level, log) {
      if (log.code === 'UNRESOLVED_IMPORT' && !mayBeMissing(log)) throw new Error(log.message);
    },
  });
  await graph.generate({ format: 'cjs' });
  return files;
}

/** True for a binary of another platform, and for an optional package of another platform. */
function mayBeMissing({ message }) {
  const [, wanted] = /'([^']+)'/.exec(message) ?? [];
  return /^\.\/.*\.node$|-(darwin|win32|linux|android|freebsd|wasm32|openharmony)\b/.test(wanted);
}

/**
 * Finds each package.json in the folder of the file and in its parents up to node_modules. Node reads them to find the
 * kind of the module and the root of the package.
 */
function manifestsOf(file) {
  const manifests = [];
  for (let at = dirname(file); !at.endsWith('/node_modules'); at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) manifests.push(join(at, 'package.json'));
  }
  return manifests;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await runtimeFiles();
  const [option, into] = process.argv.slice(2);
  if (option === '--into') for (const file of files) cpSync(join(root, file), resolve(into, file));
  else console.log(files.join('\n'));
}
