// Starts the load generator (loadgen.mjs) and sends it its tasks.
import { fork } from 'node:child_process';
import { join } from 'node:path';

export function startLoad() {
  const child = fork(join(import.meta.dirname, '../loadgen.mjs'), { stdio: 'inherit' });
  const waiting = new Map();
  let next = 0;
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(result);
  });
  child.on('exit', () => waiting.forEach(({ reject }) => reject(new Error('the load generator ended too early'))));
  return {
    /** @returns one summary per lane */
    ask: (port, seconds, lanes) =>
      new Promise((resolve, reject) => {
        waiting.set(next, { resolve, reject });
        child.send({ id: next++, port, seconds, lanes });
      }),
    stop: () => child.disconnect(),
  };
}
