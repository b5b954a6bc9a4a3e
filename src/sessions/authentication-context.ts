import type { AuthenticationContext, AuthenticationMethod } from './token-payload';

/** A trusted device (`device`) only replaces the code, so it is no second factor. */
const secondFactors: ReadonlySet<AuthenticationMethod> = new Set(['otp', 'hwk', 'mfa']);

export function hasSecondFactor(amr: readonly AuthenticationMethod[]): boolean {
  return amr.some((method) => secondFactors.has(method));
}

/** The claim `acr` of a session with these methods. No other place derives one from the other. */
export function acrOf(amr: readonly AuthenticationMethod[]): AuthenticationContext {
  return hasSecondFactor(amr) ? 'urn:portal:acr:2' : 'urn:portal:acr:1';
}
