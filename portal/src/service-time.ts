import { useSyncExternalStore } from 'react';

/** Milliseconds that the clock of the service is ahead of the clock of this browser. Negative when it is behind. */
let ahead = 0;

/** The header has whole seconds, and an answer takes a moment. A smaller difference is no news. */
const noise = 2500;

/** Learns the time of the service from the `Date` of an answer. A service of another origin does not show it. */
export function noteDate(header: string | null): void {
  const found = Date.parse(header ?? '') - Date.now();
  if (Math.abs(found - ahead) > noise) ahead = found;
}

/** All times of a page change together, and not with each drawing. */
const step = 15_000;
const rounded = (): number => Math.floor((Date.now() + ahead) / step) * step;

function subscribe(changed: () => void): () => void {
  const timer = setInterval(changed, step);
  return () => clearInterval(timer);
}

/** The present time of the service, at most 15 seconds old. */
export function useServiceTime(): number {
  return useSyncExternalStore(subscribe, rounded);
}
