import { AltchaChallenges } from '../../../src/captcha/provider/altcha-challenges';
import type { TestService } from '../app';

/** The longest search that the service asks for. A browser solves one challenge of it after a second of a processor. */
export const mostSteps = 2000;

/**
 * From now on a browser finds the solution of each challenge after this many steps. The number of the service is random, and
 * most of the work of a page that signs in. All else stays: the page searches, and the service checks the solution.
 */
export function captchaSteps({ app }: TestService, steps: number): void {
  // `issue` adds 1, and uses these bytes for nothing else.
  const bytes = (size: number): Buffer => {
    const last = Buffer.alloc(size);
    last.writeUInt32BE(steps - 1);
    return last;
  };
  Object.assign(app.get(AltchaChallenges), { random: { bytes } });
}
