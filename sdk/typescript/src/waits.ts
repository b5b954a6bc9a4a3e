import type { ClientClock } from './client-clock.js';
import { isRecord, type KeyValueStorage, Slot } from './storage.js';

/** `seconds` is the length of the wait. A wait never lasts longer, even if the clock is set back. */
interface Wait {
  readonly until: number;
  readonly seconds: number;
}

type Table = Record<string, Wait>;

/** Waits by name. They are stored, so that a reload does not end them. */
export class Waits {
  private readonly slot: Slot<Table>;

  constructor(
    storage: KeyValueStorage,
    key: string,
    private readonly clock: ClientClock,
  ) {
    this.slot = new Slot(storage, key, isTable);
  }

  /** Has no effect while a longer wait of the same name is running. */
  start(name: string, seconds: number): void {
    if (seconds <= this.remaining(name)) return;
    const running = Object.entries(this.table()).filter(([, wait]) => this.left(wait) > 0);
    this.slot.write({
      ...Object.fromEntries(running),
      [name]: { until: this.clock.now() + seconds * 1000, seconds },
    });
  }

  end(name: string): void {
    const { [name]: ended, ...others } = this.table();
    if (ended !== undefined) this.slot.write(others);
  }

  /** Whole seconds, rounded up. 0 means that no wait is running. */
  remaining(name: string): number {
    const wait = this.table()[name];
    return wait === undefined ? 0 : Math.ceil(this.left(wait) / 1000);
  }

  /** Milliseconds until the result of `remaining` changes. Undefined when no wait is running. */
  untilNextSecond(name: string): number | undefined {
    const wait = this.table()[name];
    const left = wait === undefined ? 0 : this.left(wait);
    return left <= 0 ? undefined : left % 1000 || 1000;
  }

  private left({ until, seconds }: Wait): number {
    return Math.max(0, Math.min(until - this.clock.now(), seconds * 1000));
  }

  private table(): Table {
    return this.slot.read() ?? {};
  }
}

function isTable(value: unknown): value is Table {
  return (
    isRecord(value) &&
    Object.values(value).every(
      (wait) => isRecord(wait) && typeof wait.until === 'number' && typeof wait.seconds === 'number',
    )
  );
}
