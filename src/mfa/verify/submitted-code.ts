/** What `/otp-verify` carries (§4.2), all of it unproved. */
export interface SubmittedCode {
  readonly uid: string;
  readonly code: string;
  /** Undefined when the field was absent: then the client's address has to be the one that logged in. */
  readonly mfaToken: string | undefined;
}
