/** The source of time. Tests pass a clock that they move themselves. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once after `milliseconds`. The returned function cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: ClientClock = {
  now: () => Date.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds) as ReturnType<typeof setTimeout> & { unref?: () => void };
    // In Node a running countdown would keep a finished program from exiting.
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};
