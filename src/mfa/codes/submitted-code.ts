export const codeTypes = ['email', 'totp', 'recovery'] as const;

/** The `type` of a code at `/otp-verify`. */
export type CodeType = (typeof codeTypes)[number];

/** The fields of a `/otp-verify` request. None of them is verified. */
export interface SubmittedCode {
  readonly uid: string;
  readonly code: string;
  /** Undefined when the field is absent: then the IP address must be the one of the login. */
  readonly mfaToken: string | undefined;
  /** Whether the client asks that its browser needs no code at the next logins. */
  readonly trustDevice: boolean;
}

/** True for exactly six ASCII digits: no spaces, no full-width digits, no other notation of a number. */
export function isCodeShaped(code: string): boolean {
  return /^[0-9]{6}$/.test(code);
}
