import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';

/**
 * The format of an export: JSON lines, each with its number `n` and with `prev`, the SHA-256 of the bytes of the line before it, in
 * hexadecimal digits. The first line is a header, then each row of the log has a line, then comes a manifest, and after it a
 * signature when the export is signed (docs/spec/extensions.md#audit-export).
 */
export const formatName = 'portal-authentication.audit-export.v1';

/** `prev` of the header of a first export. */
export const noLine = '0'.repeat(64);

export const hashOf = (line: string | Buffer): string => createHash('sha256').update(line).digest('hex');

export interface Place {
  readonly id: number;
  readonly created_at: string;
}

/** What an export knows of the export before it. */
export interface Former {
  /** The SHA-256 of its last line. */
  readonly head: string;
  readonly count: number;
  readonly first_id: number | null;
  /** The id behind which the next export begins. */
  readonly through_id: number;
}

export interface Manifest {
  readonly type: 'manifest';
  readonly log: string;
  readonly filters: Readonly<Record<string, string | null>>;
  readonly count: number;
  readonly first: Place | null;
  readonly last: Place | null;
  readonly through_id: number;
  /** The hash of the last line before the manifest. */
  readonly head: string;
  /** The id of the key whose signature follows. Null: the export is not signed. */
  readonly key_id: string | null;
}

/** Makes the lines of one export. */
export class Chain {
  private n = 0;

  /** @param head the hash of the last line of the export before this one, or `noLine` */
  constructor(public head: string) {}

  /** @returns the line without its line break */
  line(members: object): string {
    const text = JSON.stringify({ n: (this.n += 1), prev: this.head, ...members });
    this.head = hashOf(text);
    return text;
  }

  /** The signature of a manifest, as the last line. */
  signature(manifest: string, key: KeyObject): string {
    const signature = sign(null, Buffer.from(manifest), key).toString('base64');
    return this.line({ type: 'signature', alg: 'Ed25519', key_id: keyIdOf(key), signature });
  }
}

/** The first 16 digits of the SHA-256 of the public key (SubjectPublicKeyInfo, DER). */
export function keyIdOf(key: KeyObject): string {
  const shared = key.type === 'public' ? key : createPublicKey(key);
  return hashOf(shared.export({ type: 'spki', format: 'der' })).slice(0, 16);
}
