import type { Clock } from '../shared/clock';

/** Shorter than any period between two probes of an orchestrator. */
const freshForMs = 1000;

/**
 * One reading for everybody: parallel callers wait for the reading that is under way, and a good one serves for a second
 * from its start. A bad one is never used again, so a recovery is seen at once.
 */
export class SharedReading<T> {
  private underWay: Promise<T> | undefined;
  private good: { readonly value: T; readonly begun: number } | undefined;

  constructor(
    private readonly take: () => Promise<T>,
    private readonly isGood: (value: T) => boolean,
    private readonly clock: Clock,
  ) {}

  async value(): Promise<T> {
    const now = this.clock.now().getTime();
    // A clock that was set back must not keep a reading alive.
    if (this.good !== undefined && Math.abs(now - this.good.begun) < freshForMs) return this.good.value;
    this.underWay ??= this.begin(now).finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async begin(begun: number): Promise<T> {
    const value = await this.take();
    this.good = this.isGood(value) ? { value, begun } : undefined;
    return value;
  }
}
