'use strict';

const { timingSafeEqual } = require('node:crypto');
const { KEY_BYTES, OUTPUT_BYTES, SALT_BYTES } = require('./eks-blowfish');

/** @typedef {import('./index').Comparison} Comparison */

// `$2b$cc$`, then 22 characters of salt and 31 of digest.
const BCRYPT_HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const SALT_AT = 7;
const DIGEST_AT = 29;
/** bcrypt stores 23 of the 24 enciphered bytes. */
const DIGEST_BYTES = OUTPUT_BYTES - 1;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BCRYPT_BASE64 = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * The cost of a bcrypt hash: the base-2 logarithm of its rounds, 4 to 31.
 * @param {string} hash
 * @returns {number | null} null when the text is not a bcrypt hash
 */
function costOf(hash) {
  const cost = Number(BCRYPT_HASH.exec(hash)?.[1] ?? NaN);
  return cost >= 4 && cost <= 31 ? cost : null;
}

/**
 * The key, repeated up to 72 bytes, and the salt, as the WebAssembly module reads them: words in little-endian order.
 * @param {Comparison} comparison
 */
function inputOf({ password, hash }) {
  // bcrypt's key includes the NUL that ends a C string. Longer keys are cut at 72 bytes.
  const input = Buffer.alloc(KEY_BYTES + SALT_BYTES, Buffer.from(`${password}\0`));
  decode(hash.slice(SALT_AT, DIGEST_AT)).copy(input, KEY_BYTES);
  return input.swap32();
}

/**
 * Whether the module's output is the digest of the hash. The function compares the texts, not the decoded bytes. The
 * last character of the salt and of the digest has unused bits, and both bcrypt libraries refuse a text that sets them.
 * @param {string} hash
 * @param {Uint8Array} output
 */
function matchesDigest(hash, output) {
  const digest = Buffer.from(output).swap32().subarray(0, DIGEST_BYTES);
  const salt = decode(hash.slice(SALT_AT, DIGEST_AT));
  return timingSafeEqual(Buffer.from(encode(salt) + encode(digest)), Buffer.from(hash.slice(SALT_AT)));
}

/** @param {string} text */
const decode = (text) => Buffer.from(translate(text, BCRYPT_BASE64, BASE64), 'base64');
/** @param {Buffer} bytes */
const encode = (bytes) => translate(bytes.toString('base64').replace(/=+$/, ''), BASE64, BCRYPT_BASE64);

/** @param {string} text @param {string} from @param {string} to */
function translate(text, from, to) {
  return text.replace(/./g, (character) => to.charAt(from.indexOf(character)));
}

module.exports = { costOf, inputOf, matchesDigest };
