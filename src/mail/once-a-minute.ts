const minuteMs = 60_000;

/** For warnings that a broken server would otherwise repeat for each mail: the first at once, then one a minute. */
export class OnceAMinute {
  private last = Number.NEGATIVE_INFINITY;

  allows(now: Date): boolean {
    if (Math.abs(now.getTime() - this.last) < minuteMs) return false;
    this.last = now.getTime();
    return true;
  }
}
