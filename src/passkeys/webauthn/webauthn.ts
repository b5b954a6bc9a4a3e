import type { SessionUser } from '../../sessions/current-session';

/** A credential as its authenticator made it. */
export interface NewCredential {
  /** Base64url. */
  readonly credentialId: string;
  /** The COSE key in base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  /** The credential may be copied to other devices of its owner. This never changes. */
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

/** What an authenticator has signed. */
export interface Assertion {
  readonly counter: number;
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

export interface CreationInput {
  readonly user: Pick<SessionUser, 'uid' | 'loginName' | 'nickname'>;
  readonly challenge: string;
  /** The credentials of the user, so that the authenticator does not make a second one for the same account. */
  readonly existing: readonly Pick<NewCredential, 'credentialId' | 'transports'>[];
}

/** `PublicKeyCredentialCreationOptionsJSON` and `PublicKeyCredentialRequestOptionsJSON` of WebAuthn level 3 §5.1. */
export type CreationOptions = Awaited<
  ReturnType<(typeof import('@simplewebauthn/server'))['generateRegistrationOptions']>
>;

export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: 'required';
  readonly allowCredentials: readonly never[];
}

/**
 * The ceremonies of WebAuthn level 3 §7 for the relying party of `PASSKEY_RP_ID` and the origin of `SYSTEM_URL`. A
 * response is the JSON of a client: every field of it can be missing, malformed or forged.
 */
export abstract class WebAuthn {
  abstract creationOptions(input: CreationInput): Promise<CreationOptions>;

  /** The options of a login. They name no credential, because nobody has said who logs in. */
  abstract requestOptions(challenge: string): RequestOptions;

  /** @returns undefined when the response does not verify for this challenge */
  abstract verifyRegistration(response: object, challenge: string): Promise<NewCredential | undefined>;

  /**
   * Does not compare the counter, because only the guarded write of the counter can.
   * @returns undefined when the response does not verify for this challenge and this key
   */
  abstract verifyAssertion(
    response: object,
    challenge: string,
    key: Pick<NewCredential, 'credentialId' | 'publicKey'>,
  ): Promise<Assertion | undefined>;
}
