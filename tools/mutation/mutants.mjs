/** Makes the mutants: a copy of the project in which each mutant is behind a switch. */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { Instrumenter } from '@stryker-mutator/instrumenter';

import { projectFiles } from '../../scripts/project-files.mjs';

export const MODULES = {
  login: 'src/auth/',
  mfa: 'src/mfa/',
  'password-reset': 'src/password-reset/',
  tokens: 'src/sessions/',
  captcha: 'src/captcha/',
  passkeys: 'src/passkeys/',
  administration: 'src/admin/',
  account: 'src/account/',
  introspection: 'src/introspection/',
  events: 'src/events/',
  applications: 'src/applications/',
  'identity-providers': 'src/identity-providers/',
  groups: 'src/groups/',
  users: 'src/users/',
  hashing: 'src/hashing/',
  directory: 'src/directory/',
};

const PROJECTS = ['unit', 'spec-sqlite', 'db-sqlite'];

/** Writes the instrumented copy to `folder`. Returns the mutants and a hash of everything but the test files. */
export async function writeCopy(root, folder) {
  const paths = projectFiles(root, { withNew: true });
  const contents = new Map(paths.map((path) => [path, readFileSync(join(root, path))]));
  const { files, mutants } = await instrument(contents);
  for (const { name, content } of files) contents.set(name, Buffer.from(content));
  contents.set('mutation.jest.config.cjs', Buffer.from(configuration()));

  const known = execFileSync('find', [folder, '-type', 'f'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const path of known.split('\n').map((file) => file.slice(folder.length + 1))) {
    if (path !== '' && !contents.has(path)) rmSync(join(folder, path));
  }
  for (const [path, content] of contents) {
    const target = join(folder, path);
    if (existsSync(target) && readFileSync(target).equals(content)) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
  for (const packages of ['node_modules', 'tools/node_modules']) {
    if (!existsSync(join(folder, packages))) symlinkSync(join(root, packages), join(folder, packages));
  }

  const code = createHash('sha256');
  for (const path of [...contents.keys()].sort()) if (isCode(path)) code.update(path).update(contents.get(path));
  return { mutants, codeHash: code.digest('hex'), hashOf: (file) => hash(contents.get(file)) };
}

/** The test files of the projects that run in one process without servers. */
export function testFiles(folder) {
  const jest = join(folder, 'node_modules/jest/bin/jest.js');
  const args = [jest, '-c', 'mutation.jest.config.cjs', '--listTests', '--json', '--selectProjects', ...PROJECTS];
  const listed = execFileSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(listed.slice(listed.lastIndexOf('\n[') + 1))
    .map((path) => path.slice(folder.length + 1))
    .filter((file) => !/^(sdk|guard|packages)\//.test(file))
    .map((file) => ({ project: projectOf(file), file }));
}

function projectOf(file) {
  if (file.endsWith('.db-spec.ts')) return 'db-sqlite';
  return file.endsWith('.e2e-spec.ts') ? 'spec-sqlite' : 'unit';
}

async function instrument(contents) {
  const folders = Object.values(MODULES);
  const sources = [...contents.keys()]
    .filter((path) => folders.some((folder) => path.startsWith(folder)))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.endsWith('.d.ts'))
    .sort();
  const silent = () => {};
  const logger = { trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent };
  const levels = ['Trace', 'Debug', 'Info', 'Warn', 'Error', 'Fatal'].map((level) => [
    `is${level}Enabled`,
    () => false,
  ]);
  const result = await new Instrumenter({ ...logger, ...Object.fromEntries(levels) }).instrument(
    sources.map((name) => ({ name, mutate: true, content: contents.get(name).toString() })),
    { plugins: null, excludedMutations: [], ignorers: [{ shouldIgnore: texts }] },
  );
  const moduleOf = (file) => Object.keys(MODULES).find((name) => file.startsWith(MODULES[name]));
  const mutants = result.mutants.map(({ id, fileName, location, mutatorName, replacement, ...mutant }) => ({
    id,
    file: fileName,
    module: moduleOf(fileName),
    line: location.start.line + 1,
    mutator: mutatorName,
    original: cut(contents.get(fileName).toString(), location),
    replacement,
    ignored: mutant.status === 'Ignored' ? mutant.statusReason : undefined,
    key: `${fileName} ${location.start.line}:${location.start.column} ${mutatorName} ${replacement}`,
    end: `${location.end.line}:${location.end.column}`,
  }));
  return { files: result.files, mutants };
}

/** Texts for a reader of logs and of the API document: no test should hold their wording. Decorators are never mutated. */
function texts(path) {
  if (!path.isStringLiteral() && !path.isTemplateLiteral()) return undefined;
  const logged = path.findParent(
    (parent) =>
      (parent.isCallExpression() && /(^|\.)logger\.\w+$/.test(parent.get('callee').toString())) ||
      (parent.isNewExpression() && parent.get('callee').toString() === 'Logger'),
  );
  if (logged) return 'text of a log line';
  const { parentPath } = path;
  const described = parentPath.isObjectProperty() && ['description', 'summary'].includes(parentPath.node.key.name);
  return described && path.node !== parentPath.node.key ? 'text of the API document' : undefined;
}

function cut(text, { start, end }) {
  const lines = text.split('\n').slice(start.line, end.line + 1);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column);
  lines[0] = lines[0].slice(start.column);
  return lines.join('\n');
}

/** Whether a test can depend on this file. Its own file is compared apart. */
function isCode(path) {
  return !/\.(e2e-|db-|process-|browser-)?spec\.ts$/.test(path) && !/^(docs|deploy)\/|\.md$/.test(path);
}

function configuration() {
  return `const base = require('./jest.config.js');
const projects = base.projects.filter(({ displayName }) => ${JSON.stringify(PROJECTS)}.includes(displayName));
const testEnvironment = '<rootDir>/tools/mutation/environment.cjs';
module.exports = { ...base, projects: projects.map((project) => ({ ...project, testEnvironment })) };
`;
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex');
}
