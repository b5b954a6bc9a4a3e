'use strict';

const { createHash } = require('node:crypto');
const { relative } = require('node:path');
const swc = require('@swc/jest');
// Jest loads this file before it compiles anything.
require('./shared-scripts.cjs');

const versions = ['@swc/jest', '@swc/core'].map((name) => require(`${name}/package.json`).version);

/**
 * `@swc/jest` with two differences. Its key of the cache contains the whole configuration of the jest project, so that each project
 * compiles each file again, although what comes out depends on the options of swc only. And it writes the source map into each
 * file, which is then read and parsed in each test; here a map is a file of its own, or none with `sourceMaps: false`.
 */
module.exports = {
  createTransformer(options) {
    const transformer = swc.createTransformer({ ...options, sourceMaps: true });
    const common = JSON.stringify([versions, process.version, options]);
    return {
      ...transformer,
      process(...args) {
        const { code, map } = transformer.process(...args);
        return options.sourceMaps === false ? { code } : { code, map };
      },
      getCacheKey: (text, file, { config }) =>
        createHash('sha1')
          .update(`${common}\0${relative(config.rootDir, file)}\0`)
          .update(text)
          .digest('hex'),
    };
  },
};
