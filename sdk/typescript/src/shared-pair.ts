import { storageEvent } from './browser-events.js';
import type { ClientClock } from './client-clock.js';
import type { Exclusive } from './exclusive.js';
import { isRecord, type KeyValueStorage, Slot } from './storage.js';
import { ended, markOf, type Successors } from './successors.js';

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

export interface PairPorts {
  readonly exclusive: Exclusive;
  readonly successors: Successors;
  readonly clock: ClientClock;
}

/** A pair of the storage. `successor` is set if the pair has been replaced, but the new pair does not arrive. */
export interface Seen {
  readonly tokens: Tokens;
  readonly successor: string | undefined;
}

/**
 * How long a tab waits for a pair that another tab has stored. The browser announces it by an event. The times are few
 * and get longer, because a browser delays timers of a hidden tab that follow each other.
 */
const arrivalMs = [20, 80, 400, 1500];

/** The token pair in the storage of all tabs. `successors` says whether this tab sees the newest one. */
export class SharedPair {
  private readonly slot: Slot<Tokens>;

  constructor(
    storage: KeyValueStorage,
    key: string,
    private readonly ports: PairPorts,
    /** The pair of a session that the user has signed out of was renewed at the same moment, and is now removed. */
    private readonly leftover: (tokens: Tokens) => void,
  ) {
    this.slot = new Slot(storage, key, isTokens);
  }

  /** What this tab sees. It can be outdated for some milliseconds. */
  get tokens(): Tokens | undefined {
    return this.slot.read();
  }

  open(tokens: Tokens): void {
    const former = this.tokens;
    this.slot.write(tokens);
    if (former !== undefined) void this.ports.successors.set(former.access, markOf(tokens.access));
  }

  close(): void {
    const { tokens } = this;
    this.slot.remove();
    if (tokens !== undefined) void this.closeRenewed(tokens);
  }

  /** The newest pair, or undefined. Only the holder of the lock may trust it. */
  async newest(): Promise<Seen | undefined> {
    const waits = arrivalMs.values();
    for (;;) {
      const { tokens } = this;
      if (tokens === undefined) return undefined;
      const successor = await this.ports.successors.of(tokens.access);
      if (successor === undefined) return { tokens, successor };
      if (this.tokens?.access !== tokens.access) continue;
      const { value: wait } = waits.next();
      if (wait !== undefined) {
        await storageEvent(this.ports.clock, wait);
        continue;
      }
      // The tab that noted the successor was closed before it stored the new pair.
      if (successor !== ended) return { tokens, successor };
      this.slot.remove();
    }
  }

  /**
   * Replaces the pair `used`, which the holder of the lock has got from `newest`. A tab that has signed in or out since
   * then wins, and the new pair is not stored. The mark comes before the pair: a tab that finds the mark waits until it
   * sees the pair.
   */
  async replace({ tokens: used, successor }: Seen, fresh: Tokens): Promise<boolean> {
    const first = await this.ports.successors.set(used.access, markOf(fresh.access), successor);
    if (!first || this.tokens?.access !== used.access) return false;
    this.slot.write(fresh);
    return true;
  }

  /** Removes the pair of a session that the service has ended. A tab that has signed in or out since then wins. */
  async expire({ tokens: used, successor }: Seen): Promise<boolean> {
    const first = await this.ports.successors.set(used.access, ended, successor);
    if (!first || this.tokens?.access !== used.access) return false;
    this.slot.remove();
    return true;
  }

  /**
   * The holder of the lock has renewed the pair before it could know of the sign-out, and perhaps stores the new pair
   * after the removal. The lock is free when it has done so.
   */
  private async closeRenewed({ access }: Tokens): Promise<void> {
    const { exclusive, successors, clock } = this.ports;
    if (await successors.set(access, ended)) return;
    const next = await successors.of(access);
    if (next === undefined || next === ended) return;
    await exclusive.run(async () => {
      for (const wait of arrivalMs) if (this.tokens === undefined) await storageEvent(clock, wait);
      const { tokens } = this;
      if (tokens === undefined || markOf(tokens.access) !== next) return;
      this.slot.remove();
      await successors.set(tokens.access, ended);
      this.leftover(tokens);
    });
  }
}

function isTokens(value: unknown): value is Tokens {
  return isRecord(value) && typeof value.access === 'string' && typeof value.refresh === 'string';
}
