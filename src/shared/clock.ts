/** The only source of time: one clock for lock windows, expiries, TOTP steps and tokens, so that a test can move it. */
export abstract class Clock {
  /** The current time, UTC. */
  abstract now(): Date;

  /** Whole seconds since the epoch (the NumericDate of RFC 7519). */
  epochSeconds(): number {
    return Math.floor(this.now().getTime() / 1000);
  }

  secondsFromNow(seconds: number): Date {
    return new Date(this.now().getTime() + seconds * 1000);
  }
}

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }
}
