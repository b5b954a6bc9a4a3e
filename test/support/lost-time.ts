/** Milliseconds between two looks. */
const every = 20;

/** A service that waits longer than 2.4 s for a statement reports an outage, also when the machine paused so long. */
export const outageLikeMs = 1200;

export interface LostTime {
  readonly totalMs: number;
  readonly longestMs: number;
}

/**
 * Measures how long the machine did not let this process run, by how much a timer is late. A process that is tested on
 * the same machine was held up as well, and may need that much longer.
 * @returns a function that ends the measurement
 */
export function lostTime(): () => LostTime {
  let [totalMs, longestMs] = [0, 0];
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    const late = Math.max(0, now - last - every);
    totalMs += late;
    longestMs = Math.max(longestMs, late);
    last = now;
  };
  const timer = setInterval(look, every).unref();
  return () => {
    clearInterval(timer);
    look();
    return { totalMs, longestMs };
  };
}
