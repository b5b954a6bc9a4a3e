import { constants } from 'node:os';

/**
 * The first import of each program. In a container the program is process 1, and the kernel ignores a signal to process
 * 1 that has no listener. This listener ends the program with the exit code of a shell, until the program adds its own
 * listener.
 */
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  });
}
