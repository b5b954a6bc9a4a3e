import type { Clock } from './clock';

/**
 * Shares one reading among all callers. Parallel callers wait for the same reading. A good result is used again for
 * `freshForMs` from the start of its reading. A bad result is never used again, so a recovery is seen at once.
 */
export class SharedReading<T> {
  private underWay: Promise<T> | undefined;
  private good: { readonly value: T; readonly begun: number } | undefined;

  constructor(
    private readonly take: () => Promise<T>,
    private readonly isGood: (value: T) => boolean,
    private readonly clock: Clock,
    private readonly freshForMs: number,
  ) {}

  async value(): Promise<T> {
    const now = this.clock.now().getTime();
    // Without Math.abs, a reading would stay valid for a long time after the clock is set back.
    if (this.good !== undefined && Math.abs(now - this.good.begun) < this.freshForMs) return this.good.value;
    this.underWay ??= this.begin(now).finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async begin(begun: number): Promise<T> {
    const value = await this.take();
    this.good = this.isGood(value) ? { value, begun } : undefined;
    return value;
  }
}
