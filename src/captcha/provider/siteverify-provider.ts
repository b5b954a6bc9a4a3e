import type { SiteverifySettings } from '../../platform/config/captcha-config';
import { type CaptchaProvider, type Judgement, unavailable } from './judgement';
import { type Expectations, readAnswer } from './siteverify-answer';

/** Real responses have a few hundred bytes. */
const largestAnswer = 64 * 1024;

class AnswerTooLarge extends Error {}

/** Asks Turnstile, hCaptcha or reCAPTCHA about a token: one try, bounded in time and size, no redirect (ADR 0006). */
export class SiteverifyProvider implements CaptchaProvider {
  constructor(
    readonly name: string,
    private readonly settings: SiteverifySettings,
    private readonly expected: Expectations,
  ) {}

  async judge(token: string, ip: string, timeoutMs: number): Promise<Judgement> {
    try {
      const response = await fetch(this.settings.verifyUrl, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({ secret: this.settings.secret, response: token, remoteip: ip }),
        redirect: 'error',
        // The signal also limits the time for reading the body.
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        return unavailable(`status ${response.status}`);
      }
      return readAnswer(await boundedText(response), this.expected);
    } catch (error) {
      return unavailable(reasonOf(error));
    }
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Throwing inside the loop cancels the stream and closes the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > largestAnswer) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns codes and fixed words only, because an error message may quote the URL, which may contain a password. */
function reasonOf(error: unknown): string {
  if (error instanceof AnswerTooLarge) return 'too large';
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: unknown };
  if (name === 'TimeoutError') return 'timeout';
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (message === 'unexpected redirect') return 'redirect';
  return typeof code === 'string' ? code : 'unreachable';
}
