import { readFileSync, statSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

// The bundle puts this code behind process-start.ts, before all else. Nothing imports it.

interface CompiledModule extends NodeModule {
  _compile(this: CompiledModule, content: string, filename: string, ...more: unknown[]): unknown;
}
const prototype = Module.prototype as unknown as CompiledModule;
const compile = prototype._compile;
const bundle = join(__dirname, 'bundle');

/**
 * Beside each file of the bundle the build writes what V8 has compiled of it (scripts/code-cache.mjs, ADR 0015), so that a start does not
 * compile it again. V8 refuses what another version of it or other flags have made, and compiles the file then.
 */
prototype._compile = function (content, filename, ...more) {
  const cachedData = dirname(filename) === bundle ? compiledOf(filename) : undefined;
  if (cachedData === undefined) return compile.call(this, content, filename, ...more);
  const wrapper = new Script(Module.wrap(content), { filename, cachedData }).runInThisContext() as (
    ...args: unknown[]
  ) => unknown;
  return wrapper.call(this.exports, this.exports, createRequire(filename), this, filename, bundle);
};

/** V8 compares the length of the file only, so the cache of a file that was changed after the build does not count. */
function compiledOf(filename: string): Buffer | undefined {
  const cache = `${filename}.cache`;
  try {
    return statSync(cache).mtimeMs >= statSync(filename).mtimeMs ? readFileSync(cache) : undefined;
  } catch {
    return undefined;
  }
}
