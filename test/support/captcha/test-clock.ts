import { AltchaChallenges } from '../../../src/captcha/provider/altcha-challenges';
import type { TestService } from '../app';

/**
 * Lets the clock of the test alone decide whether a challenge has expired. The library of the captcha asks the clock of this
 * machine as well. The clock of a test stands still, so that five minutes after its start the library would refuse every
 * challenge: on a busy machine, no test after that could sign in.
 */
export function captchaByTestClock({ app, clock }: TestService): void {
  const challenges = app.get(AltchaChallenges);
  const check = challenges.check.bind(challenges);
  challenges.check = (payload) => {
    const { now } = Date;
    // Read first, because the clock of a test can follow this one.
    const time = clock.now().getTime();
    // The library reads the time before anything that it waits for.
    Date.now = () => time;
    try {
      return check(payload);
    } finally {
      Date.now = now;
    }
  };
}
