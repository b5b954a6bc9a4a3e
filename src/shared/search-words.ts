/** What the search of users compares: words without case and accents (docs/adr/0041-search-by-any-word.md). */

/** Characters of a word that count. Longer words are compared by their beginning. */
export const wordLength = 64;

/** More words of a query are left out. */
const maxTerms = 8;

/** Letters whose accent is no mark of Unicode, and the final form of sigma. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ς: 'σ' },
};
const oddLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g');
const accents = /[\u0300-\u036f]/g;
const apostrophes = /['’‘ʼ`´]/g;
/** Between words. A dot, an underscore or a percent sign is a character of a word like others. */
const separators = /[\s,;:/\\|()[\]{}<>"“”„«»&]+/u;
const dashes = /\p{Pd}+/u;

/** What one word of a query asks for. Each text is given in every spelling: the beginning of a word must equal one of them. */
export interface SearchTerm {
  /** The parts between hyphens. A user who has all of them matches. */
  readonly parts: readonly (readonly string[])[];
  /** A login name or address with hyphens begins so. Undefined for a term without hyphens. */
  readonly whole?: readonly string[];
}

export interface Named {
  readonly loginName: string;
  readonly email: string | null;
  readonly nickname: string | null;
}

/** The words by which a user is found: the login name, the address, and each word of the nickname. */
export function wordsOf({ loginName, email, nickname }: Named): string[] {
  const words = [...split(loginName), ...split(email ?? ''), ...split(nickname ?? '').flatMap(partsOf)];
  return [...new Set(words.flatMap(spellings))];
}

/** The words of a query. None when it has no letter, number or sign that a word can have. */
export function termsOf(query: string): SearchTerm[] {
  const terms = split(query).flatMap((word): SearchTerm[] => {
    // A word of accents alone has no spelling: `´` becomes one by NFKC.
    const parts = partsOf(word).map(spellings).filter(isSpelled);
    return parts.length === 0 ? [] : [dashes.test(word) ? { parts, whole: spellings(word) } : { parts }];
  });
  return terms.slice(0, maxTerms);
}

/** No word begins with a hyphen, so the first part of a term begins each word that the whole term begins. */
const split = (text: string): string[] =>
  text
    .normalize('NFKC')
    .replace(apostrophes, '')
    .split(separators)
    .map((word) => word.replace(/^\p{Pd}+/u, ''))
    .filter((word) => word !== '');

const isSpelled = (texts: readonly string[]): boolean => texts.length > 0;

/** Each part once: a query of 255 characters could ask for one part 127 times, and each costs a look-up for each candidate. */
const partsOf = (word: string): string[] => [...new Set(word.split(dashes))].filter((part) => part !== '');

/** `Müller` is `muller` and `mueller`. */
function spellings(word: string): string[] {
  const composed = word.toLowerCase().normalize('NFC');
  const spelled = composed.replace(/[äöü]/g, (letter) => ({ ä: 'ae', ö: 'oe', ü: 'ue' })[letter]!);
  return [...new Set([folded(composed), folded(spelled)])].filter((text) => text !== '');
}

const folded = (word: string): string => {
  const plain = word.normalize('NFD').replace(accents, '').normalize('NFC');
  return [...plain.replace(oddLetters, (letter) => plainLetters[letter]!)].slice(0, wordLength).join('');
};
