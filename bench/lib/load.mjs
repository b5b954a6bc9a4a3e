// Makes the load. wrk where it is installed, because it needs the least processor time for a request. Otherwise, and for
// loads that wrk cannot make (a fixed rate, the latency of each status), loadgen.mjs in a process of its own.
import { execFile, fork } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../test/support/servers/server-programs.mjs';

const bench = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** @param {string} directory for the files with the requests */
export function startLoad(directory) {
  const child = fork(join(bench, 'loadgen.mjs'), { stdio: 'inherit' });
  const waiting = new Map();
  let next = 0;
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(result);
  });
  child.on('exit', () => waiting.forEach(({ reject }) => reject(new Error('the load generator ended too early'))));
  const own = (port, seconds, lanes) =>
    new Promise((resolve, reject) => {
      waiting.set(next, { resolve, reject });
      child.send({ id: next++, port, seconds, lanes });
    });

  const wrk = findProgram('wrk');
  const byWrk = (port, seconds, lanes) =>
    Promise.all(
      lanes.map((lane, index) => runWrk(wrk, join(directory, `requests-${next++}-${index}`), port, seconds, lane)),
    );
  return {
    generator: wrk === null ? 'loadgen.mjs' : 'wrk',
    /** Clients that send their next request when they have their answer. @returns one summary per lane */
    closed: wrk === null ? own : byWrk,
    /** The same, or a fixed `rate`, with the latency of each status. @returns one summary per lane */
    detailed: own,
    stop: () => child.disconnect(),
  };
}

async function runWrk(wrk, file, port, seconds, { requests, concurrency }) {
  writeFileSync(file, requests.join('\0'));
  try {
    const { stdout } = await run(wrk, [
      ...['--threads=1', `--connections=${concurrency}`, `--duration=${seconds}`, '--timeout=30'],
      ...[`--script=${join(bench, 'requests.lua')}`, `http://127.0.0.1:${port}`, '--', file],
    ]);
    const { sent, refused, broken, ...summary } = JSON.parse(stdout.trim().split('\n').at(-1));
    const count = sent - refused;
    return { ...summary, count, rate: count / summary.seconds, failed: refused + broken };
  } finally {
    rmSync(file);
  }
}
