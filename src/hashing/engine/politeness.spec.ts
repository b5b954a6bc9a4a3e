import { Politeness } from './politeness.js';

/** A hash thread on a machine that the test describes: milliseconds that it ran, and that it waited for a processor. */
class Thread {
  lowered = 0;
  now = 0;
  private ran = 0;
  private waited = 0;
  readonly politeness: Politeness;

  constructor({ urgent = false, readable = true } = {}) {
    this.politeness = new Politeness({
      urgent,
      read: () => {
        if (!readable) throw new Error('ENOENT');
        return `${this.ran * 1e6} ${this.waited * 1e6} 7\n`;
      },
      lower: () => (this.lowered += 1),
      now: () => this.now,
    });
  }

  /** Does one job. Returns whether the thread is crowded out after it. */
  job(ran: number, waited: number): boolean {
    this.ran += ran;
    this.waited += waited;
    this.now += ran + waited;
    return this.politeness.isCrowded();
  }
}

describe('the priority of a hash thread', () => {
  it('is low from the start, and stays so while the thread gets a share of the processors', () => {
    const thread = new Thread();
    expect(thread.lowered).toBe(1);
    for (let n = 0; n < 50; n++) expect(thread.job(60, 60)).toBe(false);
  });

  it('is too low beside programs that never sleep: the thread asks to be replaced', () => {
    const thread = new Thread();
    expect(thread.job(20, 200)).toBe(false);
    expect(thread.job(20, 200)).toBe(false);
    expect(thread.job(20, 200)).toBe(true);
  });

  it('is not judged by one slow job', () => {
    const thread = new Thread();
    expect(thread.job(60, 300)).toBe(false);
    for (let n = 0; n < 5; n++) expect(thread.job(60, 5)).toBe(false);
  });

  it('of an urgent thread is normal for a minute, then low again', () => {
    const thread = new Thread({ urgent: true });
    expect(thread.lowered).toBe(0);
    while (thread.now < 59_000) expect(thread.job(100, 900)).toBe(false);
    expect(thread.lowered).toBe(0);
    thread.job(100, 900);
    expect(thread.lowered).toBe(1);
    expect(thread.job(100, 900)).toBe(true);
  });

  it('stays low where the kernel has no statistics', () => {
    const thread = new Thread({ readable: false });
    expect(thread.job(1, 10_000)).toBe(false);
  });
});
