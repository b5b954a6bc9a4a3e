#!/usr/bin/env node
// node deploy/check-image.mjs [--keep]
//
// What `docker build` would do, without Docker: takes the files that .dockerignore lets through to an empty directory,
// runs the steps of the first stage there, copies what the last stage copies into another, and starts that as a user who
// is not root and may write nothing. Some minutes; needs the package registry, a compiler and Python, and to be root for
// the change of user. What it cannot show: that the base image has what the steps need (Node is that of this machine).
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'image-'));
const [build, image] = [join(work, 'build'), join(work, 'image')];
const [first, last] = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replace(/\\\n/g, ' ')
  .split(/^FROM /m)
  .slice(1)
  .map(instructions);

try {
  takeContext();
  for (const [name, argument] of first) if (name === 'RUN' && !argument.startsWith('apt-get')) run(argument);
  assemble();
  assertLean();
  await assertRuns();
  console.log('the image holds what it needs, and runs');
} finally {
  if (process.argv.includes('--keep')) console.log(work);
  else {
    makeWritable(work);
    rmSync(work, { recursive: true, force: true });
  }
}

function instructions(stage) {
  return [...stage.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name, argument]) => [name, argument.trim()]);
}

/** The files that git knows, or would know, out of those that .dockerignore lets through: nobody's build, nobody's data. */
function takeContext() {
  const sent = [...readFileSync(join(root, '.dockerignore'), 'utf8').matchAll(/^!(.*)$/gm)].map(([, name]) => name);
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...sent];
  const { stdout, status } = spawnSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error('this needs a git checkout');
  for (const name of stdout.split('\0').filter((one) => one !== '' && !one.endsWith('.spec.ts'))) {
    cpSync(join(root, name), join(build, name), { recursive: true });
  }
}

function run(command) {
  console.log(`RUN ${command}`);
  const began = performance.now();
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const { status } = spawnSync('/bin/sh', ['-c', command], { cwd: build, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`"${command}" ended with ${status}`);
  console.log(`    ${Math.round((performance.now() - began) / 1000)} s`);
}

function assemble() {
  mkdirSync(image);
  for (const [name, argument] of last) {
    if (name !== 'COPY') continue;
    const [, from, to] = /^--from=build \/app\/(\S+) (\S+)$/.exec(argument) ?? [];
    if (from === undefined) throw new Error(`a step that this script does not know: COPY ${argument}`);
    cpSync(join(build, from), to === './' ? join(image, from) : join(image, to), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  rmSync(build, { recursive: true });
}

function assertLean() {
  const { devDependencies, dependencies } = JSON.parse(readFileSync(join(image, 'package.json'), 'utf8'));
  const packages = new Set(readdirSync(join(image, 'node_modules')));
  for (const name of ['typescript', 'jest', 'vite', 'eslint', '@nestjs/cli']) {
    if (!(name in devDependencies)) continue;
    if (packages.has(name)) throw new Error(`${name} is a package of development, and in the image`);
  }
  for (const name of Object.keys(dependencies)) lstatSync(join(image, 'node_modules', name));
  const { stdout } = spawnSync('du', ['-sm', image], { encoding: 'utf8' });
  console.log(`    ${stdout.split('\t')[0]} MB beside Node`);
}

/** Migrates a database outside the tree, starts, answers, has written nothing, ends by SIGTERM with 0. */
async function assertRuns() {
  const [, user] = last.find(([name]) => name === 'USER');
  const [uid, gid] = user.split(':').map(Number);
  const asUser = process.getuid() === 0 ? { uid, gid } : {};
  const data = join(work, 'data');
  mkdirSync(data);
  makeReadOnly(image);
  chmodSync(work, 0o755);
  chmodSync(data, 0o777);

  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: `sqlite:${join(data, 'auth.sqlite')}`,
    SYSTEM_URL: 'https://portal.example.com',
    JWT_SECRET: randomBytes(32).toString('hex'),
    DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  const options = { cwd: image, env, ...asUser };
  const cli = (...args) => {
    const { status, stderr } = spawnSync(process.execPath, ['dist/src/cli.js', ...args], {
      ...options,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`cli ${args.join(' ')}: ${stderr}`);
  };
  cli('migrate');
  cli('doctor');
  const [command, ...args] = JSON.parse(last.find(([name]) => name === 'CMD')[1]);
  const service = spawn(command, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(service, 'exit');
  try {
    const health = JSON.parse(/CMD (\[.*\])$/.exec(last.find(([name]) => name === 'HEALTHCHECK')[1])[1]);
    await within(20, () => spawnSync(health[0], health.slice(1), options).status === 0);
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`);
    const challenge = await fetch(`http://127.0.0.1:${port}/captcha/challenge`);
    if (!ready.ok || !challenge.ok) throw new Error(`ready ${ready.status}, challenge ${challenge.status}`);
  } finally {
    service.kill('SIGTERM');
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`SIGTERM ended it with ${code}`);
  if (readdirSync(image).includes('data')) throw new Error('it wrote into its tree');
}

async function within(seconds, attempt) {
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(200)) {
    if (attempt()) return;
  }
  throw new Error(`not healthy within ${seconds} s`);
}

function makeReadOnly(directory) {
  spawnSync('chmod', ['-R', 'a-w,a+rX', directory]);
}

function makeWritable(directory) {
  spawnSync('chmod', ['-R', 'u+w', directory]);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
