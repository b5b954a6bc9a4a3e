#!/usr/bin/env node
// npm run check:references
//
// Checks that every reference in a tracked file resolves inside the repository, or names an RFC or another standard.
// Prints one line for each wrong reference, and the number of wrong references by rule. The exit code is then 1.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { projectFiles } from './project-files.mjs';
import { checkReferences } from './references.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const files = new Map(projectFiles(root).map((path) => [path, readFileSync(join(root, path), 'utf8')]));

const findings = checkReferences(files);
for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message}`);

for (const rule of new Set(findings.map((finding) => finding.rule)))
  console.log(`${rule}: ${findings.filter((finding) => finding.rule === rule).length}`);
console.log(findings.length === 0 ? 'every reference resolves' : `${findings.length} references to mend`);
// process.exit() would cut off output that a pipe has not read yet.
process.exitCode = findings.length === 0 ? 0 : 1;
