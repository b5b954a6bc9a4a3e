/** Port: time-based one-time codes (RFC 6238) with SHA-1, 6 digits, 30 s. Knows no store and no clock. */
export abstract class TotpCodes {
  /** A new secret in Base32 (RFC 4648) without padding, 160 bit as RFC 4226 §4 R6 recommends. */
  abstract generateSecret(): string;

  /** `otpauth://totp/…`: what an authenticator reads from the QR code. */
  abstract uri(secret: string, account: string): string;

  /**
   * The time step (seconds since the epoch / 30) whose code this is, at most `TOTP_WINDOW` steps from `now`.
   * @returns null for every other code, and for what is not exactly six ASCII digits.
   */
  abstract stepOf(code: string, secret: string, now: Date): number | null;
}
