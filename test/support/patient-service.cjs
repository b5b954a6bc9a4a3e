'use strict';

// Loaded before the built program (NODE_OPTIONS=--require). It makes the time limits of the program for the database ten
// times as long, or PATIENCE times, as test/support/patient-limits.ts does for a service inside a test.
const { readdirSync, readFileSync, realpathSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

/** How many times as long: a test that holds requests back for minutes asks for more. */
const times = Number(process.env.PATIENCE ?? 10);
/** The code of src/platform/database/time-limits.ts in the bundle. */
const limits = /(?<=\n\/\/ dist\/src\/platform\/database\/time-limits\.js\n)[^]*?\n\}\)\);/;

// Threads that hash passwords do not use the database.
if (isMainThread) {
  const bundle = join(dirname(realpathSync(process.argv[1])), 'bundle');
  const files = readdirSync(bundle).map((name) => join(bundle, name));
  const holders = files.filter((file) => limits.test(readFileSync(file, 'utf8')));
  if (holders.length !== 1) {
    throw new Error(`${holders.length} files of ${bundle} contain the time limits of the database: adapt the pattern`);
  }

  const compile = Module.prototype._compile;
  Module.prototype._compile = function (code, file, ...rest) {
    if (file !== holders[0]) return compile.call(this, code, file, ...rest);
    const patient = code.replace(limits, (module) =>
      module.replace(/(?<=exports\.\w+ = )\d[\d.e]*(?=;)/g, (number) => `${times * Number(number)}`),
    );
    if (patient === code) throw new Error(`the time limits in ${file} are no numbers: adapt the pattern`);
    return compile.call(this, patient, file, ...rest);
  };
}
