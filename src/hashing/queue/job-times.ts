/** Jobs that were served by one call, and how long that took. */
export interface ServedCall {
  /** Milliseconds of the call. */
  readonly ms: number;
  /** How many jobs a worker serves in such a call while jobs wait: one, or two at once. */
  readonly jobs: number;
  /** The work of one of them. 1 is the work of the configured cost, 0.5 that of one step less. */
  readonly work: number;
}

/** After a pause of this length without a call, the former measurements say nothing about the machine. */
const pauseMs = 60_000;

/**
 * How long the next jobs will take, from the last calls: the median time for one unit of work, times the usual work of a
 * job (ADR 0054). A median, because the first job of a thread includes the start of the thread, and beside busy programs it
 * may take ten times as long. An average would refuse logins for it long after the thread has become fast.
 *
 * Before anything is measured, and after a pause, assumed calls outvote those first jobs: one more than there are threads.
 */
export class JobTimes {
  private calls: ServedCall[] = [];
  private estimate = { shareMs: 0, callMs: 0 };
  private running = 0;
  private lastEnded: number | undefined;

  /**
   * @param assumed the calls that are assumed while nothing is measured
   * @param threads how many calls run at the same time
   */
  constructor(
    private readonly assumed: ServedCall,
    private readonly threads: number,
  ) {
    this.assume();
  }

  /** @param now monotonic milliseconds, as in all methods */
  begin(now: number): void {
    this.forgetAfterPause(now);
    this.running += 1;
  }

  /** @param call undefined for a call that failed: its duration says nothing */
  end(now: number, call: ServedCall | undefined): void {
    this.running -= 1;
    this.lastEnded = now;
    if (call === undefined) return;
    this.calls.push(call);
    // More than half of the calls have to be new to change the median.
    if (this.calls.length > 4 * (this.threads + 1)) this.calls.shift();
    this.measure();
  }

  /** A thread's time for one job that has to wait. Two jobs that are served at once take half of the call each. */
  shareMs(now: number): number {
    this.forgetAfterPause(now);
    return this.estimate.shareMs;
  }

  /** The duration of one call, for one job or for two. */
  callMs(now: number): number {
    this.forgetAfterPause(now);
    return this.estimate.callMs;
  }

  private forgetAfterPause(now: number): void {
    if (this.running > 0 || this.lastEnded === undefined || now - this.lastEnded <= pauseMs) return;
    this.lastEnded = undefined;
    this.assume();
  }

  private assume(): void {
    this.calls = Array.from({ length: this.threads + 1 }, () => this.assumed);
    this.measure();
  }

  private measure(): void {
    const usualWork = this.calls.reduce((sum, { work }) => sum + work, 0) / this.calls.length;
    this.estimate = {
      shareMs: usualWork * median(this.calls.map(({ ms, jobs, work }) => ms / jobs / work)),
      callMs: usualWork * median(this.calls.map(({ ms, work }) => ms / work)),
    };
  }
}

function median(values: number[]): number {
  const sorted = values.sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] as number;
}
