import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { KeySettings } from '../config/key-settings';
import { Random } from '../../shared/random';

const nonceBytes = 12;
const tagBytes = 16;
const keyIdLength = 16;
const mark = 'v1.';
/** The form of a sealed value: at least a nonce and a tag. A password that a person typed does not have this form. */
const sealedForm = /^v1\.[\w-]{38,}$/;

/** The key of a stored value is not in the list: the wrong key is configured, or an old one was removed too early. */
export class DataKeyMismatch extends Error {
  override readonly name = 'DataKeyMismatch';

  constructor(readonly purpose: string) {
    super(`DATA_ENCRYPTION_KEY does not open a stored value (${purpose}): is a key missing from the list?`);
  }
}

/**
 * Seals secrets at rest and makes keyed hashes with the keys of `DATA_ENCRYPTION_KEY`. The first key of the list writes
 * and all keys read, so that keys can be rotated. HKDF-SHA256 (RFC 5869) derives a key for each purpose, so all
 * replicas derive the same keys.
 */
export class KeyRing {
  private readonly logger = new Logger('keys');
  private readonly derived = new Map<string, Buffer[]>();
  /** Purposes for which a mismatch has been logged. */
  private readonly logged = new Set<string>();

  constructor(
    private readonly settings: KeySettings,
    private readonly random: Random,
  ) {}

  /** AES-256-GCM with the key of the purpose. A value that is copied to a column with another purpose does not open. */
  seal(purpose: string, plain: string): string {
    return sealWith(this.keys(`seal:${purpose}`)[0]!, this.random.bytes(nonceBytes), plain);
  }

  /** @throws DataKeyMismatch if no configured key opens the value */
  open(purpose: string, sealed: string): string {
    return this.opened(purpose, sealed).plain;
  }

  /** Opens a text that a client sends. If no key opens it, the keys are not at fault: the result is undefined. */
  openFromClient(purpose: string, text: string): string | undefined {
    return this.openedBy(purpose, text)?.plain;
  }

  /**
   * Seals a value again with the first key. A value that the first key has sealed is returned unchanged. The nonce
   * stays the same, so that `identityOf` the value stays the same. Reusing the nonce is safe: it was drawn for this
   * value, and the first key has not used it yet.
   * @throws DataKeyMismatch if no configured key opens the value
   */
  reseal(purpose: string, sealed: string): string {
    const { plain, key } = this.opened(purpose, sealed);
    const [first] = this.keys(`seal:${purpose}`);
    return key === first ? sealed : sealWith(first!, bytesOf(sealed).subarray(0, nonceBytes), plain);
  }

  /** HMAC-SHA256 in hexadecimal, with the first key. */
  mac(purpose: string, data: string): string {
    return macWith(this.keys(`mac:${purpose}`)[0]!, data).toString('hex');
  }

  /** The MAC with each key, that of the first key at the start. */
  macs(purpose: string, data: string): readonly string[] {
    return this.keys(`mac:${purpose}`).map((key) => macWith(key, data).toString('hex'));
  }

  /**
   * Names the keys of a purpose, the first key at the start. A MAC that is stored for years is stored with the name of
   * its key, because it cannot be made again with another key.
   */
  keyIds(purpose: string): readonly string[] {
    return this.macs(`key-id:${purpose}`, purpose).map((mac) => mac.slice(0, keyIdLength));
  }

  /** Compares in constant time with each key, so that a code stays valid while keys are rotated. */
  macMatches(purpose: string, data: string, expectedHex: string): boolean {
    const expected = Buffer.from(expectedHex, 'hex');
    return this.keys(`mac:${purpose}`)
      .map((key) => macWith(key, data))
      .some((actual) => actual.length === expected.length && timingSafeEqual(actual, expected));
  }

  /** Derived keys in hexadecimal, for libraries that take a secret. The first key writes. */
  secrets(purpose: string): readonly string[] {
    return this.keys(`secret:${purpose}`).map((key) => key.toString('hex'));
  }

  private opened(purpose: string, sealed: string): { readonly plain: string; readonly key: Buffer } {
    const found = this.openedBy(purpose, sealed);
    if (found !== undefined) return found;
    const mismatch = new DataKeyMismatch(purpose);
    // Each request that needs such a value fails with the same reason, so the reason is logged once.
    if (!this.logged.has(purpose)) this.logger.error({ purpose }, mismatch.message);
    this.logged.add(purpose);
    throw mismatch;
  }

  private openedBy(purpose: string, sealed: string): { readonly plain: string; readonly key: Buffer } | undefined {
    for (const key of this.keys(`seal:${purpose}`)) {
      const plain = openWith(key, bytesOf(sealed));
      if (plain !== undefined) return { plain, key };
    }
    return undefined;
  }

  private keys(label: string): Buffer[] {
    let keys = this.derived.get(label);
    if (keys === undefined) {
      keys = this.settings.dataKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', label, 32)));
      this.derived.set(label, keys);
    }
    return keys;
  }
}

export const isSealed = (text: string): boolean => sealedForm.test(text);

/** The length of the mark and the nonce, by which a sealed value is recognised. */
export const identityLength = mark.length + (nonceBytes * 4) / 3;

/** Identifies a sealed value. It is the same before and after `reseal`, so guarded writes compare it. */
export const identityOf = (sealed: string): string => sealed.slice(0, identityLength);

function sealWith(key: Buffer, nonce: Buffer, plain: string): string {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${mark}${sealed.toString('base64url')}`;
}

function openWith(key: Buffer, bytes: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([plain, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function macWith(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function bytesOf(sealed: string): Buffer {
  return Buffer.from(sealed.startsWith(mark) ? sealed.slice(mark.length) : sealed, 'base64url');
}

/**
 * The stored form of a link or an opaque token (docs/spec/attacks.md#w27). A copy of the table does not reveal the
 * token.
 */
export function sha256Hex(value: string): string {
  return hash('sha256', value, 'hex');
}
