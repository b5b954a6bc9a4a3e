import type { ClientClock } from './client-clock.js';

/**
 * Listens to an event of the window, if there is a window. The browser sends storage events to every tab except the tab
 * that wrote. @returns the function that removes the listener
 */
export function listen(type: 'storage' | 'online', heard: (event: object) => void): () => void {
  const target = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>;
  target.addEventListener?.(type, heard);
  return () => target.removeEventListener?.(type, heard);
}

/** Resolves when this tab sees what another tab has stored, and after `milliseconds` at the latest. */
export function storageEvent(clock: ClientClock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stopWaiting();
      stopListening();
      resolve();
    };
    const stopListening = listen('storage', done);
    const stopWaiting = clock.after(milliseconds, done, true);
  });
}
