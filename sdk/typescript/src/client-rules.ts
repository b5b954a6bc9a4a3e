/** The limits that the contract leaves to the client (docs/spec/service.md#8). */
export const clientRules = {
  /** Wait after a refused code. */
  codeWaitSeconds: 10,
  /** Number of refused codes after which the login starts again. */
  codeFailures: 5,
  /** Wait between two code mails. The wait survives a page reload. */
  resendSeconds: 60,
  /** Wait after each submission of the forgotten-password form. */
  forgotSeconds: 5,
  /** Time-out for the request of a captcha challenge. */
  captchaSeconds: 10,
  /** Age at which the autofill of passkeys gets a new challenge. The service accepts a challenge for 300 s. */
  autofillSeconds: 240,
} as const;
