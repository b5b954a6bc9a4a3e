'use strict';

// node --require: reports at the end which files of the bundle had a V8 code cache, and what V8 said of it (src/code-cache.ts).
const Module = require('node:module');
const { basename, dirname } = require('node:path');
const vm = require('node:vm');

let [cached, rejected] = [0, 0];
const compiled = [];

// The program calls this one for a file without a cache.
const compile = Module.prototype._compile;
Module.prototype._compile = function (content, filename, ...more) {
  if (basename(dirname(filename)) === 'bundle') compiled.push(basename(filename));
  return compile.call(this, content, filename, ...more);
};

const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    if (options?.cachedData === undefined) return;
    cached++;
    if (this.cachedDataRejected) rejected++;
  }
};
process.on('exit', () => process.stderr.write(`code cache: ${JSON.stringify({ cached, rejected, compiled })}\n`));
