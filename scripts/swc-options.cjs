'use strict';

/** How swc compiles our own TypeScript for jest and for `npm run dev`: CommonJS with decorators and their metadata, as tsc does. */
module.exports = {
  swcrc: false,
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};
