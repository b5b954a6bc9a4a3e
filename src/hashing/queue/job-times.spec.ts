import { JobTimes } from './job-times';

/** Two threads that serve lone jobs of 100 ms as assumed, and a clock that the test moves. */
class Machine {
  now = 0;
  readonly times: JobTimes;

  constructor(readonly threads = 2) {
    this.times = new JobTimes({ ms: 100, jobs: 1, work: 1 }, threads);
  }

  serve(ms: number, { calls = 1, jobs = 1, work = 1 } = {}): this {
    for (let call = 0; call < calls; call++) {
      this.times.begin(this.now);
      this.now += ms;
      this.times.end(this.now, { ms, jobs, work });
    }
    return this;
  }

  get estimate() {
    return [this.times.shareMs(this.now), this.times.callMs(this.now)];
  }
}

describe('the expected time of a job', () => {
  it('is the assumed one while nothing is measured, however many jobs come', () => {
    const { times, estimate } = new Machine();
    expect(estimate).toEqual([100, 100]);
    for (let thread = 0; thread < 2; thread++) times.begin(5);
    expect([times.shareMs(5), times.callMs(5)]).toEqual([100, 100]);
  });

  it.each([
    ['an idle machine that is faster than assumed', 20],
    ['a machine that is slower than assumed', 350],
  ])('is the measured one after a few calls: %s', (_machine, ms) => {
    expect(new Machine().serve(ms, { calls: 4 }).estimate).toEqual([ms, ms]);
  });

  it.each([1, 2, 8])('does not follow the slow first job of each of %s threads', (threads) => {
    const machine = new Machine(threads).serve(30_000, { calls: threads });
    expect(machine.estimate).toEqual([100, 100]);
    expect(machine.serve(110, { calls: threads + 1 }).estimate).toEqual([110, 110]);
  });

  it('follows a machine that becomes busy, and one that becomes idle again, after more than half of the last calls', () => {
    const machine = new Machine().serve(100, { calls: 50 });
    expect(machine.serve(400, { calls: 5 }).estimate).toEqual([100, 100]);
    expect(machine.serve(400, { calls: 2 }).estimate).toEqual([400, 400]);
    expect(machine.serve(100, { calls: 7 }).estimate).toEqual([100, 100]);
  });

  it('is half of a call for each of two jobs that are served at once', () => {
    expect(new Machine().serve(130, { calls: 8, jobs: 2 }).estimate).toEqual([65, 130]);
  });

  it('is the mean of cheap and costly jobs, of which the machine does each unit of work in the same time', () => {
    const machine = new Machine();
    for (let n = 0; n < 8; n++) machine.serve(100).serve(25, { work: 0.25 });
    expect(machine.estimate).toEqual([62.5, 62.5]);
  });

  it('a failed call does not change it', () => {
    const machine = new Machine();
    for (let n = 0; n < 20; n++) {
      machine.times.begin(machine.now);
      machine.times.end(machine.now, undefined);
    }
    expect(machine.estimate).toEqual([100, 100]);
  });

  it('is the assumed one again after a minute without a job, because what was measured may be over', () => {
    const machine = new Machine().serve(900, { calls: 20 });
    machine.now += 60_000;
    expect(machine.estimate).toEqual([900, 900]);
    machine.now += 1;
    expect(machine.estimate).toEqual([100, 100]);
    expect(machine.serve(900).estimate).toEqual([100, 100]);
  });

  it('is kept while a job runs for minutes', () => {
    const machine = new Machine().serve(900, { calls: 20 });
    machine.times.begin(machine.now);
    machine.now += 600_000;
    expect(machine.estimate).toEqual([900, 900]);
  });
});
