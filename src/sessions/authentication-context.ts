import type { AuthenticationMethod } from './token-payload';

/** How strongly a session was authenticated (docs/spec/extensions.md#acr): one factor, or two factors. */
export type AuthenticationContext = 'urn:portal:acr:1' | 'urn:portal:acr:2';

/** A trusted device (`device`) only replaces the code, so it is no second factor. */
const secondFactors: ReadonlySet<AuthenticationMethod> = new Set(['otp', 'hwk', 'mfa']);

export function hasSecondFactor(amr: readonly AuthenticationMethod[]): boolean {
  return amr.some((method) => secondFactors.has(method));
}

/** The claim `acr` of a session with these methods. No other place derives one from the other. */
export function acrOf(amr: readonly AuthenticationMethod[]): AuthenticationContext {
  return hasSecondFactor(amr) ? 'urn:portal:acr:2' : 'urn:portal:acr:1';
}
