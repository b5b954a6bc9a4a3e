#!/usr/bin/env node
// npm run check:deps: the rules of ranks and doors (test/architecture/ranks.cjs).
import { spawnSync } from 'node:child_process';
import { argv, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

import { installTools } from './install.mjs';

installTools();
const program = fileURLToPath(new URL('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', import.meta.url));
const cwd = fileURLToPath(new URL('..', import.meta.url));
const args = ['--config', 'test/architecture/ranks.cjs', ...argv.slice(2), 'src'];
exit(spawnSync(execPath, [program, ...args], { cwd, stdio: 'inherit' }).status ?? 1);
