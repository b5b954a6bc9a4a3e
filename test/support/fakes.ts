import { Clock } from '../../src/shared/clock';

/**
 * A clock that stands still until a test moves it. A test whose library reads the system clock as well starts it at the
 * present time: `new FakeClock(new Date())`.
 */
export class FakeClock extends Clock {
  constructor(private time = new Date('2026-03-02T10:00:00.000Z')) {
    super();
  }

  now(): Date {
    return new Date(this.time);
  }

  /** Negative values set the clock back, as a correction by NTP does. */
  advanceSeconds(seconds: number): void {
    this.time = new Date(this.time.getTime() + seconds * 1000);
  }

  set(time: Date): void {
    this.time = time;
  }
}

/** The clock of this machine, which MariaDB has as well, and a difference that a pause of the machine does not change. */
export class RunningClock extends FakeClock {
  private differenceMs: number | undefined = 0;

  override now(): Date {
    return this.differenceMs === undefined ? super.now() : new Date(Date.now() + this.differenceMs);
  }

  behindBy(seconds: number): void {
    this.differenceMs = -1000 * seconds;
  }

  override set(time: Date): void {
    this.differenceMs = undefined;
    super.set(time);
  }
}
