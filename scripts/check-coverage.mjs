#!/usr/bin/env node
// npm run check:coverage [-- --list]
//
// Checks that no line of the catalogue of attacks is left out: see docs/security/coverage.md. Prints one line for each
// finding; the exit code is then 1. With --list it prints the titles for each number.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { checkCoverage, testFilesOf, testsIn } from './coverage.mjs';
import { projectFiles } from './project-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isTest = testFilesOf(createRequire(import.meta.url)('../jest.config.js'));

// A new file that is not committed yet counts too.
const paths = projectFiles(root, { withNew: true }).filter(
  (path) => path === 'docs/spec/attacks.md' || path === 'docs/security/coverage.md' || isTest(path),
);
const files = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));

if (process.argv.includes('--list')) {
  const lines = [...files]
    .filter(([file]) => isTest(file))
    .flatMap(([file, source]) => testsIn(file, source))
    .flatMap(({ file, title, text }) =>
      [...new Set(text.match(/\bT\d{3}\b/g) ?? [])].map((number) => `${number} ${file}: ${title}`),
    );
  console.log(lines.sort().join('\n'));
} else {
  const { findings, figures } = checkCoverage(files, isTest);
  for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message}`);
  console.log(
    `${figures.numbers} lines of the catalogue: ${figures.titled} in the titles of ${figures.tests} tests, ` +
      `${figures.covered} covered by a named test, ${figures.argued} with a reason`,
  );
  if (findings.length > 0) console.log(`${findings.length} to mend`);
  // process.exit() would cut off output that a pipe has not read yet.
  process.exitCode = findings.length === 0 ? 0 : 1;
}
