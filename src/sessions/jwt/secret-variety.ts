/** The least variety of a secret of HS256 (docs/spec/extensions.md#strict-settings). */
export const minVarietyBits = 128;

/**
 * An upper bound for the randomness of a secret, in bits: the length of its shortest repeating unit, times the bits of
 * one byte of the alphabet that it uses. No test can prove that a text is random. This function only finds secrets that
 * cannot be random: `changeme` four times, one letter 32 times, 32 digits.
 */
export function bitsOfVariety(secret: Buffer): number {
  const digitsOnly = secret.every((byte) => byte >= 0x30 && byte <= 0x39);
  // 32 random hexadecimal digits use about 14 of the 16, so the alphabet is rounded up to a power of two.
  const alphabet = Math.ceil(Math.log2(Math.max(1, new Set(secret).size)));
  return lengthOfUnit(secret) * (digitsOnly ? Math.min(alphabet, Math.log2(10)) : alphabet);
}

/** The length of the repeating unit: 8 for `changemechangemechangeme`, the whole length without a repetition. */
function lengthOfUnit(secret: Buffer): number {
  for (let length = 1; length < secret.length; length++) {
    if (secret.subarray(length).equals(secret.subarray(0, -length))) return length;
  }
  return secret.length;
}
