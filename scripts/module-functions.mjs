/**
 * Turns the arrow functions around the modules of a bundle into `(function() {…})`. V8 compiles such a function at once. It
 * compiles an arrow function twice, the first time only to find its end (docs/adr/0015-bundle.md).
 * @param {string} code a chunk that rolldown has made
 */
export function withModuleFunctions(code) {
  return code.replace(/(__(?:commonJS|esm)Min\(\()(?:(\w+)|\(([\w$, ]*)\)) ?=> ?\{/g, '$1function($2$3){');
}

const copyOfModule = /__toCommonJS = \((\w+)\) => (.+);/;

/**
 * Lets `__toCommonJS` of rolldown make one CommonJS copy of each ES module. Rolldown makes a copy at each `require`, with a
 * property and a bound function for each export: 400 copies of TypeORM and Nest (docs/adr/0015-bundle.md).
 * @param {string} code the chunk with the run time of rolldown
 */
export function withOneCopyOfModules(code) {
  if (!copyOfModule.test(code))
    throw new Error('the run time of rolldown has changed: adapt scripts/module-functions.mjs');
  return code.replace(copyOfModule, (_all, name, copy) =>
    [
      'copies = new WeakMap();',
      `var __toCommonJS = (${name}) => {`,
      `  if (!copies.has(${name})) copies.set(${name}, ${copy});`,
      `  return copies.get(${name});`,
      '};',
    ].join('\n'),
  );
}
