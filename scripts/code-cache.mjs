// Writes a V8 code cache (`*.cache`) beside the files of the bundle that the programs load at their start (src/code-cache.ts, ADR 0015).
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Settings with which the service loads more files at its start. A start without them would leave these files without a cache. */
const everythingOn = () => ({
  ...Object.fromEntries(['PORTAL', 'ADMIN_API', 'OIDC', 'SCIM', 'EVENT_RECEIVERS'].map((name) => [name, 'on'])),
  OIDC_PRIVATE_KEY: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }),
});

/** Starts both programs once, on a database that is deleted. The service is last, because it runs more of the files that both have. */
export async function writeCodeCache() {
  const directory = mkdtempSync(join(tmpdir(), 'code-cache-'));
  const env = {
    PATH: process.env.PATH,
    JWT_SECRET: randomBytes(48).toString('base64'),
    DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
    SYSTEM_URL: 'https://portal.example.com',
    HOST: '127.0.0.1',
    PORT: '0',
  };
  try {
    await run(env, 'cli', 'migrate');
    await run({ ...env, ...everythingOn() }, 'main');
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The service ends when it listens. @throws Error with the output of a program that fails */
async function run(env, program, ...args) {
  const recorder = ['--require', join(root, 'scripts/record-code.cjs')];
  // A program that neither listens nor ends must not hold up the build for ever.
  const timeout = 180_000;
  const child = spawn(process.execPath, [...recorder, join(root, `dist/src/${program}.js`), ...args], {
    cwd: root,
    env,
    timeout,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (output.includes('"listening"')) child.kill('SIGINT');
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} has not run for its code cache:\n${output}`);
}
