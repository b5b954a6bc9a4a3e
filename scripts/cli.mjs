#!/usr/bin/env node
// npm run cli -- …: builds the project if needed, then runs the command line in this process.
import { join } from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';

await ensureBuilt();
await import(join(root, 'dist/src/cli.js'));
