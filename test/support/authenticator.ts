import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type Cbor, cbor } from './cbor';

export type Algorithm = 'ES256' | 'RS256';

export interface AuthenticatorKind {
  readonly algorithm?: Algorithm;
  readonly attestation?: 'none' | 'packed';
  /** A synced authenticator sets the backup flags and does not count. */
  readonly synced?: boolean;
}

/** What a ceremony does differently from a correct browser and authenticator. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly userHandle?: string | null;
  readonly counter?: number;
  /** Names of flags that are set or cleared. */
  readonly flags?: Partial<Record<Flag, boolean>>;
  /** Further fields of the client data. */
  readonly clientData?: Record<string, unknown>;
  /** Changes the client data after it was signed. */
  readonly tamper?: (data: Record<string, unknown>) => Record<string, unknown>;
  /** Signed in place of the authenticator data and the hash of the client data. */
  readonly signedData?: Buffer;
  /** In place of the attestation object. */
  readonly attestationObject?: Buffer;
  readonly attStmt?: Map<string, Cbor>;
  readonly fmt?: string;
  readonly credentialId?: Buffer;
  /** Appended to the authenticator data. */
  readonly extensions?: Buffer;
}

type Flag = keyof typeof flagBits;

const flagBits = { up: 1, uv: 4, be: 8, bs: 16, at: 64, ed: 128 } as const;
const coseAlgorithm = { ES256: -7, RS256: -257 } as const;

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

export interface SoftCredential {
  readonly id: Buffer;
  readonly key: KeyObject;
  readonly userHandle: string;
  readonly rpId: string;
  counter: number;
}

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const text = (data: Buffer): string => data.toString('base64url');

/** A browser with an authenticator in software (WebAuthn level 3 §6), which can also break every rule. */
export class SoftAuthenticator {
  readonly credentials: SoftCredential[] = [];
  private readonly algorithm: Algorithm;
  private readonly attestation: 'none' | 'packed';
  private readonly synced: boolean;

  constructor(
    readonly origin: string,
    { algorithm = 'ES256', attestation = 'none', synced = false }: AuthenticatorKind = {},
  ) {
    this.algorithm = algorithm;
    this.attestation = attestation;
    this.synced = synced;
  }

  /** `navigator.credentials.create`: returns a `RegistrationResponseJSON`. */
  create(options: CreationOptions, deviation: Deviation = {}): Record<string, any> {
    const { privateKey, publicKey } = keyPair(this.algorithm);
    const rpId = deviation.rpId ?? options.rp.id;
    const credential: SoftCredential = {
      id: deviation.credentialId ?? randomBytes(32),
      key: privateKey,
      userHandle: options.user.id,
      rpId,
      counter: this.synced ? 0 : 1,
    };
    this.credentials.push(credential);
    const clientData = this.clientData('webauthn.create', options.challenge, deviation);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(credential.id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, credential.id, coseKey(this.algorithm, publicKey)]);
    const flags = { at: true, ...deviation.flags };
    const authData = this.authenticatorData(credential, { ...deviation, flags }, attested);
    const fmt = deviation.fmt ?? this.attestation;
    const statement: Map<string, Cbor> =
      fmt === 'packed'
        ? new Map<string, Cbor>([
            ['alg', coseAlgorithm[this.algorithm]],
            ['sig', this.signature(credential, authData, clientData, deviation)],
          ])
        : new Map<string, Cbor>();
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ['fmt', fmt],
        ['attStmt', deviation.attStmt ?? statement],
        ['authData', authData],
      ]),
    );
    return {
      ...ids(credential),
      response: {
        clientDataJSON: text(tampered(clientData, deviation)),
        attestationObject: text(deviation.attestationObject ?? attestationObject),
        transports: ['internal', 'hybrid'],
      },
      authenticatorAttachment: 'platform',
      clientExtensionResults: { credProps: { rk: true } },
    };
  }

  /** `navigator.credentials.get`: returns an `AuthenticationResponseJSON` of the newest credential, or the given one. */
  get(
    options: RequestOptions,
    deviation: Deviation = {},
    credential: SoftCredential = this.credentials.at(-1)!,
  ): Record<string, any> {
    if (!this.synced) credential.counter += 1;
    const clientData = this.clientData('webauthn.get', options.challenge, deviation);
    const authData = this.authenticatorData({ ...credential, rpId: deviation.rpId ?? options.rpId }, deviation);
    const userHandle = deviation.userHandle === undefined ? credential.userHandle : deviation.userHandle;
    return {
      ...ids(credential),
      response: {
        clientDataJSON: text(tampered(clientData, deviation)),
        authenticatorData: text(authData),
        signature: text(this.signature(credential, authData, clientData, deviation)),
        ...(userHandle === null ? {} : { userHandle }),
      },
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
    };
  }

  private clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    const data = {
      type: deviation.type ?? type,
      challenge: deviation.challenge ?? challenge,
      origin: deviation.origin ?? this.origin,
      crossOrigin: false,
      ...deviation.clientData,
    };
    return Buffer.from(JSON.stringify(data));
  }

  private authenticatorData(
    { rpId, counter }: SoftCredential,
    { flags, counter: forced, extensions = Buffer.alloc(0) }: Deviation,
    attested = Buffer.alloc(0),
  ): Buffer {
    const set: Partial<Record<Flag, boolean>> = { up: true, uv: true, be: this.synced, bs: this.synced, ...flags };
    const bits = Object.entries(flagBits).reduce((sum, [name, bit]) => sum | (set[name as Flag] ? bit : 0), 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(forced ?? counter);
    return Buffer.concat([sha256(rpId), Buffer.from([bits]), count, attested, extensions]);
  }

  private signature({ key }: SoftCredential, authData: Buffer, clientData: Buffer, { signedData }: Deviation): Buffer {
    return sign('sha256', signedData ?? Buffer.concat([authData, sha256(clientData)]), key);
  }
}

const ids = ({ id }: SoftCredential) => ({ id: text(id), rawId: text(id), type: 'public-key' });

function tampered(clientData: Buffer, { tamper }: Deviation): Buffer {
  if (tamper === undefined) return clientData;
  return Buffer.from(JSON.stringify(tamper(JSON.parse(clientData.toString()) as Record<string, unknown>)));
}

function keyPair(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  return algorithm === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** The COSE key (RFC 9052 §7, RFC 8230 §4). */
function coseKey(algorithm: Algorithm, key: KeyObject): Buffer {
  const { x, y, n, e } = key.export({ format: 'jwk' });
  const bytes = (value: string | undefined) => Buffer.from(value!, 'base64url');
  const fields: [number, Cbor][] =
    algorithm === 'ES256'
      ? [
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytes(x)],
          [-3, bytes(y)],
        ]
      : [
          [1, 3],
          [3, -257],
          [-1, bytes(n)],
          [-2, bytes(e)],
        ];
  return cbor(new Map<number, Cbor>(fields));
}
