/** The source of time. Tests pass a clock that they move themselves. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `callback` once after `milliseconds`. The returned function cancels it.
   * @param awaited a promise waits for the callback, so a program of Node must not end before
   */
  after(milliseconds: number, callback: () => void, awaited?: boolean): () => void;
}

export const systemClock: ClientClock = {
  now: () => Date.now(),
  after: (milliseconds, callback, awaited = false) => {
    const timer = setTimeout(callback, milliseconds) as ReturnType<typeof setTimeout> & { unref?: () => void };
    // In Node a running countdown would keep a finished program from exiting.
    if (!awaited) timer.unref?.();
    return () => clearTimeout(timer);
  },
};
