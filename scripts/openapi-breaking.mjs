#!/usr/bin/env node
// npm run openapi:breaking [-- OLD [NEW]]
//
// Compares two OpenAPI documents, each a file or a git revision. OLD defaults to the last release tag, NEW to
// openapi.json. The exit code is 1 when NEW breaks clients of OLD.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

import { breakingChanges } from './breaking-changes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [old = lastRelease(), now = `${root}openapi.json`] = argv.slice(2);

if (old === undefined) {
  console.log('there is no release tag (v*) yet, so there is nothing to compare with');
  exit(0);
}
const problems = breakingChanges(JSON.parse(read(old)), JSON.parse(read(now)));
for (const problem of problems) console.log(problem);
console.log(`${problems.length || 'no'} breaking changes since ${old}`);
exit(problems.length === 0 ? 0 : 1);

function lastRelease() {
  return git('tag', '--list', 'v*', '--sort=-version:refname', '--merged').split('\n').find(Boolean);
}

function read(source) {
  return existsSync(source) ? readFileSync(source, 'utf8') : git('show', `${source}:openapi.json`);
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
}
