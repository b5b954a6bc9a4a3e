#!/usr/bin/env node
// npm run dev: runs the demo from the sources and restarts it when a source changes.
//
// Most of the start time is spent on loading packages. So a spare process loads them in advance and waits. After a
// change, it takes over in half the time that `node --watch` needs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = ['src', 'migrations', 'packages/bcrypt-pair/src', 'openapi.json', '.env'];
/** An editor writes several files when it saves all. */
const debounceMs = 50;

let running = startSpare();
let spare;
let timer;
let restarting = false;
let changed = false;

run(running);
for (const path of sources.map((name) => join(root, name)).filter(existsSync)) {
  watch(path, { recursive: true }, (_, file) => {
    if (file?.endsWith('.spec.ts')) return;
    clearTimeout(timer);
    timer = setTimeout(() => void restart(), debounceMs);
  });
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stopAll(signal));

function startSpare() {
  return fork(join(root, 'scripts/dev-process.cjs'), {
    cwd: root,
    execArgv: ['--enable-source-maps', '--require', join(root, 'scripts/typescript-hook.cjs'), ...process.execArgv],
  });
}

/** Starts the next spare process when `child` has loaded the demo, so that the two do not slow each other down. */
function run(child) {
  child.send('run');
  child.once('message', () => (spare ??= startSpare()));
}

async function restart() {
  changed = true;
  if (restarting) return;
  restarting = true;
  while (changed) {
    changed = false;
    console.log('Restarting …');
    await stop(running, 'SIGTERM');
    running = spare ?? startSpare();
    spare = undefined;
    run(running);
  }
  restarting = false;
}

async function stop(child, signal) {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function stopAll(signal) {
  await Promise.all([stop(running, signal), stop(spare, 'SIGKILL')]);
  process.exit(0);
}
