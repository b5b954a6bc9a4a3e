'use strict';

// A process of `npm run dev`: loads the packages of the project at its start, and the demo when it receives a message.
const { dependencies } = require('../package.json');

for (const name of Object.keys(dependencies)) {
  try {
    require(name);
  } catch {
    // A package without a main file, for example one with sub-paths only. The demo loads it itself.
  }
}

process.once('message', () => {
  require('../src/demo.ts');
  process.send('loaded');
  process.disconnect();
});
