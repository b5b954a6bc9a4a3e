import { costOf, MAX_VERIFIED_COST } from './bcrypt-format';
import { type ForeignAlgorithm, foreignAlgorithms, foreignHashOf, UnusableHash } from './foreign-hash';
import { storedForm } from './other-spellings';

export type HashAlgorithm = 'bcrypt' | ForeignAlgorithm;

export const hashAlgorithms: readonly HashAlgorithm[] = ['bcrypt', ...foreignAlgorithms];

export interface ImportableHash {
  readonly algorithm: HashAlgorithm;
  /** The text to store. */
  readonly hash: string;
}

/**
 * Reads a hash that the operator brings, in the spelling of PHC, Django or passlib.
 * @throws UnusableHash when this service cannot verify the hash. The message does not show the hash.
 */
export function importableHash(given: string): ImportableHash {
  const hash = storedForm(given);
  const cost = costOf(hash);
  if (cost !== null && cost <= MAX_VERIFIED_COST) return { algorithm: 'bcrypt', hash };
  const foreign = cost === null ? foreignHashOf(hash) : undefined;
  if (foreign !== undefined) return { algorithm: foreign.algorithm, hash };
  throw new UnusableHash(
    `it must be a bcrypt hash of cost 4 to ${MAX_VERIFIED_COST}, $argon2id$v=19$m=…,t=…,p=…$salt$hash, ` +
      '$scrypt$ln=…,r=…,p=…$salt$hash, $pbkdf2-sha256$i=…$salt$hash or $pbkdf2-sha512$… (base64 without padding), ' +
      'sha256-salted:SALT:HEX, or one of them or bcrypt-sha256 as Django or passlib writes it',
  );
}
