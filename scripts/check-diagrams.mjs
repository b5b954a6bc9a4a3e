#!/usr/bin/env node
// npm run check:diagrams
//
// Checks the Mermaid diagrams in every tracked Markdown page. The exit code is 1 when a diagram is wrong.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { checkDiagrams } from './diagrams.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' }).split('\0');

let diagrams = 0;
for (const page of pages.filter((path) => path !== '' && existsSync(join(root, path)))) {
  const { count, findings } = checkDiagrams(readFileSync(join(root, page), 'utf8'));
  diagrams += count;
  for (const { line, message } of findings) console.log(`${page}:${line}: ${message}`);
  if (findings.length > 0) process.exitCode = 1;
}
if (process.exitCode !== 1) console.log(`${diagrams} diagrams are valid`);
