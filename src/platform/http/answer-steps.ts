/** Much longer than a statement or a commit takes, and too short for a person to notice. */
export const stepMs = 50;

/**
 * `HIDE_ACCOUNT_EXISTENCE`: the outcome of the work is passed on only at a multiple of 50 ms after its begin. Equal work
 * still leaves differences of some tenths of a millisecond, such as a row that is found or not found. A client who asks
 * a thousand times could average the noise out and see them (docs/spec/attacks.md#w12, ADR 0010). Success and refusal
 * wait alike. The wait holds no connection of the database and no thread: the work is done.
 *
 * The timer starts with the work, not at its end. A timer that starts at the end is rounded to whole milliseconds from
 * there, so the fraction of the millisecond at which the work ended would show.
 */
export async function inSteps<T>(hidden: boolean, work: () => Promise<T>): Promise<T> {
  if (!hidden) return work();
  let onStep: (() => void) | undefined;
  const timer = setInterval(() => onStep?.(), stepMs);
  try {
    return await work();
  } finally {
    await new Promise<void>((resolve) => (onStep = resolve));
    clearInterval(timer);
  }
}
