import { Injectable, Logger } from '@nestjs/common';
import { loadOnce } from '../../shared/load-once';
import { BrandSettings } from '../../mail/brand-settings';
import { PasskeySettings, type RelyingParty } from '../../sessions/passkey-settings';
import { challengeSeconds } from '../persistence/passkey-challenge.repository';
import {
  type Assertion,
  type CreationInput,
  type CreationOptions,
  type NewCredential,
  type RequestOptions,
  WebAuthn,
} from './webauthn';

type Library = Pick<
  typeof import('@simplewebauthn/server'),
  'generateRegistrationOptions' | 'verifyRegistrationResponse' | 'verifyAuthenticationResponse'
> &
  Pick<typeof import('@simplewebauthn/server/helpers'), 'decodeAttestationObject' | 'decodeClientDataJSON'>;

/** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812). The list is fixed, because that of the library depends on the runtime. */
const algorithms = [-8, -7, -257];

/** WebAuthn level 3 §7.1. */
const maxCredentialIdBytes = 1023;

/**
 * Loads the library at the first use of a passkey. Its ASN.1 packages take 9 MB and 0.15 s, which a service without
 * passkeys and the anonymous route for options never need (ADR 0024).
 */
const library = loadOnce<Library>(async () => {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, ...helpers };
});

@Injectable()
export class SimpleWebAuthn extends WebAuthn {
  private readonly logger = new Logger('passkeys');

  constructor(
    private readonly brand: BrandSettings,
    private readonly passkeySettings: PasskeySettings,
  ) {
    super();
  }

  async creationOptions({ user, challenge, existing }: CreationInput): Promise<CreationOptions> {
    const { generateRegistrationOptions } = await library();
    return generateRegistrationOptions({
      rpName: this.brand.name ?? this.party.rpId,
      rpID: this.party.rpId,
      userID: bytesOf(user.uid, 'utf8'),
      userName: user.loginName,
      userDisplayName: user.nickname ?? user.loginName,
      challenge: bytesOf(challenge, 'base64url'),
      timeout: challengeSeconds * 1000,
      attestationType: 'none',
      excludeCredentials: existing.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: transports as ('usb' | 'internal')[],
      })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: algorithms,
    });
  }

  requestOptions(challenge: string): RequestOptions {
    return {
      challenge,
      rpId: this.party.rpId,
      timeout: challengeSeconds * 1000,
      userVerification: 'required',
      allowCredentials: [],
    };
  }

  async verifyRegistration(response: object, challenge: string): Promise<NewCredential | undefined> {
    const webAuthn = await library();
    return this.judged(async () => {
      const registration = response as Parameters<Library['verifyRegistrationResponse']>[0]['response'];
      assertTopLevel(webAuthn, registration.response.clientDataJSON);
      assertOwnStatement(webAuthn, registration.response.attestationObject);
      const { verified, registrationInfo } = await webAuthn.verifyRegistrationResponse({
        response: registration,
        expectedChallenge: challenge,
        expectedOrigin: this.party.origin,
        expectedRPID: this.party.rpId,
        requireUserVerification: true,
        supportedAlgorithmIDs: algorithms,
      });
      if (!verified) return undefined;
      const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo;
      // The authenticator has signed its own id of the credential, but not the one of the JSON.
      if (credential.id !== registration.id) return undefined;
      if (Buffer.from(credential.id, 'base64url').length > maxCredentialIdBytes) return undefined;
      return {
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: knownTransports(credential.transports),
        backupEligible: credentialDeviceType === 'multiDevice',
        backedUp: credentialBackedUp,
      };
    });
  }

  async verifyAssertion(
    response: object,
    challenge: string,
    { credentialId, publicKey }: Pick<NewCredential, 'credentialId' | 'publicKey'>,
  ): Promise<Assertion | undefined> {
    const webAuthn = await library();
    return this.judged(async () => {
      const authentication = response as Parameters<Library['verifyAuthenticationResponse']>[0]['response'];
      assertTopLevel(webAuthn, authentication.response.clientDataJSON);
      const { verified, authenticationInfo } = await webAuthn.verifyAuthenticationResponse({
        response: authentication,
        expectedChallenge: challenge,
        expectedOrigin: this.party.origin,
        expectedRPID: this.party.rpId,
        requireUserVerification: true,
        // The library compares the counter before the signature, so anybody could pretend that it went backwards. With
        // 0 it does not compare.
        credential: { id: credentialId, publicKey: bytesOf(publicKey, 'base64url'), counter: 0 },
      });
      if (!verified) return undefined;
      return {
        counter: authenticationInfo.newCounter,
        backupEligible: authenticationInfo.credentialDeviceType === 'multiDevice',
        backedUp: authenticationInfo.credentialBackedUp,
      };
    });
  }

  /** The library throws for everything that is wrong with a response, also what its decoders stumble over. */
  private async judged<T>(verify: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await verify();
    } catch (error) {
      this.logger.debug({ err: error }, 'a response of an authenticator does not verify');
      return undefined;
    }
  }

  private get party(): RelyingParty {
    if (this.passkeySettings.passkeys === undefined) throw new Error('passkeys are off');
    return this.passkeySettings.passkeys;
  }
}

/** The pages are never embedded in those of another origin, where a user would not see whom the passkey is for. */
function assertTopLevel({ decodeClientDataJSON }: Library, clientDataJSON: string): void {
  const { crossOrigin, topOrigin } = decodeClientDataJSON(clientDataJSON);
  if ((crossOrigin ?? false) !== false || topOrigin !== undefined) throw new Error('the page was embedded');
}

/**
 * Accepts only statements without certificates. The options ask for none, so that browsers send no others. Without a
 * list of makers a certificate proves nothing, and the library may fetch the revocation list that it names.
 */
function assertOwnStatement({ decodeAttestationObject }: Library, attestationObject: string): void {
  const statement = decodeAttestationObject(bytesOf(attestationObject, 'base64url'));
  const format = statement.get('fmt');
  if (format === 'none') return;
  if (format !== 'packed' || statement.get('attStmt').get('x5c') !== undefined) {
    throw new Error('the attestation statement has certificates');
  }
}

/** The hints of the client about its authenticator. They are only sent back to it. */
function knownTransports(transports: unknown): string[] {
  const known = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
  return Array.isArray(transports) ? known.filter((name) => transports.includes(name)) : [];
}

function bytesOf(text: string, encoding: 'utf8' | 'base64url'): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, encoding));
}
