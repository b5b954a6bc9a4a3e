#!/usr/bin/env node
// npm start: builds the project if needed, then runs the demo in this process.
import { join } from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';

process.chdir(root);
await ensureBuilt();
await import(join(root, 'dist/src/demo.js'));
