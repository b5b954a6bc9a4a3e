import { createRequire } from 'node:module';
import { costOf, MAX_VERIFIED_COST } from './bcrypt-format';

export const foreignAlgorithms = [
  'argon2id',
  'scrypt',
  'pbkdf2-sha256',
  'pbkdf2-sha512',
  'sha256-salted',
  'bcrypt-sha256',
] as const;
export type ForeignAlgorithm = (typeof foreignAlgorithms)[number];

/** A password hash of another system, read from its text. `hash-worker.js` computes it. */
export interface ForeignHash {
  readonly algorithm: ForeignAlgorithm;
  /** The parameters in the order of the text: m, t, p of argon2id; ln, r, p of scrypt; i of pbkdf2. */
  readonly cost: readonly number[];
  readonly salt: Uint8Array;
  /** Of bcrypt-sha256: the bcrypt hash of the digest, as text. */
  readonly key: Uint8Array;
  /** Of bcrypt-sha256: what bcrypt has hashed. */
  readonly digest?: 'hex' | 'base64' | 'hmac';
  /** The memory that the computation takes, in bytes. */
  readonly memory: number;
}

/** A hash that this service must not or cannot compute. The message names no part of the hash. */
export class UnusableHash extends Error {
  override readonly name = 'UnusableHash';
}

/** `users.password` has this many characters. */
export const longestHash = 255;

/** The most memory of one computation, and of all that run at the same time. */
export const foreignMemoryLimit = 128 * 2 ** 20;

const n = '([1-9]\\d{0,6})';
const base64 = '([A-Za-z0-9+/]{1,86})';
const phc = (id: string, parameters: string) => new RegExp(`^\\$${id}\\$${parameters}\\$${base64}\\$${base64}$`);

const formats: Readonly<Record<Exclude<ForeignAlgorithm, 'sha256-salted' | 'bcrypt-sha256'>, RegExp>> = {
  argon2id: phc('argon2id', `v=19\\$m=${n},t=${n},p=${n}`),
  scrypt: phc('scrypt', `ln=${n},r=${n},p=${n}`),
  'pbkdf2-sha256': phc('pbkdf2-sha256', `i=${n}`),
  'pbkdf2-sha512': phc('pbkdf2-sha512', `i=${n}`),
};
/** bcrypt of a SHA-256, so that it reads all of a long password: Django's form, and both versions of passlib's. */
const digested = {
  hex: /^bcrypt_sha256\$\$(2[aby])\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/,
  base64: /^\$bcrypt-sha256\$(2[aby]),(\d{1,2})\$([./A-Za-z0-9]{22})\$([./A-Za-z0-9]{31})$/,
  hmac: /^\$bcrypt-sha256\$v=2,t=(2[aby]),r=(\d{1,2})\$([./A-Za-z0-9]{22})\$([./A-Za-z0-9]{31})$/,
} as const;
const saltedFormat = /^sha256-salted:([^\0]+):([0-9a-fA-F]{64})$/;

/**
 * Reads a hash of another system (docs/spec/extensions.md#g). The bounds keep one login below about a second of one
 * processor and 128 MiB, because anybody can start the computation for a known name (ADR 0030).
 * @returns undefined when the text has none of the formats
 * @throws UnusableHash when it has one, and its parameters are out of bounds
 */
export function foreignHashOf(text: string): ForeignHash | undefined {
  if (text.length > longestHash) return undefined;
  const salted = saltedFormat.exec(text);
  if (salted !== null) {
    const [, salt = '', hex = ''] = salted;
    return { algorithm: 'sha256-salted', cost: [], salt: Buffer.from(salt), key: Buffer.from(hex, 'hex'), memory: 0 };
  }
  const bcrypted = digestedHashOf(text);
  if (bcrypted !== undefined) return bcrypted;
  for (const [algorithm, format] of Object.entries(formats) as [keyof typeof formats, RegExp][]) {
    const match = format.exec(text);
    if (match === null) continue;
    const [salt, key] = match.slice(-2).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer];
    const cost = match.slice(1, -2).map(Number);
    if (key.length < 16 || key.length > 64) throw new UnusableHash(`a ${algorithm} hash must have 16 to 64 bytes`);
    return { algorithm, cost, salt, key, memory: bounded[algorithm](cost, salt.length, key.length) };
  }
  return undefined;
}

function digestedHashOf(text: string): ForeignHash | undefined {
  for (const digest of ['hex', 'base64', 'hmac'] as const) {
    const [, version, rounds = '', salt = '', key] = digested[digest].exec(text) ?? [];
    if (version === undefined) continue;
    const hash = `$${version}$${rounds.padStart(2, '0')}$${salt}${key}`;
    if ((costOf(hash) ?? Infinity) > MAX_VERIFIED_COST) {
      throw new UnusableHash(`a bcrypt-sha256 hash must have a cost of 4 to ${MAX_VERIFIED_COST}`);
    }
    const bytes = { salt: Buffer.from(salt), key: Buffer.from(hash) };
    return { algorithm: 'bcrypt-sha256', cost: [Number(rounds)], ...bytes, memory: 0, digest };
  }
  return undefined;
}

/** Check the parameters, and return the memory that the computation takes. */
const bounded: Readonly<Record<keyof typeof formats, (cost: number[], salt: number, key: number) => number>> = {
  argon2id([m = 0, t = 0, p = 0], salt) {
    if (m * 1024 > foreignMemoryLimit || m < 8 * p || p > 16 || m * t > 2 ** 20 || salt < 8) {
      throw new UnusableHash(
        'an argon2id hash must have m from 8·p to 131072, t with m·t up to 1048576, p up to 16, and a salt of 8 bytes or more',
      );
    }
    if (!argon2Loads()) throw new UnusableHash('@node-rs/argon2 does not load on this machine');
    return m * 1024;
  },
  scrypt([ln = 0, r = 0, p = 0]) {
    const blocks = 2 ** ln * r;
    if (ln >= 16 * r || 128 * blocks > foreignMemoryLimit || p > 16 || blocks * p > 2 ** 20) {
      throw new UnusableHash('a scrypt hash must have ln below 16·r, p up to 16, and 2^ln·r·p up to 1048576');
    }
    return 128 * blocks;
  },
  'pbkdf2-sha256'([i = 0], _salt, key) {
    if (i * Math.ceil(key / 32) > 2_000_000) {
      throw new UnusableHash(
        'a pbkdf2-sha256 hash must have i up to 2000000, and up to 1000000 for more than 32 bytes',
      );
    }
    return 0;
  },
  /** A round takes three times as long as one of SHA-256. A key of at most 64 bytes is one block. */
  'pbkdf2-sha512'([i = 0]) {
    if (i > 600_000) throw new UnusableHash('a pbkdf2-sha512 hash must have i up to 600000');
    return 0;
  },
};

let loads: boolean | undefined;

/** The package brings a binary for each platform. Where it has none, the hashes of argon2id cannot be verified. */
function argon2Loads(): boolean {
  if (loads === undefined) {
    try {
      createRequire(__filename)('@node-rs/argon2');
      loads = true;
    } catch {
      loads = false;
    }
  }
  return loads;
}
