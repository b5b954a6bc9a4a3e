'use strict';

// Loaded before the built program (NODE_OPTIONS=--require). It writes the files that the program has loaded when it ends.
const { writeFileSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.env.LOADED_FILES !== undefined) {
  process.on('exit', () => writeFileSync(process.env.LOADED_FILES, JSON.stringify(Object.keys(require.cache))));
}
