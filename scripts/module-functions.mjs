/**
 * Turns the arrow functions around the modules of a bundle into `(function() {…})`. V8 compiles such a function at once. It
 * compiles an arrow function twice, the first time only to find its end (docs/adr/0015-bundle.md).
 * @param {string} code a chunk that rolldown has made
 */
export function withModuleFunctions(code) {
  return code.replace(/(__(?:commonJS|esm)Min\(\()(?:(\w+)|\(([\w$, ]*)\)) ?=> ?\{/g, '$1function($2$3){');
}
