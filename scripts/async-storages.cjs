'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');

const entered = new Set();

for (const name of ['run', 'enterWith']) {
  const method = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...args) {
    entered.add(this);
    return method.apply(this, args);
  };
}

/**
 * Up to Node 22, every AsyncLocalStorage that was entered once is copied to each new promise until it is disabled. Jest enters one
 * for each test file and leaves it enabled, so that after a hundred files each promise of a worker costs a hundred copies.
 */
exports.disableAll = () => {
  for (const storage of entered) storage.disable();
  entered.clear();
};
