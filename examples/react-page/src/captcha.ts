import { type Challenge, solveChallengeWorkers } from 'altcha/lib';
import Pbkdf2Worker from 'altcha/workers/pbkdf2?worker';
import { auth } from './auth';

/** Solves the proof of work of the service in the background. A solution is valid for one login. */
export async function solveCaptcha(): Promise<string> {
  const { captcha } = await auth.capabilities();
  if (captcha.provider !== 'altcha') throw new Error(`${captcha.provider} needs the widget of its provider`);
  const challenge = (await auth.captchaChallenge()) as Challenge;
  const solution = await solveChallengeWorkers({ challenge, concurrency: 2, createWorker: () => new Pbkdf2Worker() });
  return btoa(JSON.stringify({ challenge, solution }));
}
