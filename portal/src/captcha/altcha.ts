import { type Challenge, solveChallengeWorkers } from 'altcha/lib';
import Pbkdf2Worker from 'altcha/workers/pbkdf2?worker';
import { auth } from '../auth';
import type { CaptchaSource } from '../captcha';
import { CaptchaError } from './captcha-error';

/** The service accepts a solution for 5 minutes. An older solution than this is discarded. */
const reusableMs = 4 * 60_000;
/** More workers cost more memory and save little: ADR 0006 has the measurements. */
const maxWorkers = 4;

interface Solution {
  readonly token: string;
  readonly since: number;
}

/** Solves the proof of work of the service (`GET /captcha/challenge`) in the background, without user interaction. */
class Altcha implements CaptchaSource {
  private solving: Promise<Solution> | undefined;

  /** Starts early, so that the solution is ready when the user submits the form. Errors are left to `take`. */
  prepare(): void {
    this.current().catch(() => undefined);
  }

  /** Returns a solution and never returns it again, because a login spends it even if the login fails. */
  async take(): Promise<string> {
    const { token, since } = await this.current();
    this.solving = undefined;
    return Date.now() - since < reusableMs ? token : this.take();
  }

  private current(): Promise<Solution> {
    this.solving ??= solve().catch((error: unknown) => {
      this.solving = undefined;
      throw error;
    });
    return this.solving;
  }
}

async function solve(): Promise<Solution> {
  const since = Date.now();
  const challenge = (await auth.captchaChallenge()) as Challenge;
  const concurrency = Math.min(maxWorkers, navigator.hardwareConcurrency);
  const solution = await solveChallengeWorkers({
    challenge,
    concurrency,
    createWorker: () => new Pbkdf2Worker(),
  }).catch((error: unknown) => {
    throw new CaptchaError('failed', 'the challenge could not be solved', { cause: error });
  });
  if (solution === null) throw new CaptchaError('failed', 'the challenge took too long');
  return { token: btoa(JSON.stringify({ challenge, solution })), since };
}

export const altcha = new Altcha();
