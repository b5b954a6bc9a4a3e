'use strict';

/** Options of swc for jest and `npm run dev`. Like tsc, swc then emits CommonJS with decorators and their metadata. */
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
