/** bcrypt reads 72 bytes and ignores the rest. */
const MAX_BYTES = 72;

/**
 * Whether bcrypt sees every byte of this password: at most 72 bytes in UTF-8, no NUL (some implementations end there),
 * no lone surrogate (all of them encode as U+FFFD, so different passwords would become one).
 */
export function isHashable(password: string): boolean {
  return (
    Buffer.byteLength(password, 'utf8') <= MAX_BYTES && !password.includes('\0') && !/\p{Surrogate}/u.test(password)
  );
}
