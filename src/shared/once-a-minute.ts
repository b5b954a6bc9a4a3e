const minuteMs = 60_000;

/** For warnings that would otherwise be repeated for each mail or request: the first at once, then one a minute. */
export class OnceAMinute {
  private last = Number.NEGATIVE_INFINITY;

  allows(now: Date): boolean {
    if (Math.abs(now.getTime() - this.last) < minuteMs) return false;
    this.last = now.getTime();
    return true;
  }
}
