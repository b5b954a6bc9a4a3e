'use strict';

const { createHash, createHmac, pbkdf2Sync, scryptSync, timingSafeEqual } = require('node:crypto');

/** `Algorithm.Argon2id` and `Version.V0x13` of the package, whose declarations have them as `const enum`. */
const argon2id = { algorithm: 2, version: 1 };

/** The bytes that the algorithm makes of the password. `foreign-hash.ts` has checked the parameters. */
function deriveKey({ algorithm, cost, salt, key }, password) {
  switch (algorithm) {
    case 'argon2id': {
      const [memoryCost, timeCost, parallelism] = cost;
      // Loaded when it is first needed, because most installations never see such a hash.
      const { hashRawSync } = require('@node-rs/argon2');
      return hashRawSync(password, { ...argon2id, memoryCost, timeCost, parallelism, outputLen: key.length, salt });
    }
    case 'scrypt': {
      const [ln, r, p] = cost;
      const N = 2 ** ln;
      return scryptSync(password, salt, key.length, { N, r, p, maxmem: 128 * r * (N + p + 2) });
    }
    case 'pbkdf2-sha256':
      return pbkdf2Sync(password, salt, cost[0], key.length, 'sha256');
    case 'pbkdf2-sha512':
      return pbkdf2Sync(password, salt, cost[0], key.length, 'sha512');
    case 'sha256-salted':
      return createHash('sha256').update(salt).update(password, 'utf8').digest();
    default:
      throw new Error('unknown algorithm');
  }
}

/** Returns whether the password belongs to the hash of another system. */
function matchesForeign(hash, password) {
  return timingSafeEqual(deriveKey({ ...hash, salt: Buffer.from(hash.salt) }, password), Buffer.from(hash.key));
}

/** What bcrypt hashes of the password in a hash of bcrypt-sha256, and the bcrypt hash to compare it with. */
function digestOf({ digest, salt, key }, password) {
  // passlib takes the text of the salt as the key of the HMAC.
  const sha256 = digest === 'hmac' ? createHmac('sha256', Buffer.from(salt)) : createHash('sha256');
  const encoding = digest === 'hex' ? 'hex' : 'base64';
  return { password: sha256.update(password, 'utf8').digest(encoding), hash: Buffer.from(key).toString() };
}

module.exports = { digestOf, matchesForeign };
