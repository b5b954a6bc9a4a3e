'use strict';

// Loaded before the built program (NODE_OPTIONS=--require). It makes the time limits of the program for the database ten
// times as long, or PATIENCE times, as test/support/patient-limits.ts does for a service inside a test.
const { readdirSync, readFileSync, realpathSync } = require('node:fs');
const Module = require('node:module');
const { basename, dirname, join, resolve } = require('node:path');
const { isMainThread } = require('node:worker_threads');

/** How many times as long: a test that holds requests back for minutes asks for more. */
const times = Number(process.env.PATIENCE ?? 10);
const heading = '\n// dist/src/platform/database/time-limits.js\n';
/** The code of src/platform/database/time-limits.ts in the bundle. */
const limits = /(?<=\n\/\/ dist\/src\/platform\/database\/time-limits\.js\n)[^]*?\n\}\)\);/;

// Threads that hash passwords do not use the database.
if (isMainThread) {
  const [, started] = process.argv;
  const isHost = basename(started) === 'command-host.cjs';
  const bundle = join(dirname(realpathSync(isHost ? resolve(__dirname, '../../dist/src/cli.js') : started)), 'bundle');
  const files = readdirSync(bundle).filter((name) => name.endsWith('.js'));
  // Every start of a patient process looks for it, so text is made only of the file that holds it.
  const holders = files
    .map((name) => join(bundle, name))
    .filter((file) => {
      const code = readFileSync(file);
      return code.includes(heading) && limits.test(code.toString());
    });
  if (holders.length !== 1) {
    throw new Error(`${holders.length} files of ${bundle} contain the time limits of the database: adapt the pattern`);
  }

  // The program compiles the other files from its code cache (src/code-cache.ts), past every hook of the compiler. The cache does
  // not fit this text, so the program compiles it.
  const load = Module._extensions['.js'];
  Module._extensions['.js'] = (module, file) => {
    if (file !== holders[0]) return load(module, file);
    const code = readFileSync(file, 'utf8');
    const patient = code.replace(limits, (found) =>
      found.replace(/(?<=exports\.\w+ = )\d[\d.e]*(?=;)/g, (number) => `${times * Number(number)}`),
    );
    if (patient === code) throw new Error(`the time limits in ${file} are no numbers: adapt the pattern`);
    module._compile(patient, file);
  };
}
