/** The limits that the contract leaves to the client (docs/spec/service.md#8). */
export const clientRules = {
  /** Wait after a refused code. */
  codeWaitSeconds: 10,
  /** Number of refused codes after which the login starts again. */
  codeFailures: 5,
  /** Wait between two code mails. It survives a page reload. */
  resendSeconds: 60,
  /** Wait after each submission of the forgotten-password form. */
  forgotSeconds: 5,
  /** After this time a challenge of the captcha is given up. */
  captchaSeconds: 10,
} as const;
