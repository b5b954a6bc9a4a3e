const intervalMs = 60_000;

/** Limits a repeated log line: the first one passes at once, then one each minute. */
export class LogThrottle {
  private last = Number.NEGATIVE_INFINITY;

  allows(now: Date): boolean {
    // The absolute value, so that a clock that is set back does not silence the log.
    if (Math.abs(now.getTime() - this.last) < intervalMs) return false;
    this.last = now.getTime();
    return true;
  }
}
