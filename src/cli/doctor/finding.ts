/** `warn` deserves a look and `skipped` is not configured; only a `problem` makes `doctor` fail. */
export type Health = 'ok' | 'warn' | 'skipped' | 'problem';

export interface Finding {
  readonly check: string;
  readonly status: Health;
  /** One line for the operator, without a secret, a user name or an address with a password in it. */
  readonly text: string;
}

type Outcome = readonly [Health, string];

/** Milliseconds for one check; whatever is silent for longer is told as that. */
const patienceMs = 10_000;

/** A check that throws or hangs is a finding too: one broken part must not hide the others. */
export async function finding(
  check: string,
  look: () => Promise<Outcome>,
  explain: (error: unknown) => string,
): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(['problem', `no answer within ${patienceMs / 1000} s`]), patienceMs);
  });
  try {
    const [status, text] = await Promise.race([look(), silence]);
    return { check, status, text };
  } catch (error) {
    return { check, status: 'problem', text: explain(error) };
  } finally {
    clearTimeout(timer);
  }
}
