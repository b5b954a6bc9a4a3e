'use strict';

// Lets `node --require` run the sources of src/ as they are, without a build and without checking types (`npm run dev`).
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');
const options = require('./swc-options.cjs');

require.extensions['.ts'] = (module, filename) => {
  module._compile(transformSync(readFileSync(filename, 'utf8'), { ...options, filename }).code, filename);
};
