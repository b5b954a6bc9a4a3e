import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  /** What is awaited. It appears in the error after the time-out. */
  what: string;
  /** Milliseconds. Default: 60,000. */
  timeout?: number;
  /** Milliseconds between two attempts. Default: 25. */
  interval?: number;
}

/**
 * Repeats `attempt` until it returns a value that is neither undefined nor false. An attempt that throws is repeated
 * too. After the time-out the last error becomes the cause of the thrown error.
 */
export async function eventually<T>(
  attempt: () => T | undefined | false | Promise<T | undefined | false>,
  { what, timeout = 60_000, interval = 25 }: Patience,
): Promise<T> {
  const deadline = performance.now() + timeout;
  let last: unknown;
  for (;;) {
    try {
      const value = await attempt();
      if (value !== undefined && value !== false) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not reached within ${timeout} ms`, last === undefined ? undefined : { cause: last });
    }
    await pause(interval);
  }
}
