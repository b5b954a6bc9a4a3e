/** `unavailable`: nobody could judge the token now; it is as good as before. */
export type CaptchaVerdict = 'accepted' | 'rejected' | 'unavailable';

/** Port: who tells people from programs. It fails closed and spends what it accepts (§1.2, decisions.md 6). */
export abstract class CaptchaGateway {
  /**
   * Judges a token that the captcha's widget gave. A token is accepted once, over all replicas.
   * @param token 1 to 2048 visible ASCII characters
   * @param ip the client's canonical address
   * @throws DomainError COMMON_503001 when the store cannot answer
   */
  abstract judge(token: string, ip: string): Promise<CaptchaVerdict>;
}
