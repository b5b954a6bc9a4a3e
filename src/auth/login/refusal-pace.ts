const soonestMs = 25;
const apartMs = 2;
const latestMs = 1000;

/**
 * Spreads the answers of refused logins over time: one answer every 2 ms, each 25 ms to 1 s after its request. A client
 * that comes back at once sends its next request only after its answer, so the more such clients there are, the longer
 * each of them waits. Without this, their requests would take the processor time of the accepted logins (ADR 0014).
 */
export class RefusalPace {
  private last = -Infinity;

  /**
   * @param now milliseconds of a clock that is never set back
   * @returns the milliseconds between this refusal and its answer
   */
  next(now: number): number {
    this.last = Math.min(Math.max(now + soonestMs, this.last + apartMs), now + latestMs);
    return this.last - now;
  }
}
