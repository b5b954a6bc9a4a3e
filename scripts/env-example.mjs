#!/usr/bin/env node
// node scripts/env-example.mjs [--check]: writes .env.example from the tables of docs/settings.md, or checks that it is
// up to date. A test compares that page with the settings that the program reads, so the example lists all of them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${root}docs/settings.md`, 'utf8');
const target = `${root}.env.example`;

const lines = [
  '# Every setting with its default, made from docs/settings.md by `npm run env-example`. Copy it to .env, remove the "#" before',
  '# a setting and give it a value. An empty value counts as not set. `node --env-file=.env dist/src/main.js` reads the file.',
];
for (const line of page.split('\n')) {
  const heading = /^## (.+)$/.exec(line);
  if (heading) lines.push('', `# --- ${heading[1]} ---`);
  const cells = line.startsWith('| `') ? line.split(/(?<!\\)\|/).map((cell) => cell.trim()) : [];
  if (cells.length < 5) continue;
  const [, keys, standard, what] = cells;
  lines.push('', ...wrapped([sentence(what), `Default: ${plain(standard)}`].filter(Boolean).join(' ')));
  for (const [, key] of keys.matchAll(/`([A-Z][A-Z0-9_]+)`/g)) lines.push(`#${key}=`);
}
const text = `${lines.join('\n')}\n`;

if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error('.env.example does not match docs/settings.md: run `npm run env-example`');
  process.exitCode = 1;
}

function plain(markdown) {
  return markdown
    .replace(/`/g, '')
    .replace(/\\\|/g, '|')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
}

function sentence(markdown) {
  const words = plain(markdown);
  return words === '' || /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Breaks a text into comment lines of at most 100 characters. */
function wrapped(words) {
  const made = ['#'];
  for (const word of words.split(' ')) {
    if (made.at(-1).length + 1 + word.length > 100) made.push('#');
    made[made.length - 1] += ` ${word}`;
  }
  return made;
}
