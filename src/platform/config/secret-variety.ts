/** What a secret of HS256 must at least show (extensions.md G). */
export const leastVariety = 128;

/**
 * Bits that the look of a secret allows it to have: the bytes of its shortest repeating unit, times the bits of a byte out
 * of the alphabet it shows. Nobody can see randomness in a text, so this only finds secrets that were never random:
 * `changeme` four times, one letter 32 times, 32 digits.
 */
export function bitsOfVariety(secret: Buffer): number {
  const digitsOnly = secret.every((byte) => byte >= 0x30 && byte <= 0x39);
  // 32 random hexadecimal digits show about 14 of the 16: the alphabet is rounded up to a power of two.
  const alphabet = Math.ceil(Math.log2(Math.max(1, new Set(secret).size)));
  return lengthOfUnit(secret) * (digitsOnly ? Math.min(alphabet, Math.log2(10)) : alphabet);
}

/** 8 for `changemechangemechangeme`; the whole length when nothing is repeated from start to end. */
function lengthOfUnit(secret: Buffer): number {
  for (let length = 1; length < secret.length; length++) {
    if (secret.subarray(length).equals(secret.subarray(0, -length))) return length;
  }
  return secret.length;
}
