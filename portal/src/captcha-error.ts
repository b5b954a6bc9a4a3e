/** The browser could not solve the challenge, for example because it offers no cryptography on this address. */
export class CaptchaError extends Error {
  override readonly name = 'CaptchaError';
}
