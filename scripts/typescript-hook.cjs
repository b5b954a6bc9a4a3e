'use strict';

// For `npm run dev`: lets `node --require` run the TypeScript sources of src/ without a build and without type checks.
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');
const options = require('./swc-options.cjs');

require.extensions['.ts'] = (module, filename) => {
  module._compile(transformSync(readFileSync(filename, 'utf8'), { ...options, filename }).code, filename);
};
