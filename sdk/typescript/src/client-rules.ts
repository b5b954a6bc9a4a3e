/** §8 of the contract, the limits that are the client's to keep; seconds and counts. */
export const clientRules = {
  /** Wait after a code that was refused. */
  codeWaitSeconds: 10,
  /** Refused codes that lead back to the login. */
  codeFailures: 5,
  /** Between two sendings of a code; kept across page reloads. */
  resendSeconds: 60,
  /** After the forgotten-password form was submitted. */
  forgotSeconds: 5,
} as const;
