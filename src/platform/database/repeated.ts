import { isRepeatable } from './store-failure';
import { repeatMs } from './time-limits';

const attempts = 4;

/**
 * Runs the work again if it lost a deadlock and there is time left. After a lock wait that timed out no time is left.
 * The error of the driver is the `cause` of the DomainError that `affected` and `transaction` throw.
 */
export async function repeated<T>(run: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const late = performance.now() - begun > repeatMs;
      if (late || attempt === attempts || !isRepeatable(cause)) throw error;
    }
  }
}
