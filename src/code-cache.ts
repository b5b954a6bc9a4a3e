import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
const digestLength = 32;

/**
 * The build writes a V8 code cache beside the files of the bundle (scripts/code-cache.mjs, ADR 0015), so that a start does not compile
 * them again. V8 refuses a cache of another version or of other flags, and compiles the file.
 */
prototype._compile = function (content, filename, ...more) {
  const cachedData = dirname(filename) === bundle ? cacheOf(content, filename) : undefined;
  if (cachedData === undefined) return compile.call(this, content, filename, ...more);
  const wrapper = new Script(Module.wrap(content), { filename, cachedData }).runInThisContext() as (
    ...args: unknown[]
  ) => unknown;
  return wrapper.call(this.exports, this.exports, createRequire(filename), this, filename, bundle);
};

/** V8 itself compares no more than the length of the file, so a cache begins with a digest of the file and of itself. */
function cacheOf(content: string, filename: string): Buffer | undefined {
  try {
    const file = readFileSync(`${filename}.cache`);
    const [digest, cache] = [file.subarray(0, digestLength), file.subarray(digestLength)];
    return createHash('sha256').update(content).update(cache).digest().equals(digest) ? cache : undefined;
  } catch {
    return undefined;
  }
}
