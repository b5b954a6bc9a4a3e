/** Much longer than a statement or a commit takes, and too short for a person to notice. */
export const stepMs = 50;

/**
 * `HIDE_ACCOUNT_EXISTENCE`: the outcome of the work is passed on only when a timer of 50 ms fires that began with it. Equal work
 * still leaves differences of some tenths of a millisecond, such as a row that is found or not found. A client who asks
 * a thousand times could average the noise out and see them (docs/spec/attacks.md#w12, ADR 0010). Success and refusal
 * wait alike. The wait holds no connection of the database and no thread: the work is done.
 *
 * A timer that starts when the work ends would fire a whole number of milliseconds after that moment, so the answer
 * would still show the fraction.
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
