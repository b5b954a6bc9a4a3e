#!/usr/bin/env node
// npm run check:pairs -- [--database mariadb|sqlite]
//
// Starts the service with each two values of all settings that have few (test/db/settings-pairs), on MariaDB unless told
// otherwise. `npm test` takes at most three values of each setting, on SQLite.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const { values } = parseArgs({ options: { database: { type: 'string', default: 'mariadb' } } });

const jest = [require.resolve('jest/bin/jest'), 'test/db/settings-pairs', '--selectProjects', `db-${values.database}`];
const child = spawn(process.execPath, [...jest, '-w', '1'], {
  cwd: ROOT,
  env: { ...process.env, PAIRS: 'all' },
  stdio: 'inherit',
});
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
