/** The fields of a `/otp-verify` request. None of them is verified. */
export interface SubmittedCode {
  readonly uid: string;
  readonly code: string;
  /** Undefined when the field is absent: then the IP address must be the one of the login. */
  readonly mfaToken: string | undefined;
  /** Whether the client asks that its browser needs no code at the next logins. */
  readonly trustDevice: boolean;
}
