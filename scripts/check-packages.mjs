#!/usr/bin/env node
// npm run check:packages [-- --keep]
//
// Packs each package that is published, installs the tarball into empty projects, and uses every entry there: from ES
// modules and CommonJS, with the compiler in three kinds of resolution, and in a page that Vite builds. Prints one line
// for each problem, and the size of each entry. The exit code is 1 when there is a problem.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

import { installTools } from '../tools/install.mjs';
import { checkContents, checkSizes } from './package-checks.mjs';
import { checkEntries, checkLoading, checkPage, newProject } from './package-consumers.mjs';
import { manifestOf, pack, packages } from './packages.mjs';

installTools();
const { checkDeclarations } = await import('../tools/declarations.mjs');

const work = mkdtempSync(join(tmpdir(), 'packages-'));
let problems = 0;
try {
  for (const one of packages) await check({ ...one, manifest: manifestOf(one) });
} finally {
  if (process.argv.includes('--keep')) console.log(work);
  else rmSync(work, { recursive: true, force: true });
}
console.log(problems === 0 ? 'the packages are fit to publish' : `${problems} problems`);
process.exitCode = problems === 0 ? 0 : 1;

async function check(one) {
  const { manifest } = one;
  console.log(`${manifest.name} ${manifest.version}`);
  const packed = pack(one, work);
  await step('contents of the tarball', () => checkContents(one, packed));
  await step('publint and are-the-types-wrong', () => checkDeclarations(packed));

  const entries = Object.keys(one.entries);
  const plain = entries.filter((entry) => one.entries[entry].needs === undefined);
  const project = (name, type, peers) =>
    newProject(join(work, `${manifest.name.split('/')[1]}-${name}`), { ...packed, ...one, type, peers });
  const alone = project('alone', 'module', false);
  const modules = project('modules', 'module', true);
  const commonJs = project('commonjs', 'commonjs', true);
  await step('without optional peer dependencies', () => checkLoading(alone, one, plain));
  await step('ES modules', () => checkEntries(modules, one));
  await step('CommonJS', () => checkEntries(commonJs, one));
  if (one.browser) {
    await step('a page of Vite without peer dependencies', () => checkPage(alone, one, plain));
    await step('a page of Vite', () => checkPage(modules, one, entries));
  }
  await step('size of the entries', () => checkSizes(modules, one));
}

/** @param run returns the problems, and may return lines to print */
async function step(name, run) {
  const began = performance.now();
  const { found, lines = [] } = await run();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`  ${found.length === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  for (const line of [...lines, ...found]) console.log(`         ${line}`);
  problems += found.length;
}
