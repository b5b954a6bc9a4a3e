export {
  type CallOptions,
  type CodeOptions,
  PortalAuth,
  type Credentials,
  type Language,
  type Operation,
  type OperationOptions,
  type PortalAuthOptions,
} from './portal-auth.js';
export type { ExternalSignIn } from './external-sign-ins.js';
export { clientRules } from './client-rules.js';
export { type ClientClock, systemClock } from './client-clock.js';
export {
  ConnectionError,
  type ErrorCode,
  KeyError,
  type KeyProblem,
  PasskeyError,
  type PasskeyProblem,
  RuleError,
  ServiceError,
} from './failures.js';
export type { AskFreshLogin, ConfirmationCode, FreshLogin, Proof } from './confirmations.js';
export { type PasswordHint, passwordHints, type PasswordRule } from './password-hints.js';
export type { OwnPasswordChange, OwnSession, PastLogin, RecoveryCodeSummary, TrustedDevice } from './own-account.js';
export type { NewPasskey, Passkey, PasskeySignIn } from './own-passkeys.js';
export type { PasskeyBrowser, PasskeySupport } from './passkey-browser.js';
export type { Locks } from './exclusive.js';
export type { Enrolment, Notice, Snapshot, Step, Waiting } from './state.js';
export { type KeyValueStorage, memoryStorage } from './storage.js';
export type { KeyPair, KeyStore } from './token-keys.js';
export type {
  BrandCapability,
  CapabilitiesResponse,
  CaptchaChallengeResponse,
  ChangeRequestResponse,
  DiscoverResponse,
  IdentityProviderCapability,
  LiveRequestResponse,
  MeResponse,
  PasswordPolicyResponse,
} from './generated/types.gen.js';
