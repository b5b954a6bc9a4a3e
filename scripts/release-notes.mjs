#!/usr/bin/env node
// node scripts/release-notes.mjs VERSION [--links URL]
//
// Prints the notes of a release: its section of CHANGELOG.md, which begins with what to do for the upgrade. Prints what is wrong, and
// ends with exit code 1, when the section has no text below "### Upgrade", when nobody has dated it, or when a package.json has
// another version. Relative links begin with the URL, because the page of a release is in no folder.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { manifestOf, packages, readJson, root } from './packages.mjs';

const date = /^\d{4}-\d{2}-\d{2}$/;

/**
 * @param changelog the text of CHANGELOG.md
 * @returns the section without its heading @throws Error that says what the section lacks
 */
export function releaseNotes(changelog, version, { links } = {}) {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.startsWith(`[${version}]`));
  if (found === undefined) throw new Error(`CHANGELOG.md has no section [${version}]`);
  const [heading, ...lines] = found.split('\n');
  const day = heading.slice(`[${version}]`.length).replace(/^ - /, '');
  if (version !== 'Unreleased' && !date.test(day)) throw new Error(`[${version}] of CHANGELOG.md has no date`);
  const notes = lines.join('\n').trim();
  const [, upgrade = ''] = /^### Upgrade\n([^]*?)(?=^### |(?![^]))/m.exec(notes) ?? [];
  if (upgrade.trim() === '')
    throw new Error(`[${version}] of CHANGELOG.md does not say below "### Upgrade" what an operator has to do`);
  return links === undefined ? notes : notes.replace(/\]\((?!https?:|#)([^)]+)\)/g, `](${links}/$1)`);
}

/** @returns a line for each manifest of the release that has another version */
export function otherVersions(version) {
  const manifests = [
    ['.', readJson(join(root, 'package.json'))],
    ...packages.map((one) => [one.folder, manifestOf(one)]),
  ];
  return manifests
    .filter(([, manifest]) => manifest.version !== version)
    .map(([folder, manifest]) => `package.json of ${folder} has version ${manifest.version} and not ${version}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [version = '', option, links] = process.argv.slice(2);
  if (version === '' || (option !== undefined && (option !== '--links' || links === undefined))) {
    console.error('node scripts/release-notes.mjs VERSION [--links URL]');
    process.exit(2);
  }
  try {
    const problems = version === 'Unreleased' ? [] : otherVersions(version);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    console.log(releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, { links }));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
