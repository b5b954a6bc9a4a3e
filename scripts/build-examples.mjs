#!/usr/bin/env node
// Packs the packages that are published, unpacks the tarballs in examples/node_modules, and builds the examples, which
// therefore use what a stranger installs. All other packages are those of this repository. Does nothing if nothing has
// changed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import './build-guard.mjs';
import './build-sdk.mjs';
import { buildWhenChanged } from './build-steps.mjs';
import { manifestOf, npm, pack, packages, root } from './packages.mjs';

const examples = join(root, 'examples');
const folders = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map(({ name }) => join(examples, name))
  // Other languages have no manifest. An example with a lock file has packages of its own.
  .filter((folder) => existsSync(join(folder, 'package.json')) && !existsSync(join(folder, 'package-lock.json')));
const installed = (one) => join(examples, 'node_modules', manifestOf(one).name);

await buildWhenChanged({
  name: 'examples',
  inputs: [
    fileURLToPath(import.meta.url),
    ...packages.flatMap(({ folder }) => ['dist', 'package.json', 'README.md'].map((name) => join(root, folder, name))),
    ...folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => !['dist', 'node_modules'].includes(name))
        .map((name) => join(folder, name)),
    ),
  ],
  outputs: [...packages.map((one) => join(installed(one), 'package.json')), ...folders.map((one) => join(one, 'dist'))],
  build: () => {
    const work = mkdtempSync(join(tmpdir(), 'packed-'));
    try {
      for (const one of packages) unpack(pack(one, work).tarball, installed(one));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    for (const folder of folders) npm(folder, 'run', '--silent', 'build');
  },
});

function unpack(tarball, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = spawnSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder]);
  if (status !== 0) throw new Error(`tar cannot unpack ${tarball}: ${stderr}`);
}
