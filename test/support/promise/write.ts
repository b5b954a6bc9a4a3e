// npm run promise [-- --break]
//
// Records what the present code promises in test/promise. It refuses a record that breaks the one before, unless
// --break says that a new major version begins.
import 'reflect-metadata';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakingChanges } from '../../../scripts/breaking-changes.mjs';
import { brokenPromises, type Recorded } from './broken-promises';
import { present, presentWire, promiseFolder, recorded } from './present';

const file = (kind: string): string => join(promiseFolder, `${kind}.json`);

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const made = new Map<string, unknown>([['wire', presentWire()]]);
  for (const [kind, read] of Object.entries(present)) made.set(kind, await read());

  const broken = [...made].flatMap(([kind, now]) => {
    if (!existsSync(file(kind))) return [];
    const before = recorded(kind);
    return kind === 'wire'
      ? breakingChanges(before as never, now as never)
      : brokenPromises(kind, before as Recorded, now as Recorded);
  });
  for (const line of broken) print(line);
  if (broken.length > 0 && !process.argv.includes('--break')) {
    print(`${broken.length} promises are broken, and nothing was written`);
    process.exitCode = 1;
    return;
  }
  for (const [kind, now] of made) {
    const text = JSON.stringify(now, undefined, kind === 'wire' ? 0 : 2);
    writeFileSync(file(kind), `${text}\n`);
  }
  print(`recorded ${[...made.keys()].join(', ')}`);
}

void main().then(() => process.exit());
