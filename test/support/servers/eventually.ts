import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  /** Said when it never happens. */
  what: string;
  /** Milliseconds; 30 s unless told. */
  timeout?: number;
  /** Milliseconds between two looks; 25 unless told. */
  interval?: number;
}

/**
 * Waits for something that another process does in its own time. Resolves with the first value that is neither
 * undefined nor false; an attempt that throws counts as "not yet" and is named when time is up.
 */
export async function eventually<T>(
  attempt: () => T | undefined | false | Promise<T | undefined | false>,
  { what, timeout = 30_000, interval = 25 }: Patience,
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
      throw new Error(`${what}: not within ${timeout} ms`, last === undefined ? undefined : { cause: last });
    }
    await pause(interval);
  }
}
