import { timingSafeEqual } from 'node:crypto';
import type { Comparison } from '../bcrypt-engine';
import { costOf } from '../bcrypt-format';
import { KEY_BYTES, OUTPUT_BYTES, SALT_BYTES } from './eks-blowfish';

// `$2b$cc$`, then 22 characters of salt and 31 of digest.
const SALT_AT = 7;
const DIGEST_AT = 29;
/** bcrypt keeps 23 of the 24 bytes that are enciphered. */
const DIGEST_BYTES = OUTPUT_BYTES - 1;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BCRYPT_BASE64 = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** 2 to the power of the cost. @throws Error where the two have not the same one, or are no bcrypt hashes */
export function roundsOf(...pair: [Comparison, Comparison]): number {
  const [cost, other] = pair.map(({ hash }) => costOf(hash));
  if (cost === null || cost === undefined || cost !== other) throw new Error('a pair needs hashes of one cost');
  return 2 ** cost;
}

/** Key and salt as the module takes them. In memory of its own: to post a piece of a larger one copies all of it. */
export function inputOf({ password, hash }: Comparison): Uint8Array {
  // The NUL that ends a string in C belongs to the key, as far as there is room for it; then it begins anew.
  const input = Buffer.alloc(KEY_BYTES + SALT_BYTES, Buffer.from(`${password}\0`));
  decode(hash.slice(SALT_AT, DIGEST_AT)).copy(input, KEY_BYTES);
  return input.swap32();
}

/** Whether the output is the hash's digest. Text that decodes to it but is not its own encoding is not the same. */
export function isSame({ hash }: Comparison, output: Uint8Array): boolean {
  const digest = Buffer.from(output).swap32().subarray(0, DIGEST_BYTES);
  const salt = decode(hash.slice(SALT_AT, DIGEST_AT));
  return timingSafeEqual(Buffer.from(encode(salt) + encode(digest)), Buffer.from(hash.slice(SALT_AT)));
}

const decode = (text: string): Buffer => Buffer.from(translated(text, BCRYPT_BASE64, BASE64), 'base64');
const encode = (bytes: Buffer): string =>
  translated(bytes.toString('base64').replace(/=+$/, ''), BASE64, BCRYPT_BASE64);

function translated(text: string, from: string, to: string): string {
  return text.replace(/./g, (character) => to.charAt(from.indexOf(character)));
}
