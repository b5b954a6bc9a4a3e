'use strict';

// The thread that computes password hashes (ADR 0004). It is plain JavaScript, so that the same file runs beside the
// compiled program and beside the TypeScript sources under test.
//
// The calls are synchronous, because the thread has nothing else to do. The asynchronous functions of the native
// library would use libuv's thread pool, which DNS look-ups and file access need.
const { comparePair } = require('@portal-auth/bcrypt-pair');
const { parentPort, workerData } = require('node:worker_threads');
const { digestOf, matchesForeign } = require('./derive-key.js');
const { Politeness } = require('./politeness.js');

const politeness = new Politeness({ urgent: process.argv.includes('urgent') });

const bcrypt = require(workerData.module);
const costOption = (cost) => (workerData.name === 'native' ? { cost } : cost);
const compare = ({ password, hash }) => bcrypt.compareSync(password, hash);

/**
 * One hash, one comparison with a hash of another system, one comparison, or two comparisons at once. `comparePair` is
 * null where WebAssembly cannot run.
 */
function answer({ hash, foreign, comparisons }) {
  if (foreign?.hash.digest) return compare(digestOf(foreign.hash, foreign.password));
  if (foreign) return matchesForeign(foreign.hash, foreign.password);
  if (hash) return bcrypt.hashSync(hash.password, costOption(hash.cost));
  const [first, second] = comparisons;
  return (second && comparePair(first, second)) ?? comparisons.map(compare);
}

parentPort.on('message', (request) => {
  try {
    parentPort.postMessage({ value: answer(request), crowded: politeness.isCrowded() });
  } catch (error) {
    parentPort.postMessage({ error: error.message, code: error.code });
  }
});
