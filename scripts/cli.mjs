#!/usr/bin/env node
// npm run cli -- …: the command line in a checkout, built when it has to be.
import { join } from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';

ensureBuilt();
await import(join(root, 'dist/src/cli.js'));
