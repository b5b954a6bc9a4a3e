// Loaded into a service before its own code (`NODE_OPTIONS=--import`). On SIGUSR2 it prints the longest time for which the
// event loop was blocked since the last signal.
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const everyMs = 10;

/** Processor time of the main thread in milliseconds. Without /proc it is the time of all threads, which is longer. */
function processorMs() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

if (isMainThread) {
  let reports = 0;
  let longestHoldMs = 0;
  let [time, used] = [performance.now(), processorMs()];

  // A timer is late because of work, or because the machine did not run this thread. Only work uses the processor, so
  // the shorter of elapsed time and processor time is the work of this thread.
  const look = () => {
    const [nowTime, nowUsed] = [performance.now(), processorMs()];
    longestHoldMs = Math.max(longestHoldMs, Math.min(nowTime - time, nowUsed - used));
    [time, used] = [nowTime, nowUsed];
  };
  setInterval(look, everyMs).unref();
  process.on('SIGUSR2', () => {
    look();
    process.stdout.write(`${JSON.stringify({ report: ++reports, longestHoldMs: Math.round(longestHoldMs) })}\n`);
    longestHoldMs = 0;
  });
}
