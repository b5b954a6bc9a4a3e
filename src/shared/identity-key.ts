/**
 * The form under which login names and e-mail addresses are looked up and kept unique: NFKC, trimmed, lower case, so that
 * `alice`, `ALICE`, `alice ` and the full-width spelling share one account and one failure counter (W19). Accents stay.
 */
export function identityKey(typed: string): string {
  return typed.normalize('NFKC').trim().toLowerCase();
}
