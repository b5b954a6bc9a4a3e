/** `unavailable`: no provider could judge the token. The token is not spent, so the client may send it again. */
export type CaptchaVerdict = 'accepted' | 'rejected' | 'unavailable';

/** Port: verifies captcha tokens. It fails closed and accepts a token only once (docs/spec/decisions.md#6). */
export abstract class CaptchaGateway {
  /**
   * Judges a token of the captcha widget. A token is accepted once, across all replicas.
   * @param token 1 to 2048 visible ASCII characters
   * @param ip the client's canonical address
   * @throws DomainError COMMON_503001 when the database cannot answer
   */
  abstract judge(token: string, ip: string): Promise<CaptchaVerdict>;
}
