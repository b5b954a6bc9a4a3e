import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { AppConfig } from '../config/app-config';
import { Random } from '../../shared/random';

const nonceBytes = 12;
const tagBytes = 16;
const mark = 'v1.';
/** At least a nonce and a tag. A password that somebody typed does not look like this. */
const sealedForm = /^v1\.[\w-]{38,}$/;

/** The stored value was sealed with a key that is not in the list: the wrong key is configured, or one was dropped too early. */
export class DataKeyMismatch extends Error {
  override readonly name = 'DataKeyMismatch';

  constructor(readonly purpose: string) {
    super(`DATA_ENCRYPTION_KEY does not open a stored value (${purpose})`);
  }
}

/**
 * Secrets at rest and keyed hashes, all from `DATA_ENCRYPTION_KEY`: the first key writes, every key reads, so that keys
 * rotate with overlap. Each purpose gets a key of its own (HKDF-SHA256, RFC 5869) and replicas agree on all of them.
 */
export class KeyRing {
  private readonly logger = new Logger('keys');
  private readonly derived = new Map<string, Buffer[]>();
  /** Purposes of which the log has told that a value does not open. */
  private readonly told = new Set<string>();

  constructor(
    private readonly config: AppConfig,
    private readonly random: Random,
  ) {}

  /** AES-256-GCM; `purpose` is authenticated too, so that a value cannot be moved to another column. */
  seal(purpose: string, plain: string): string {
    return sealWith(this.keys(`seal:${purpose}`)[0]!, this.random.bytes(nonceBytes), plain);
  }

  /** @throws DataKeyMismatch when no configured key opens it. */
  open(purpose: string, sealed: string): string {
    return this.opened(purpose, sealed).plain;
  }

  /**
   * The same value as the key that writes seals it; what that key has sealed comes back as it is. The nonce stays, so that
   * `identityOf` does: it was drawn for this value alone, and under another key it has not been used yet.
   * @throws DataKeyMismatch when no configured key opens it.
   */
  reseal(purpose: string, sealed: string): string {
    const { plain, key } = this.opened(purpose, sealed);
    const [first] = this.keys(`seal:${purpose}`);
    return key === first ? sealed : sealWith(first!, bytesOf(sealed).subarray(0, nonceBytes), plain);
  }

  /** HMAC-SHA256 in hexadecimal, with the key that writes. */
  mac(purpose: string, data: string): string {
    return createHmac('sha256', this.keys(`mac:${purpose}`)[0]!)
      .update(data)
      .digest('hex');
  }

  /** Constant-time comparison against every key, so that a code stays good while keys rotate. */
  macMatches(purpose: string, data: string, expectedHex: string): boolean {
    const expected = Buffer.from(expectedHex, 'hex');
    return this.keys(`mac:${purpose}`)
      .map((key) => createHmac('sha256', key).update(data).digest())
      .some((actual) => actual.length === expected.length && timingSafeEqual(actual, expected));
  }

  /** A derived key for a library that wants one, in hexadecimal; the first is the one that writes. */
  secrets(purpose: string): readonly string[] {
    return this.keys(`secret:${purpose}`).map((key) => key.toString('hex'));
  }

  private opened(purpose: string, sealed: string): { readonly plain: string; readonly key: Buffer } {
    for (const key of this.keys(`seal:${purpose}`)) {
      const plain = openWith(key, bytesOf(sealed));
      if (plain !== undefined) return { plain, key };
    }
    const mismatch = new DataKeyMismatch(purpose);
    // Each request that needs such a value fails; the reason is the same for all of them.
    if (!this.told.has(purpose)) this.logger.error({ purpose }, mismatch.message);
    this.told.add(purpose);
    throw mismatch;
  }

  private keys(label: string): Buffer[] {
    let keys = this.derived.get(label);
    if (keys === undefined) {
      keys = this.config.dataKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', label, 32)));
      this.derived.set(label, keys);
    }
    return keys;
  }
}

export const isSealed = (text: string): boolean => sealedForm.test(text);

/** Characters at the start of a sealed value that are its own: the mark and the nonce. */
export const identityLength = mark.length + (nonceBytes * 4) / 3;

/** Tells one sealed value from the next, and is the same before and after `reseal`: guards compare it. */
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

function bytesOf(sealed: string): Buffer {
  return Buffer.from(sealed.startsWith(mark) ? sealed.slice(mark.length) : sealed, 'base64url');
}

/** What is stored of a link or an opaque token: enough to find it, useless to who reads the table (W27). */
export function sha256Hex(value: string): string {
  return createHash('sha256').update(value, 'utf8').digest('hex');
}
