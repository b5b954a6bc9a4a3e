import type { ClientClock } from './client-clock.js';
import { isRecord, type KeyValueStorage, Slot } from './storage.js';

/** Runs work that only one tab of the browser may do at a time. */
export interface Exclusive {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** The part of the browser's `LockManager` that the SDK uses. */
export interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Uses the Web Locks API. The browser releases a lock also when its tab is closed or crashes. */
export function lockExclusive(locks: Locks, name: string): Exclusive {
  return { run: async <T>(work: () => Promise<T>): Promise<T> => await locks.request(name, work) };
}

interface Lease {
  readonly owner: string;
  readonly until: number;
}

const leaseMs = 15_000;
/** A request may take longer than the lease. Without a renewal another tab would then send the same refresh token. */
const renewMs = leaseMs / 3;
const pollMs = 50;
/** After this time without the lease of another tab the work runs without its own. The cause is for example a full storage. */
const patienceMs = 20_000;

/**
 * For browsers without Web Locks: a lease in the shared storage. When two tabs write at the same moment, both read the
 * lease after a pause. The last writer holds the lease, and the other tab keeps waiting. If a tab dies with the lease,
 * the others wait until the lease expires.
 */
export function leaseExclusive(storage: KeyValueStorage, key: string, clock: ClientClock, owner: string): Exclusive {
  const slot = new Slot<Lease>(storage, key, isLease);
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve, true));
  const taken = (lease: Lease | undefined) =>
    lease !== undefined && lease.owner !== owner && lease.until > clock.now() && lease.until <= clock.now() + leaseMs;

  const isOwn = () => slot.read()?.owner === owner;
  const hold = () => slot.write({ owner, until: clock.now() + leaseMs });

  let last: Promise<unknown> = Promise.resolve();
  const acquire = async (): Promise<void> => {
    let deadline = clock.now() + patienceMs;
    while (clock.now() < deadline) {
      if (taken(slot.read())) {
        await pause(pollMs);
        deadline = clock.now() + patienceMs;
        continue;
      }
      hold();
      await pause(pollMs);
      if (isOwn()) return;
    }
  };
  return {
    run: <T>(work: () => Promise<T>): Promise<T> => {
      const turn = last.then(async () => {
        await acquire();
        let stop: (() => void) | undefined;
        const renew = (): void => {
          if (isOwn()) hold();
          stop = clock.after(renewMs, renew);
        };
        renew();
        try {
          return await work();
        } finally {
          stop?.();
          if (isOwn()) slot.remove();
        }
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

function isLease(value: unknown): value is Lease {
  return isRecord(value) && typeof value.owner === 'string' && typeof value.until === 'number';
}
