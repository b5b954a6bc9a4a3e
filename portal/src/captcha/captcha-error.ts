/** `failed`: no token. `blocked`: the provider's script did not load. `unfinished`: the user left the challenge. */
export type CaptchaProblem = 'failed' | 'blocked' | 'unfinished';

/** The browser has no captcha token, for example because it offers no cryptography on this address. */
export class CaptchaError extends Error {
  override readonly name = 'CaptchaError';

  constructor(
    readonly problem: CaptchaProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
