/**
 * The form in which login names and e-mail addresses are looked up and unique: NFKC, trimmed, lower case. `alice`,
 * `ALICE`, `alice ` and the full-width spelling are one account with one failure counter (docs/spec/attacks.md#w19).
 * Accents stay.
 */
export function identityKey(typed: string): string {
  return typed.normalize('NFKC').trim().toLowerCase();
}
