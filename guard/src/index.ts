export {
  type Auth,
  authOf,
  type Insufficient,
  type InsufficientReason,
  type IntrospectedAuth,
  type InvalidReason,
  type SignedAuth,
  type Unavailable,
  type UnavailableReason,
  type Verdict,
} from './auth.js';
export type { Demands } from './demands.js';
export { authenticate, type Authentication, type Refusal } from './http-answer.js';
export type { IntrospectionOptions, JwksOptions, VerifierOptions } from './options.js';
export { type Verifier, verifier } from './verifier.js';
