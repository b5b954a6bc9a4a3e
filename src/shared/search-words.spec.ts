import { termsOf, wordsOf } from './search-words';

const words = (nickname: string, loginName = 'x', email: string | null = null) =>
  wordsOf({ loginName, email, nickname }).filter((word) => word !== 'x');

/** Whether the search finds the user, as the statements compare. */
function finds(query: string, nickname: string, loginName = 'x', email: string | null = null): boolean {
  const has = (spellings: readonly string[]) =>
    wordsOf({ loginName, email, nickname }).some((word) => spellings.some((text) => word.startsWith(text)));
  return termsOf(query).every(({ parts, whole }) => parts.every(has) || (whole !== undefined && has(whole)));
}

describe('the words by which a user is found', () => {
  it.each<[string, string, string[]]>([
    ['each word of the nickname', 'Anna Maria Smith', ['anna', 'maria', 'smith']],
    [
      'a hyphen divides words',
      'Hans-Peter Müller–Lüdenscheidt',
      ['hans', 'peter', 'muller', 'mueller', 'ludenscheidt', 'luedenscheidt'],
    ],
    ['without case and accents', 'ÉLODIE Ångström Čapek', ['elodie', 'angstrom', 'angstroem', 'capek']],
    ['ä ö ü ß', 'Jäger Köhler Weiß', ['jager', 'jaeger', 'kohler', 'koehler', 'weiss']],
    ['letters whose accent is no mark', 'Łukasz Sørensen Ærø', ['lukasz', 'sorensen', 'aero']],
    ['brackets and commas belong to no word', 'SMITH, Bob (external)', ['smith', 'bob', 'external']],
    ['an apostrophe does not divide', "O'Brien d’Artagnan", ['obrien', 'dartagnan']],
    ['other scripts', '王小明 Ελένης 김철수', ['王小明', 'ελενησ', '김철수']],
    ['a letter and its mark as two characters', 'Mu\u0308ller', ['muller', 'mueller']],
    ['the same word once', 'Anna anna ANNA', ['anna']],
  ])('%s', (_what, nickname, expected) => {
    expect(words(nickname)).toEqual(expected);
  });

  it('a login name and an address are words of their own, with their hyphens', () => {
    expect(words('', 'anna-maria.k', 'Jörg@x-y.test')).toEqual(['anna-maria.k', 'jorg@x-y.test', 'joerg@x-y.test']);
  });

  it.each(['´', '¨', '\u0301', ' ´ - ´ '])('a query of accents alone (%j) asks for nothing', (query) => {
    expect(termsOf(query)).toEqual([]);
    expect(termsOf(`Meier ${query}`)).toEqual(termsOf('Meier'));
  });

  it('a long word counts by its beginning, and no character is cut in two', () => {
    expect(words('😀'.repeat(100))).toEqual(['😀'.repeat(64)]);
  });
});

describe('a query', () => {
  it.each<[string, string]>([
    ['muller', 'Anna Müller'],
    ['mueller', 'Anna Müller'],
    ['MÜLLER', 'Anna Mueller'],
    ['müll', 'Muller'],
    ['mül ann', 'Anna Müller'],
    ['anna müller', 'Müller, Anna'],
    ['Lüdenscheidt Müller', 'Hans Müller-Lüdenscheidt'],
    ['müller-lüd', 'Hans Müller-Lüdenscheidt'],
    ['anna-maria', 'Anna Maria Smith'],
    ['strasse', 'Straße'],
    ['straße', 'STRASSE'],
    ['obr', "O'Brien"],
    ["o'b", "O'Brien"],
    ['-anna', 'Anna'],
  ])('%s finds %s', (query, nickname) => {
    expect(finds(query, nickname)).toBe(true);
  });

  it.each<[string, string]>([
    ['uller', 'Müller'],
    ['anna smith', 'Anna Müller'],
    ['muellers', 'Müller'],
    ['100%_', '100abx'],
  ])('%s does not find %s', (query, nickname) => {
    expect(finds(query, nickname)).toBe(false);
  });

  it('finds a login name and an address by their beginning, with hyphens, beside other words', () => {
    expect(finds('anna-mar smith', 'A. Smith', 'anna-maria.k')).toBe(true);
    expect(finds('anna.smith@ann', '', 'x', 'Anna.Smith@Annex.test')).toBe(true);
    expect(finds('joerg', '', 'x', 'Jörg@x.test')).toBe(true);
    expect(finds('annex', '', 'x', 'a@annex.test')).toBe(false);
  });

  it('T717 a part that is repeated is looked up once', () => {
    expect(termsOf(Array(128).fill('a').join('-'))).toMatchObject([{ parts: [['a']] }]);
    expect(finds('anna-anna', 'Anna Smith')).toBe(true);
  });

  it('without a word has no term, and a long one has eight', () => {
    expect(termsOf(' -- ( ) " ')).toEqual([]);
    expect(termsOf('a b c d e f g h i j')).toHaveLength(8);
  });
});
