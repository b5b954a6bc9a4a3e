/** Time as the client's rules see it; a test passes one that it moves by hand. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, in so many milliseconds, unless the returned function is called before. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: ClientClock = {
  now: () => Date.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds) as ReturnType<typeof setTimeout> & { unref?: () => void };
    // In Node a countdown must not keep a finished program alive.
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};
