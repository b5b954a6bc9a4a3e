/** The verdict of a provider about a token. */
export interface Judgement {
  readonly verdict: 'accepted' | 'rejected' | 'unavailable';
  /** For the log: a fixed word, a code or a status number, never a part of the response body or of the token. */
  readonly reason?: string;
  /** True when the settings of this service are wrong, so a retry cannot succeed. */
  readonly misconfigured?: boolean;
  /** True when the provider works but refused this one request. A client may have caused the refusal. */
  readonly blameless?: boolean;
}

export const accepted: Judgement = { verdict: 'accepted' };
export const rejected: Judgement = { verdict: 'rejected' };

export function unavailable(reason: string): Judgement {
  return { verdict: 'unavailable', reason };
}

/** A provider that is asked over the network, with or without a circuit breaker. */
export interface CaptchaProvider {
  readonly name: string;
  /** Never throws: every failure is `unavailable`. */
  judge(token: string, ip: string, timeoutMs: number): Promise<Judgement>;
}
