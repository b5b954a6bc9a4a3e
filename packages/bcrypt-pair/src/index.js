'use strict';

const { costOf, inputOf, matchesDigest } = require('./bcrypt-text');
const { eksBlowfishModule, inputAddress, OUTPUT_BYTES, outputAddress } = require('./eks-blowfish');

/** @typedef {import('./index').Comparison} Comparison */
/** @typedef {{ memory: { buffer: ArrayBuffer }, run(rounds: number): void }} Core */

/** @type {Core | null | undefined} undefined until the first comparison, null where WebAssembly cannot run */
let core;

/** @type {typeof import('./index').comparePair} */
function comparePair(first, second) {
  const cost = costOf(first.hash);
  if (cost === null || cost !== costOf(second.hash)) {
    throw new TypeError('a pair needs two bcrypt hashes of one cost');
  }
  core ??= instantiate();
  if (core === null) return null;

  const memory = new Uint8Array(core.memory.buffer);
  memory.set(inputOf(first), inputAddress(0));
  memory.set(inputOf(second), inputAddress(1));
  core.run(2 ** cost);
  return [matches(first, 0), matches(second, 1)];

  /** @param {Comparison} comparison @param {number} lane */
  function matches({ hash }, lane) {
    return matchesDigest(hash, memory.slice(outputAddress(lane), outputAddress(lane) + OUTPUT_BYTES));
  }
}

/**
 * Creates an instance, with its own memory, for the thread that loads this file. V8 compiles equal bytes once for all
 * threads of a process.
 * @returns {Core | null}
 */
function instantiate() {
  try {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(eksBlowfishModule()));
    return /** @type {any} */ (instance.exports);
  } catch {
    // WebAssembly is missing, or the address space is too small: V8 reserves 10 GB of addresses for each memory.
    return null;
  }
}

module.exports = { comparePair };
