'use strict';

const vm = require('node:vm');
const asyncStorages = require('./async-storages.cjs');

const { compileFunction } = vm;
const scripts = new Map();
let current;

/**
 * Jest compiles each module anew for each test file, with `vm.compileFunction`. A script can run in many contexts, so that a
 * worker compiles a module once: each test file still has modules and globals of its own, made of the same compiled code.
 */
vm.compileFunction = (source, parameters, { parsingContext, ...options } = {}) => {
  if (parsingContext === undefined) return compileFunction(source, parameters, options);
  // Each test file has a context of its own, so another context means that the test file before has ended.
  if (current !== parsingContext) asyncStorages.disableAll();
  current = parsingContext;
  const { filename, importModuleDynamically } = options;
  const head = `(function (${parameters.join(', ')}) {\n`;
  let known = scripts.get(filename);
  if (known?.source !== source || known.head !== head) {
    known = { source, head };
    const dynamic = (...args) => known.importModuleDynamically(...args);
    const whole = `${head}${source}\n})`;
    known.script = new vm.Script(whole, { filename, lineOffset: -1, importModuleDynamically: dynamic });
    scripts.set(filename, known);
  }
  known.importModuleDynamically = importModuleDynamically;
  return known.script.runInContext(parsingContext);
};
