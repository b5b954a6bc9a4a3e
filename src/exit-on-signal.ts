import { constants } from 'node:os';

/**
 * The first import of each program. In a container the program is process 1, for which the kernel ignores a signal without
 * a listener: until the program has its own, SIGTERM and SIGINT end it here, with the exit code that a shell would show.
 */
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  });
}
