/**
 * Returns the language for the first wish (a BCP 47 tag) that has a match in `languages`. The match is the same tag, or
 * else the same language of another region: `de` for `de-AT`, and `zh-CN` for `zh-TW` if there is nothing closer.
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

/** The name of a language in that language: `de` is "Deutsch". An unusual region is part of the name. */
export function ownName(language: string): string {
  const { baseName } = new Intl.Locale(language).minimize();
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(baseName) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
