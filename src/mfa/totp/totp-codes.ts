/** Port: time-based one-time codes (RFC 6238) with SHA-1, 6 digits and 30 s. It has no state and reads no clock. */
export abstract class TotpCodes {
  /** A new secret in Base32 (RFC 4648) without padding, with the 160 bits that RFC 4226 §4 R6 recommends. */
  abstract generateSecret(): string;

  /** The `otpauth://totp/…` URI that an authenticator reads from the QR code. */
  abstract uri(secret: string, account: string): string;

  /**
   * @returns the time step (seconds since the Unix epoch / 30) of this code, at most `TOTP_WINDOW` steps from `now`;
   *   null for every other code, and for input that is not exactly six ASCII digits
   */
  abstract stepOf(code: string, secret: string, now: Date): number | null;
}
