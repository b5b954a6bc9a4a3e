#!/usr/bin/env node
// npm run licences [-- --check]
//
// Writes the tables of docs/licences.md from package-lock.json and that of tools/, or checks that they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { knownLicences } from './known-licences.mjs';
import { lockedPackages, lockedTools } from './shipped-packages.mjs';

const page = fileURLToPath(new URL('../docs/licences.md', import.meta.url));
const own = '@portal-auth/bcrypt-pair';

/** Licences that ask for the copyright notice at most. Every other one needs a row with its reason on the page. */
const permissive = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['Python-2.0', 'Unlicense'],
];

const packages = [...lockedPackages(), ...lockedTools()].filter(({ name }) => name !== own);
const before = readFileSync(page, 'utf8');
const problems = packages.filter((one) => !isPermissive(one.licence)).flatMap(problemOf);
for (const problem of problems) console.error(problem);

const after = before
  .replace(block('ships'), `$1${table(packages.filter(({ ships }) => ships))}$2`)
  .replace(block('builds'), `$1${table(packages.filter(({ ships }) => !ships))}$2`);
if (!process.argv.includes('--check')) writeFileSync(page, after);
else if (after !== before) {
  problems.push('stale');
  console.error('docs/licences.md does not match the lock files: run `npm run licences`');
}
process.exitCode = problems.length === 0 ? 0 : 1;

/** "A OR B" is a choice, and "A AND B" means both. */
function isPermissive(licence = '') {
  const bare = licence.replace(/^\((.*)\)$/, '$1');
  // Brackets within it are not read. Such a package needs a row.
  if (/[()]/.test(bare)) return false;
  if (bare.includes(' OR ')) return bare.split(' OR ').some(isPermissive);
  return bare.split(' AND ').every((one) => permissive.includes(one));
}

/** A package without a permissive licence must be in a table of the page by name, with a reason. */
function problemOf({ name, version, licence, ships }) {
  const row = new RegExp(`^\\| \`${name.replace(/[.*/]/g, '\\$&')}\` +\\| ([^|]+) +\\| ([^|]{20,}) \\|$`, 'm').exec(
    before,
  );
  const named = row?.[1].trim().replace(/`/g, '');
  const wanted = licence ?? knownLicences[name];
  if (row !== null && named === wanted) return [];
  const where = ships ? 'is a part of the product' : 'builds or tests';
  return [`${name} ${version} ${where} under ${wanted ?? 'an unknown licence'}: docs/licences.md has no such row`];
}

function block(name) {
  return new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- end -->)`);
}

function table(list) {
  const counts = new Map();
  for (const { name, licence } of list) {
    const key = licence ?? (knownLicences[name] ? `${knownLicences[name]} ¹` : 'unknown');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([key, n]) => [key, `${n}`]);
  const all = [['licence', 'packages'], ...rows, ['all', `${list.length}`]];
  const width = [0, 1].map((i) => Math.max(...all.map((row) => row[i].length)));
  const line = ([left, right]) => `| ${left.padEnd(width[0])} | ${right.padStart(width[1])} |`;
  return `\n${line(all[0])}\n| ${'-'.repeat(width[0])} | ${'-'.repeat(width[1] - 1)}: |\n${all.slice(1).map(line).join('\n')}\n\n`;
}
