#!/usr/bin/env node
// npm run check:image [-- --keep]
//
// Does the work of `docker build` and `docker run --read-only` without a container engine. It creates an empty Debian
// with the release and the Node version that the Dockerfile names, and runs the steps of the first stage there. It runs
// the steps of the last stage in a second empty Debian. Then it starts the service there as process 1, as the user of
// the Dockerfile, in a read-only file system. The check takes about five minutes. It needs root on Debian, the Debian
// packages and the package registry.
// docs/operations/kubernetes.md#checks-of-the-image-and-the-manifests describes the checks.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runConfined, startConfined } from './image/confined.mjs';
import { makeDebianRoot, missingForDebianRoot } from './image/debian-root.mjs';
import { openCounterparts, useService, within } from './image/use.mjs';
import { last, readCommand, readCopy, readEnv, releaseOf, stagesOf } from './image/dockerfile.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));
const missing = missingForDebianRoot();
if (missing === undefined) await check();
else console.log(`check:image skipped: it builds the image in an empty Debian, and ${missing}`);

async function check() {
  const [build, image] = stagesOf(join(project, 'Dockerfile'));
  const work = mkdtempSync(join(tmpdir(), 'image-'));
  const roots = { context: join(work, 'context'), [build.name]: join(work, 'build'), '': join(work, 'image') };
  try {
    takeContext(roots.context);
    const release = releaseOf(build.image);
    if (image.image !== build.image) throw new Error('the stages have different base images');
    timed(`FROM ${build.image}: Debian ${release.debian}, Node ${release.node}`, () => {
      makeDebianRoot(roots[build.name], release);
      spawnSync('cp', ['-a', '--reflink=auto', roots[build.name], roots['']]);
    });
    carryOut(build.steps, roots[build.name], roots);
    const { cwd, env } = carryOut(image.steps, roots[''], roots);
    assertLean(roots[''], cwd, release.node);
    tellSizes(roots, cwd);
    await assertRuns(image.steps, { root: roots[''], cwd, env, data: join(work, 'data') });
    console.log('the image holds what it needs, and runs');
  } finally {
    if (process.argv.includes('--keep')) console.log(work);
    else spawnSync('rm', ['-rf', '--one-file-system', work]);
  }
}

/** Copies the files that git tracks or would track, and that .dockerignore admits. Leaves out builds and local data. */
function takeContext(target) {
  const rules = readFileSync(join(project, '.dockerignore'), 'utf8');
  const sent = [...rules.matchAll(/^!(.*)$/gm)].map(([, name]) => name);
  // `**/name` leaves out that file or folder, and `*` stands for any part of a name.
  const left = [...rules.matchAll(/^\*\*\/(.*)$/gm)].map(([, name]) =>
    name.replaceAll('.', '\\.').replaceAll('*', '[^/]*'),
  );
  const leftOut = new RegExp(`(^|/)(${left.join('|')})(/|$)`);
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...sent];
  const { stdout, status } = spawnSync('git', list, { cwd: project, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error('this needs a git checkout');
  for (const name of stdout.split('\0').filter((one) => one !== '' && !leftOut.test(one))) {
    cpSync(join(project, name), join(target, name));
  }
}

/** Runs the instructions of a stage in order. Throws for an unknown one, because skipping it would hide a fault. */
function carryOut(steps, root, roots) {
  let [cwd, env] = ['/', {}];
  const kinds = {
    WORKDIR: (argument) => mkdirSync(join(root, (cwd = argument)), { recursive: true }),
    ENV: (argument) => (env = { ...env, ...readEnv(argument) }),
    RUN: (argument) => timed(`RUN ${argument}`, () => run(argument, { root, cwd }, env)),
    COPY: (argument) => copy(readCopy(argument), { root, cwd }, roots),
  };
  const toldOnly = ['LABEL', 'USER', 'EXPOSE', 'HEALTHCHECK', 'CMD'];
  for (const [name, argument] of steps) {
    if (toldOnly.includes(name)) continue;
    if (kinds[name] === undefined) throw new Error(`an instruction that this script does not know: ${name}`);
    kinds[name](argument);
  }
  return { cwd, env };
}

/**
 * Runs a command. npm uses the registry and the certificates of this machine, and native packages use the headers of
 * Node in /usr/local, which the image would download. Nothing of this stays in the file system of the image.
 */
function run(command, place, env) {
  const { stdout: registry } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: project });
  const outside = { HOME: '/root', npm_config_registry: registry.trim(), npm_config_nodedir: '/usr/local' };
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy']) {
    if (process.env[name] !== undefined) outside[name] = process.env[name];
  }
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined) {
    const folder = join(place.root, '../outside');
    cpSync(authorities, join(folder, 'ca.pem'), { dereference: true });
    Object.assign(place, { writable: folder });
    outside.NODE_EXTRA_CA_CERTS = '/mnt/ca.pem';
  }
  const { status, stdout, stderr } = runConfined(place, ['sh', '-c', command], { env: { ...outside, ...env } });
  if (status !== 0) throw new Error(`"${command}" ended with ${status}\n${stdout.slice(-3000)}${stderr.slice(-3000)}`);
}

/** Copies as COPY does: a file goes into the target; of a folder, its content does. */
function copy({ from = 'context', sources, target }, { root, cwd }, roots) {
  for (const source of sources) {
    const found = join(roots[from], source);
    const to = join(
      root,
      resolve(cwd, target),
      statSync(found).isDirectory() ? '' : target.endsWith('/') ? source.split('/').at(-1) : '',
    );
    cpSync(found, to, { recursive: true, verbatimSymlinks: true });
  }
}

function assertLean(root, cwd, major) {
  const packages = readdirSync(join(root, cwd, 'node_modules'));
  for (const name of ['typescript', 'rolldown', 'jest', 'vite', 'eslint', 'typeorm', 'rxjs']) {
    if (packages.includes(name)) throw new Error(`${name} is in the image, and nothing loads it from there`);
  }
  const shut = spawnSync('find', [join(root, cwd), '!', '-perm', '-o=r'], { encoding: 'utf8' }).stdout;
  if (shut !== '') throw new Error(`not every user can read\n${shut}`);
  for (const program of ['npm', 'npx', 'corepack', 'gcc', 'g++', 'make', 'python3']) {
    const { status } = runConfined({ root }, ['sh', '-c', `command -v ${program}`]);
    if (status === 0) throw new Error(`${program} is in the image`);
  }
  const version = runConfined({ root }, ['node', '--version']).stdout.trim();
  if (!version.startsWith(`v${major}.`)) throw new Error(`Node ${version} in place of ${major}`);
  console.log(`    ${version}; no npm, no compiler, nothing of development`);
}

/** Prints the size of the program in the image, and that of `dist` with all packages that are not for development. */
function tellSizes(roots, cwd) {
  const build = { root: roots.build, cwd };
  run('npm prune --omit=dev', build, {});
  const size = (...paths) => {
    const lines = spawnSync('du', ['-cm', '--exclude=*.map', '--exclude=typescript', ...paths], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
    return lines.at(-1).split('\t')[0];
  };
  const whole = ['dist', 'node_modules'].map((name) => join(roots.build, cwd, name));
  console.log(`    ${size(join(roots[''], cwd))} MB beside Node; dist and all packages would be ${size(...whole)} MB`);
}

/** Runs the service as the user of the Dockerfile, and as a number that OpenShift might choose, with the group root. */
async function assertRuns(steps, { root, cwd, env: ofImage, data }) {
  // Even root cannot write, so the file system is read-only and not only owned by another user.
  const place = { root, cwd, readOnly: true, writable: data };
  mkdirSync(data);
  const written = runConfined({ ...place, user: '0:0' }, ['sh', '-c', 'echo > ./written || echo > /tmp/written']);
  if (written.status === 0) throw new Error('the tree can be written to');
  for (const user of [last(steps, 'USER'), '1000660000:0']) {
    const own = join(data, user.replace(':', '-'));
    mkdirSync(own);
    chmodSync(own, 0o777);
    console.log(`as ${user}`);
    await assertRunsAs(steps, { ...place, user, writable: own }, ofImage);
  }
}

/** The service migrates, starts, serves a login, sends a mail and traces, is healthy, and ends with 0 after SIGTERM. */
async function assertRunsAs(steps, place, ofImage) {
  const port = await freePort();
  const counterparts = await openCounterparts();
  const env = {
    ...ofImage,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: 'sqlite:/mnt/auth.sqlite',
    SYSTEM_URL: 'https://portal.example.com',
    JWT_SECRET: randomBytes(32).toString('hex'),
    DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  const attempt = (...command) => runConfined(place, command, { env });
  const must = (...command) => {
    const { status, stdout, stderr } = attempt(...command);
    if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  };
  // These commands get no mail server and no trace collector, because this process is blocked and could not answer.
  const cli = (...args) => must('node', 'dist/src/cli.js', ...args);

  // If this binary does not load, the service hashes with JavaScript, which is slower.
  must('node', '-e', `require('@node-rs/bcrypt').hashSync('x', { cost: 4 })`);
  // If this one does not load, users with imported argon2id hashes cannot log in.
  must('node', '-e', `require('@node-rs/argon2').hashSync('x', { memoryCost: 8 })`);
  const user = { username: 'image', password: 'Correct-Horse-7', email: 'image@example.com' };
  cli('migrate');
  cli('doctor');
  cli('user', 'create', '--login-name', user.username, '--email', user.email, '--password', user.password);

  const { child, pid } = startConfined(place, readCommand(last(steps, 'CMD')), {
    env: { ...env, ...counterparts.env },
  });
  const ended = once(child, 'exit');
  const healthy = () => attempt(...readCommand(last(steps, 'HEALTHCHECK'))).status === 0;
  try {
    await within(20, healthy, 'a healthy service');
    await useService(`http://127.0.0.1:${port}`, counterparts, user);
    process.kill(pid(), 'SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`SIGTERM ended it with ${code}`);
    if (counterparts.traces.length === 0) throw new Error('no trace was sent');
  } finally {
    child.kill('SIGKILL');
    counterparts.close();
  }
  if (healthy()) throw new Error('the health check finds it healthy when it is gone');
  cli('purge');
}

function timed(what, work) {
  console.log(what);
  const began = performance.now();
  work();
  console.log(`    ${Math.round((performance.now() - began) / 1000)} s`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
