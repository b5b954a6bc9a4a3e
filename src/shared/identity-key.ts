/**
 * The canonical form of login names and e-mail addresses, for look-ups and for uniqueness: NFKC, trimmed, lower case.
 * `alice`, `ALICE`, `alice ` and the full-width spelling are one account with one failure counter
 * (docs/spec/attacks.md#w19). Accents are kept.
 */
export function identityKey(typed: string): string {
  return typed.normalize('NFKC').trim().toLowerCase();
}
