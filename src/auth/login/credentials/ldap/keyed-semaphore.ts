import { DomainError } from '../../../../shared/errors/domain-error';
import { type CatalogueEntry, directoryUnavailable } from '../../../../shared/errors/error-catalogue';

interface Waiter {
  /** Reads how many permits the key has now. Rejects when this waiter can never get a permit. */
  readonly permits: () => Promise<number>;
  readonly admit: () => void;
  readonly reject: (error: unknown) => void;
  settled: boolean;
}

class Semaphore {
  held = 0;
  /** Counts the releases: a number of permits that was read before a release is out of date. */
  releases = 0;
  admitting = false;
  readonly waiters: Waiter[] = [];
}

export interface SemaphoreLimits {
  /** The most permits for one key. */
  readonly perKey: number;
  /** Permits for all keys together. */
  readonly total: number;
  /** The most logins that may wait. */
  readonly waiting: number;
}

/**
 * A counting semaphore for each key and one for all keys. The queue is bounded, and each waiter has a deadline. Waiters
 * are admitted in the order of arrival.
 *
 * The permits of a key are the guesses left before the lock of its user. A burst of wrong passwords therefore locks the
 * account in this service before the directory locks it (docs/spec/attacks.md#w08). A directory that does not answer
 * delays only logins of its own users (docs/spec/attacks.md#w20).
 */
export class KeyedSemaphore {
  private readonly byKey = new Map<string, Semaphore>();
  private readonly all = new Semaphore();
  private waiting = 0;

  /** @param refusal the answer to a login that does not get a permit in time */
  constructor(
    private readonly limits: SemaphoreLimits,
    private readonly refusal: CatalogueEntry = directoryUnavailable,
  ) {}

  /**
   * Runs `work` while it holds one permit of the key and one of the permits for all keys.
   * @param until the end of the wait, on the clock of `performance.now()`
   * @param permits is read again for each waiter and after each release
   * @throws DomainError `refusal` when the queue is full or `until` has passed; whatever `permits` or `work` throws
   */
  async run<T>(key: string, until: number, permits: () => Promise<number>, work: () => Promise<T>): Promise<T> {
    const semaphore = this.byKey.get(key) ?? new Semaphore();
    this.byKey.set(key, semaphore);
    try {
      await this.acquire(semaphore, until, async () => Math.min(await permits(), this.limits.perKey));
      try {
        await this.acquire(this.all, until, () => Promise.resolve(this.limits.total));
        try {
          return await work();
        } finally {
          this.release(this.all);
        }
      } finally {
        this.release(semaphore);
      }
    } finally {
      if (semaphore.held === 0 && semaphore.waiters.length === 0) this.byKey.delete(key);
    }
  }

  private acquire(semaphore: Semaphore, until: number, permits: () => Promise<number>): Promise<void> {
    if (this.waiting >= this.limits.waiting) return Promise.reject(new DomainError(this.refusal));
    return new Promise((resolve, reject) => {
      const once = (settle: () => void) => () => {
        if (waiter.settled) return;
        waiter.settled = true;
        this.waiting--;
        clearTimeout(timer);
        semaphore.waiters.splice(semaphore.waiters.indexOf(waiter), 1);
        settle();
      };
      const timer = setTimeout(
        once(() => reject(new DomainError(this.refusal))),
        Math.max(0, until - performance.now()),
      );
      const waiter: Waiter = {
        permits,
        admit: once(() => {
          semaphore.held++;
          resolve();
        }),
        reject: (error) => once(() => reject(error))(),
        settled: false,
      };
      this.waiting++;
      semaphore.waiters.push(waiter);
      void this.admitInOrder(semaphore);
    });
  }

  private release(semaphore: Semaphore): void {
    semaphore.held--;
    semaphore.releases++;
    void this.admitInOrder(semaphore);
  }

  /** Admits one waiter after the other, so that each one reads the failures that were counted before it. */
  private async admitInOrder(semaphore: Semaphore): Promise<void> {
    if (semaphore.admitting) return;
    semaphore.admitting = true;
    for (let first = semaphore.waiters[0]; first !== undefined; first = semaphore.waiters[0]) {
      const { releases } = semaphore;
      const permits = await first.permits().catch((error: unknown) => first.reject(error));
      if (first.settled || releases !== semaphore.releases) continue;
      if (semaphore.held >= (permits ?? 0)) break;
      first.admit();
    }
    semaphore.admitting = false;
  }
}
