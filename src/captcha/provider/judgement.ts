/** Why a provider gave no verdict: a fixed word or a number, never a part of the answer or of the token. */
export interface Judgement {
  readonly verdict: 'accepted' | 'rejected' | 'unavailable';
  /** For the operator's log. */
  readonly reason?: string;
  /** The operator's own mistake: it does not go away by waiting. */
  readonly misconfigured?: boolean;
  /** The provider works and refused to read this one request, which a client may have caused. */
  readonly blameless?: boolean;
}

export const accepted: Judgement = { verdict: 'accepted' };
export const rejected: Judgement = { verdict: 'rejected' };

export function unavailable(reason: string): Judgement {
  return { verdict: 'unavailable', reason };
}

/** Whoever judges tokens over the network, alone or behind a circuit breaker. */
export interface CaptchaProvider {
  readonly name: string;
  /** Never throws: whatever goes wrong is `unavailable`. */
  judge(token: string, ip: string, timeoutMs: number): Promise<Judgement>;
}
