/** What the browser of the user can do with passkeys. */
export interface PasskeySupport {
  /** The browser can make passkeys and sign in with them. */
  readonly passkeys: boolean;
  /** The browser can list passkeys in the autofill of a field with `autocomplete="username webauthn"`. */
  readonly autofill: boolean;
  /** This device can keep passkeys itself, and verifies its user by fingerprint, face or screen lock. */
  readonly platform: boolean;
}

/**
 * The part of WebAuthn that the SDK needs. The module `@portal-auth/sdk/passkeys` has it for browsers. Options and
 * responses have the JSON forms of WebAuthn. Each promise rejects with a `PasskeyError`.
 */
export interface PasskeyBrowser {
  support(): Promise<PasskeySupport>;
  /** Makes a passkey. */
  create(options: object, signal: AbortSignal): Promise<object>;
  /** Signs the challenge of the options with a passkey that the user chooses, in a prompt or in the autofill. */
  get(options: object, signal: AbortSignal, autofill: boolean): Promise<object>;
}
