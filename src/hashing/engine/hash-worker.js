'use strict';

// The thread that computes password hashes (ADR 0004). It is plain JavaScript, so that the same file runs beside the
// compiled program and beside the TypeScript sources under test.
//
// The calls are synchronous, because the thread has nothing else to do. The asynchronous functions of the native
// library would use libuv's thread pool, which DNS look-ups and file access need.
const { setPriority } = require('node:os');
const { parentPort, workerData } = require('node:worker_threads');
const { comparePair } = require('@portal-auth/bcrypt-pair');

// On Linux a thread has its own priority. Two steps below the event loop are enough for users who are signed in not to
// notice many logins. Ten steps would leave the hashes no time beside other busy programs (ADR 0004). On other platforms
// setPriority changes the whole process, so it is skipped there. A system may forbid the change (EACCES, EPERM). The
// thread then keeps its priority.
const steps = 2;
if (process.platform === 'linux') {
  try {
    setPriority(steps);
  } catch {}
}

const bcrypt = require(workerData.module);
const costOption = (cost) => (workerData.name === 'native' ? { cost } : cost);
const compare = ({ password, hash }) => bcrypt.compareSync(password, hash);

/** One hash, one comparison, or two comparisons at once. `comparePair` is null where WebAssembly cannot run. */
function answer({ hash, comparisons }) {
  if (hash) return bcrypt.hashSync(hash.password, costOption(hash.cost));
  const [first, second] = comparisons;
  return (second && comparePair(first, second)) ?? comparisons.map(compare);
}

parentPort.on('message', (request) => {
  try {
    parentPort.postMessage({ value: answer(request) });
  } catch (error) {
    parentPort.postMessage({ error: error.message });
  }
});
