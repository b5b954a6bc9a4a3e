import { costOf, MAX_VERIFIED_COST } from './bcrypt-format';
import { type ForeignAlgorithm, foreignAlgorithms, foreignHashOf, UnusableHash } from './foreign-hash';

export type HashAlgorithm = 'bcrypt' | ForeignAlgorithm;

export const hashAlgorithms: readonly HashAlgorithm[] = ['bcrypt', ...foreignAlgorithms];

/**
 * Tells which algorithm made a hash that the operator brings.
 * @throws UnusableHash when this service cannot verify the hash. The message does not show the hash.
 */
export function algorithmOf(hash: string): HashAlgorithm {
  const cost = costOf(hash);
  if (cost !== null && cost <= MAX_VERIFIED_COST) return 'bcrypt';
  const foreign = cost === null ? foreignHashOf(hash) : undefined;
  if (foreign !== undefined) return foreign.algorithm;
  throw new UnusableHash(
    `it must be a bcrypt hash of cost 4 to ${MAX_VERIFIED_COST}, $argon2id$v=19$m=…,t=…,p=…$salt$hash, ` +
      '$scrypt$ln=…,r=…,p=…$salt$hash, $pbkdf2-sha256$i=…$salt$hash (base64 without padding) or sha256-salted:SALT:HEX',
  );
}
