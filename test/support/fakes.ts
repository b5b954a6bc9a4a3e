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
