#!/usr/bin/env node
// npm run audit
//
// Asks the registry for known vulnerabilities of the packages in both lock files, its own and that of tools/ (npm audit).
// An advisory is accepted when docs/dependencies.md gives a reason beside its id (GHSA-…). The exit code is 0 when nothing
// else is found, 1 when something is, and 2 when the registry gave no answer: then nobody knows.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${root}docs/dependencies.md`, 'utf8');
const argued = new Set(
  [...page.matchAll(/^\| (GHSA(?:-[\da-z]{4}){3}) +\| `[^`]+` +\| [^|]{20,} \|$/gm)].map(([, id]) => id),
);

const advisories = new Map();
for (const folder of [root, `${root}tools`]) {
  for (const { name, via } of Object.values(audited(folder))) {
    for (const one of via) if (typeof one === 'object') advisories.set(`${one.url} ${name}`, { name, ...one });
  }
}
const open = [...advisories.values()].filter(({ url }) => !argued.has(url.slice(url.lastIndexOf('/') + 1)));
for (const { name, severity, title, url } of open) console.log(`${severity}: ${name}: ${title} (${url})`);
console.log(
  `${open.length || 'no'} advisories without a reason in docs/dependencies.md, ${advisories.size - open.length} with one`,
);
process.exitCode = open.length === 0 ? 0 : 1;

function audited(folder) {
  const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const report = parsed(stdout ?? '');
  if (report?.vulnerabilities !== undefined) return report.vulnerabilities;
  const reason = report?.message ?? report?.error?.summary ?? error?.message ?? stderr.trim().split('\n').at(-1);
  console.error(`The registry does not answer npm audit, so nothing is known about vulnerabilities: ${reason}`);
  process.exit(2);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
