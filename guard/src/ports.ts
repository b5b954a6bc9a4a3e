import { setTimeout as pause } from 'node:timers/promises';

/** The clocks, timers and network of the guard. Tests pass their own. */
export interface Ports {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Seconds since 1970, which the claims are compared with. */
  readonly epochSeconds: () => number;
  /** Never goes back, so nothing is kept longer when the computer's clock is set back. */
  readonly steadyMs: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Calls back after this time, unless the returned function is called before. */
  readonly after: (milliseconds: number, callback: () => void) => () => void;
}

export const systemPorts: Ports = {
  // Looked up at each call, so that a program can instrument it.
  fetch: (url, init) => globalThis.fetch(url, init),
  epochSeconds: () => Math.floor(Date.now() / 1000),
  steadyMs: () => performance.now(),
  wait: (milliseconds) => pause(milliseconds),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
