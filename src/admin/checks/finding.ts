/**
 * `warn`: the operator should look. `skipped`: not configured. `pending`: `migrate` has to run first. A `problem` makes
 * `doctor` end with 1, and `pending` alone with 2.
 */
export type Health = 'ok' | 'warn' | 'skipped' | 'pending' | 'problem';

export interface Finding {
  readonly check: string;
  readonly status: Health;
  /** One line for the operator, without a secret, a user name or an address with a password in it. */
  readonly text: string;
}

type Outcome = readonly [Health, string];

/** The time-out of one check. */
const timeoutMs = 10_000;

/**
 * Runs one check. A check that throws or hangs becomes a finding, so that it does not hide the others.
 * @param look gets a signal that aborts at the time limit: a check of many servers asks no further one
 */
export async function finding(
  check: string,
  look: (signal: AbortSignal) => Promise<Outcome>,
  explain: (error: unknown) => string,
): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new AbortController();
  const silence = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => {
      limit.abort();
      resolve(['problem', `no answer within ${timeoutMs / 1000} s`]);
    }, timeoutMs);
  });
  try {
    const [status, text] = await Promise.race([look(limit.signal), silence]);
    return { check, status, text };
  } catch (error) {
    return { check, status: 'problem', text: explain(error) };
  } finally {
    clearTimeout(timer);
  }
}
