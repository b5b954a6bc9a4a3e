import type { Random } from '../../shared/random';

/** Base 32 by Douglas Crockford: no i, l, o and u, which are easily misread. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const half = 5;
const characters = 2 * half;

/** How many codes a user gets at a time. */
export const codesAtATime = 10;

/** A code of 50 bits in the form `xxxxx-xxxxx`. */
export function newRecoveryCode(random: Random): string {
  // 32 divides 256, so every character is equally likely.
  const text = [...random.bytes(characters)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${text.slice(0, half)}-${text.slice(half)}`;
}

/**
 * The ten characters of a code as a person may have typed it: hyphens, spaces and case do not matter, and a look-alike
 * stands for its digit. Returns undefined for a text that is no code.
 */
export function canonicalRecoveryCode(typed: string): string | undefined {
  const text = typed.replace(/[-\s]/g, '');
  if (!/^[0-9a-z]{10}$/i.test(text)) return undefined;
  const canonical = text.toLowerCase().replace(/[il]/g, '1').replaceAll('o', '0');
  return canonical.includes('u') ? undefined : canonical;
}
