// Loaded into a service before its own code (`NODE_OPTIONS=--import`). On SIGUSR2 it collects garbage and prints how much
// memory the process uses.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let memory = 0;
  process.on('SIGUSR2', () => {
    // Twice: finalizers of the first run let go of more.
    collect();
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const [heapMb, rssMb] = [heapUsed + external, rss].map((bytes) => Math.round(bytes / 1e6));
    process.stdout.write(`${JSON.stringify({ memory: ++memory, heapMb, rssMb })}\n`);
  });
}
