'use strict';

// node --require scripts/record-code.cjs dist/src/PROGRAM.js: writes the V8 code caches of the bundle at its end (scripts/code-cache.mjs).
const { createHash } = require('node:crypto');
const { writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const compiled = join(__dirname, '../dist/src');
const scripts = new Map();
const compile = Module.prototype._compile;

Module.prototype._compile = function (content, filename, ...more) {
  // A script with a cache cannot import modules, so Node itself runs the few files with `import()`. A method of the service is named
  // `import` and takes an object; a call with one would not pass the type check.
  const isRecorded = dirname(filename) === join(compiled, 'bundle') && !/(?<!\.)\bimport\((?!\{)/.test(content);
  if (!isRecorded) return compile.call(this, content, filename, ...more);
  const script = new Script(Module.wrap(content), { filename });
  scripts.set(filename, { script, content });
  const require = Module.createRequire(filename);
  return script.runInThisContext().call(this.exports, this.exports, require, this, filename, dirname(filename));
};

process.on('exit', () => {
  // V8 accepts a cache only with the flags with which it was made. This file sets those of the start.
  require(join(compiled, 'process-start.js'));
  for (const [filename, { script, content }] of scripts) {
    const cache = script.createCachedData();
    const digest = createHash('sha256').update(content).update(cache).digest();
    writeFileSync(`${filename}.cache`, Buffer.concat([digest, cache]));
  }
});
