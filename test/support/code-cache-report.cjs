'use strict';

// node --require: reports at the end how many files were run from what V8 had compiled of them before (src/code-cache.ts).
const vm = require('node:vm');

let [cached, rejected] = [0, 0];
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    if (options?.cachedData === undefined) return;
    cached++;
    if (this.cachedDataRejected) rejected++;
  }
};
process.on('exit', () => process.stderr.write(`cached: ${cached}, rejected: ${rejected}\n`));
