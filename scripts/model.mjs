#!/usr/bin/env node
// npm run model -- [--histories 2000] [--database sqlite|mariadb] [--seed N] [--path P] [--history FILE]
//
// Replays random histories against the model of the specification (test/model). Prints the seed. A history that fails is
// shortened and printed. --path goes straight to the failing history of a seed. --history replays one JSON file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '2000' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    path: { type: 'string' },
    history: { type: 'string' },
  },
});

const env = { ...process.env, MODEL_HISTORIES: values.histories, MODEL_SEED: values.seed };
if (values.path !== undefined) env.MODEL_PATH = values.path;
if (values.history !== undefined) env.MODEL_FILE = resolve(values.history);
else console.log(`${values.histories} histories on ${values.database}, seed ${values.seed}`);

const jest = [
  require.resolve('jest/bin/jest'),
  'test/db/model',
  '--selectProjects',
  `db-${values.database}`,
  '-w',
  '1',
];
const child = spawn(process.execPath, jest, { cwd: ROOT, env, stdio: 'inherit' });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
