import { setTimeout as pause } from 'node:timers/promises';

/** What the guard needs from outside. Tests pass their own. */
export interface Ports {
  readonly fetch: typeof globalThis.fetch;
  /** Seconds since 1970, which the claims are compared with. */
  readonly epochSeconds: () => number;
  /** Never goes back, so nothing is kept longer when the computer's clock is set back. */
  readonly steadyMs: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
}

export const systemPorts: Ports = {
  // Looked up at each call, so that a program can instrument it.
  fetch: (input, init) => globalThis.fetch(input, init),
  epochSeconds: () => Math.floor(Date.now() / 1000),
  steadyMs: () => performance.now(),
  wait: (milliseconds) => pause(milliseconds),
};
