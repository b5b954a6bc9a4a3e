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
export { authenticate, authenticateRequest, type Authentication, type Refusal } from './http-answer.js';
export type { IntrospectionOptions, JwksOptions, ReplayStore, VerifierOptions } from './options.js';
export type { CheckedRequest } from './request.js';
export { checkRequest, type Verifier, verifier } from './verifier.js';
