'use strict';

const vm = require('node:vm');
const asyncStorages = require('./async-storages.cjs');

const { compileFunction } = vm;
const scripts = new Map();
/** How each module of the current test file imports others. It leads to all that the file has made, so it ends with the file. */
const importers = new Map();
let current = new WeakRef({});

/**
 * Jest compiles each module anew for each test file, with `vm.compileFunction`. A script can run in many contexts, so that a
 * worker compiles a module once: each test file still has modules and globals of its own, made of the same compiled code.
 */
vm.compileFunction = (source, parameters, { parsingContext, ...options } = {}) => {
  if (parsingContext === undefined) return compileFunction(source, parameters, options);
  // Each test file has a context of its own, so another context means that the test file before has ended.
  if (current.deref() !== parsingContext) {
    current = new WeakRef(parsingContext);
    asyncStorages.disableAll();
    importers.clear();
  }
  const { filename, importModuleDynamically } = options;
  importers.set(filename, importModuleDynamically);
  const head = `(function (${parameters.join(', ')}) {\n`;
  let known = scripts.get(filename);
  if (known?.source !== source || known.head !== head) {
    const dynamic = (...args) => importers.get(filename)(...args);
    const whole = `${head}${source}\n})`;
    const script = new vm.Script(whole, { filename, lineOffset: -1, importModuleDynamically: dynamic });
    known = { source, head, script };
    scripts.set(filename, known);
  }
  return known.script.runInContext(parsingContext);
};
