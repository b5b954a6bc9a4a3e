import type { DatabaseWaits } from './database-waits';
import { isRepeatable } from './store-failure';
import { repeatMs } from './time-limits';

/** The pause before a repetition doubles up to this. A node that is not ready, or a proxy in front of it, needs time. */
const longestPauseMs = 100;

/**
 * Runs the work again while it loses deadlocks or certifications, until `repeatMs` after its first start (ADR 0029). One
 * of the transactions that collide always commits, so many of them end within a few rounds. The repetitions count as
 * waiting for the database, so a request with several of them is answered in time as well.
 * The error of the driver is the `cause` of the DomainError that `affected` and `transaction` throw.
 */
export async function repeated<T>(run: () => Promise<T>, waits: DatabaseWaits): Promise<T> {
  const begun = performance.now();
  let over = false;
  let end: (() => void) | undefined;
  try {
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await run();
      } catch (error) {
        const cause = error instanceof Error ? error.cause : undefined;
        const leftMs = repeatMs - (performance.now() - begun);
        if (leftMs <= 0 || !isRepeatable(cause)) throw error;
        end ??= waits.begin(leftMs, () => (over = true));
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        if (over) throw error;
      }
    }
  } finally {
    end?.();
  }
}
