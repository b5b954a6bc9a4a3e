import type { Clock } from '../../shared/clock';
import { storeUnavailable } from '../../platform/database/store-failure';
import type { Proof } from './proof-reader';
import { UsedProofs } from './used-proofs';

/** A proof is remembered for one to two periods, and is too old after less than one. */
const periodMs = 180_000;
/** About 100 bytes each. At 2,000 requests a second it is not full. */
const mostPerPeriod = 400_000;

/**
 * The memory of one process, for a database in a file, which no second process serves. Used proofs are never dropped
 * before they are too old: a full memory refuses.
 */
export class OwnUsedProofs extends UsedProofs {
  private current = new Set<string>();
  private former = new Set<string>();
  private since = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  use({ id }: Pick<Proof, 'id'>): Promise<boolean> {
    const now = this.clock.now().getTime();
    if (now - this.since >= periodMs) {
      this.former = now - this.since < 2 * periodMs ? this.current : new Set();
      this.current = new Set();
      this.since = now;
    }
    if (this.current.has(id) || this.former.has(id)) return Promise.resolve(false);
    if (this.current.size >= mostPerPeriod)
      return Promise.reject(storeUnavailable(new Error('the memory of proofs is full')));
    this.current.add(id);
    return Promise.resolve(true);
  }
}
