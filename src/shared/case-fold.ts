/**
 * One form for all spellings that a reader takes for the same text: NFKC, full case folding, and no invisible characters
 * (Unicode 3.13, NFKC_Casefold). `Straße` and `STRASSE` are equal, and so are `σ` and the final `ς`. Only for comparing:
 * look-ups use identityKey.
 */
export function caseFold(text: string): string {
  const visible = text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  // JavaScript has no case folding. The upper case expands `ß`, and the lower case of it is that of one spelling.
  return visible.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}
