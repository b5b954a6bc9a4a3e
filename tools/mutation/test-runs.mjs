/** Runs single test files of the instrumented copy in jest, by a plan for `environment.cjs`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A run that writes nothing for this time hangs: a single test ends much earlier. */
const PATIENCE_MS = 240_000;

/**
 * Calls `onLine` for each line that the environment writes, so that an interrupted run keeps what it found. Runs at the same
 * time have different `worker` numbers.
 * @returns jest's exit code, and whether the run was stopped because it hung
 */
export async function runTests(folder, { project, files, plan, worker = 0 }, onLine) {
  const planFile = join(folder, `.mutation-plan-${worker}.json`);
  const output = join(folder, `.mutation-output-${worker}.jsonl`);
  writeFileSync(output, '');
  writeFileSync(planFile, JSON.stringify({ ...plan, output }));
  const log = openSync(join(folder, `.mutation-jest-${worker}.log`), 'w');
  const jest = join(folder, 'node_modules/jest/bin/jest.js');
  const args = [
    '-c',
    'mutation.jest.config.cjs',
    '--selectProjects',
    project,
    '--ci',
    '--runInBand',
    '--silent',
    '--forceExit',
  ];
  const child = spawn(process.execPath, [jest, ...args, '--runTestsByPath', ...files], {
    cwd: folder,
    env: { ...process.env, MUTATION_PLAN: planFile },
    stdio: ['ignore', log, log],
  });
  const ended = once(child, 'exit');
  let hung = false;
  let seen = 0;
  let progress = performance.now();
  const read = () => {
    const text = readFileSync(output, 'utf8').slice(seen);
    const lines = text.slice(0, text.lastIndexOf('\n') + 1);
    seen += lines.length;
    if (lines !== '') progress = performance.now();
    for (const line of lines.split('\n').filter(Boolean)) onLine(JSON.parse(line));
  };
  const watch = setInterval(() => {
    read();
    if (performance.now() - progress < PATIENCE_MS) return;
    hung = true;
    child.kill('SIGKILL');
  }, 1_000);
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  const [code] = await ended;
  process.off('exit', stop);
  clearInterval(watch);
  closeSync(log);
  read();
  return { code, hung };
}
