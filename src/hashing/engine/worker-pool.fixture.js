'use strict';

// The worker that the tests of the pool start.
const { parentPort, threadId, workerData } = require('node:worker_threads');

parentPort.on('message', (order) => {
  if (order === 'die') process.exit(3);
  if (order === 'throw') throw new Error('not caught');
  if (order === 'fail') parentPort.postMessage({ error: 'refused' });
  else if (order === 'no descriptor') parentPort.postMessage({ error: 'too many open files', code: 'EMFILE' });
  else if (order === 'crowded') parentPort.postMessage({ value: threadId, crowded: true });
  else if (order === 'urgent') parentPort.postMessage({ value: process.argv.includes('urgent') ? 1 : 0 });
  else parentPort.postMessage({ value: order === 'data' ? workerData : threadId });
});
