import type { SiteverifySettings } from '../captcha-settings';
import { boundedRequest } from '../../platform/http/bounded-request';
import { type CaptchaProvider, type Judgement, unavailable } from './judgement';
import { type Expectations, readAnswer } from './siteverify-answer';

/** Real responses have a few hundred bytes. */
const largestBody = 64 * 1024;

/** Asks Turnstile, hCaptcha or reCAPTCHA about a token: one try, bounded in time and size, no redirect (ADR 0006). */
export class SiteverifyProvider implements CaptchaProvider {
  constructor(
    readonly name: string,
    private readonly settings: SiteverifySettings,
    private readonly expected: Expectations,
  ) {}

  async judge(token: string, ip: string, timeoutMs: number): Promise<Judgement> {
    const answer = await boundedRequest(
      this.settings.verifyUrl,
      { timeoutMs, largestBody },
      {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({ secret: this.settings.secret, response: token, remoteip: ip }),
      },
    );
    return 'failure' in answer ? unavailable(answer.failure) : readAnswer(answer.text, this.expected);
  }
}
