/**
 * The language for the first of the wishes (BCP 47 tags) that one of `languages` matches: the same tag, or else the
 * same language from another region (`de-AT` means `de`, and `zh-TW` means `zh-CN` where there is nothing closer).
 */
export function chooseLanguage(
  wishes: readonly (string | null | undefined)[],
  languages: readonly string[],
  fallback: string,
): string {
  for (const wish of wishes) {
    if (wish == null || wish === '') continue;
    const same = languages.find((language) => language.toLowerCase() === wish.toLowerCase());
    const found = same ?? languages.find((language) => primary(language) === primary(wish));
    if (found !== undefined) return found;
  }
  return fallback;
}

const primary = (tag: string): string => tag.toLowerCase().split('-')[0]!;

/** The name of a language in that language: `de` is "Deutsch". The region is named only if it is not the usual one. */
export function ownName(language: string): string {
  const { baseName } = new Intl.Locale(language).minimize();
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(baseName) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
