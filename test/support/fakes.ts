import { Clock } from '../../src/shared/clock';

/** Stands still until a test moves it. */
export class FakeClock extends Clock {
  constructor(private time = new Date('2026-03-02T10:00:00.000Z')) {
    super();
  }

  now(): Date {
    return new Date(this.time);
  }

  /** Negative values step back, as after a correction by NTP. */
  advanceSeconds(seconds: number): void {
    this.time = new Date(this.time.getTime() + seconds * 1000);
  }

  set(time: Date): void {
    this.time = time;
  }
}
