/** The only source of time. Tests move this one clock for lock windows, expiries, TOTP steps and tokens. */
export abstract class Clock {
  abstract now(): Date;

  /** Whole seconds since the epoch (NumericDate of RFC 7519). */
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
