#!/usr/bin/env node
// node scripts/set-version.mjs VERSION DATE
//
// Writes the version of the next release wherever the repository names it: manifests, lock file, overlays, Jobs, pages and the
// headings of the changelogs. CONTRIBUTING.md ("a release") says what follows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { manifestOf, packages, root } from './packages.mjs';
import { projectFiles } from './project-files.mjs';

const number = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;
const names = packages.map((one) => manifestOf(one).name).join('|');
const pages = /^(?:docs\/operations\/.*|README|guard\/README|sdk\/typescript\/README)\.md$/;

/** Which files name the version of the service, what stands before it, and what follows it. */
const places = [
  { files: /^(?:sdk\/typescript\/|guard\/)?package\.json$/, before: '^  "version": "', after: '"' },
  {
    files: /^package-lock\.json$/,
    before: String.raw`"name": "portal-authentication-service",\s+"version": "`,
    after: '"',
  },
  { files: /^examples\/[\w-]+\/package\.json$/, before: String.raw`"(?:${names})": "\^`, after: '"' },
  { files: /^deploy\/kustomize\/.*kustomization\.yaml$/, before: '^ +newTag: ', after: '$' },
  { files: pages, before: '/portal-authentication:' },
  { files: pages, before: 'portal-authentication-migrate-' },
  { files: pages, before: 'portal-auth-(?:sdk|guard)-', after: '\\.tgz' },
  { files: /^docs\/operations\/verification\.md$/, before: '^VERSION=', after: '$' },
].map(({ files, before, after = '' }) => ({ files, pattern: new RegExp(`(${before})(${number})(?=${after})`, 'gm') }));

/**
 * @param write given the path and the text of each file that names the version
 * @returns each place as [path, version that stood there]
 */
export function versionPlaces(version, write = () => {}) {
  const found = [];
  for (const path of projectFiles(root)) {
    const here = places.filter(({ files }) => files.test(path));
    if (here.length === 0) continue;
    const former = readFileSync(join(root, path), 'utf8');
    let text = former;
    for (const { pattern } of here)
      text = text.replace(pattern, (_, lead, old) => {
        found.push([path, old]);
        return `${lead}${version}`;
      });
    if (text !== former) write(path, text);
  }
  return found;
}

/** The section "Unreleased" becomes that of the version, below an empty one. @throws Error when there is none, or the version has one */
export function released(changelog, version, date, empty = '') {
  if (changelog.includes(`\n## [${version}]`)) throw new Error(`the changelog has a section [${version}] already`);
  if (!changelog.includes('\n## [Unreleased]\n')) throw new Error('the changelog has no section [Unreleased]');
  return changelog.replace('\n## [Unreleased]\n', `\n## [Unreleased]\n${empty}\n## [${version}] - ${date}\n`);
}

/** An operator finds what to do for the upgrade below this heading, so no section may lack it. */
const nothing = '\n### Upgrade\n\nNothing.\n';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [version = '', date = ''] = process.argv.slice(2);
  if (!new RegExp(`^${number}$`).test(version) || !/^\d{4}-\d{2}-\d{2}$/.test(date)) {
    console.error('node scripts/set-version.mjs VERSION DATE, for example 1.2.0 2027-02-01');
    process.exit(2);
  }
  const changelogs = [['CHANGELOG.md', nothing], ...packages.map(({ folder }) => [`${folder}/CHANGELOG.md`, ''])];
  // All of them are read before anything is written, so a refusal changes no file.
  const texts = changelogs.map(([path, empty]) => [
    path,
    released(readFileSync(join(root, path), 'utf8'), version, date, empty),
  ]);
  const written = new Map(texts);
  versionPlaces(version, (path, text) => written.set(path, text));
  for (const [path, text] of written) {
    writeFileSync(join(root, path), text);
    console.log(path);
  }
}
