import { inSteps, stepMs } from './answer-steps';

describe('the steps in which answers are sent where existence is hidden', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** The milliseconds after which the outcome of work of this length arrives. */
  async function arrivalOf(hidden: boolean, lengthMs: number, failure?: Error): Promise<number> {
    const begun = Date.now();
    const work = () =>
      new Promise<void>((resolve, reject) => {
        setTimeout(() => (failure === undefined ? resolve() : reject(failure)), lengthMs);
      });
    let arrived: number | undefined;
    const outcome = inSteps(hidden, work)
      .catch((error: unknown) => expect(error).toBe(failure))
      .then(() => (arrived = Date.now() - begun));
    await jest.advanceTimersByTimeAsync(lengthMs + 2 * stepMs);
    await outcome;
    return arrived as number;
  }

  it('works of 1 to 49 ms have the same time, whether they succeed or fail', async () => {
    for (const lengthMs of [1, 2, 25, 49]) {
      expect(await arrivalOf(true, lengthMs)).toBe(stepMs);
      expect(await arrivalOf(true, lengthMs, new Error('refused'))).toBe(stepMs);
    }
  });

  it('longer work waits for the next step', async () => {
    expect(await arrivalOf(true, 51)).toBe(2 * stepMs);
    expect(await arrivalOf(true, 260)).toBe(300);
    expect(await arrivalOf(true, 299, new Error('refused'))).toBe(300);
  });

  it('nothing waits where existence is not hidden', async () => {
    expect(await arrivalOf(false, 7)).toBe(7);
    expect(await arrivalOf(false, 7, new Error('refused'))).toBe(7);
  });

  it('no timer is left behind', async () => {
    await arrivalOf(true, 10);
    await arrivalOf(true, 10, new Error('refused'));
    expect(jest.getTimerCount()).toBe(0);
  });
});
