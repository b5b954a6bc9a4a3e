import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { auditEvents } from '../../portal/src/admin/parts/audit-events';
import { chooseLanguage, ownName } from '../../portal/src/i18n/choose-language';
import { languages as languagesOfMails } from '../../src/shared/languages';

const folder = join(__dirname, '../../portal/src/i18n');
/** The texts of all pages, and those of one part, which other pages do not load. */
const folders = [
  folder,
  ...['account', 'admin', 'applications', 'external'].map((part) => join(__dirname, '../../portal/src', part, 'i18n')),
];
/** The languages, from the names of the files that portal/src/i18n/texts.tsx loads. */
const languages = readdirSync(folder)
  .map((file) => /^([a-z]{2,3}(-\w+)*)\.ts$/.exec(file)?.[1])
  .filter((tag) => tag !== undefined);

/** The texts of a language by the path of their keys, for example `login.title`. */
function textsOf(folder: string, language: string): Map<string, string> {
  const found = new Map<string, string>();
  const collect = (path: string, value: unknown): void => {
    if (typeof value === 'string') found.set(path, value);
    else
      for (const [key, inner] of Object.entries(value as object)) collect(path === '' ? key : `${path}.${key}`, inner);
  };
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the names of the files are not known before
  collect('', (require(join(folder, language)) as { texts: unknown }).texts);
  return found;
}

const placeholders = (text = ''): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

describe('the languages of the pages', () => {
  it('are those of the mails, so that a mailed link opens a page in the language of the mail', () => {
    expect([...languages].sort()).toEqual([...languagesOfMails].sort());
  });

  it('have names that are language tags in their usual spelling (BCP 47)', () => {
    expect(languages.map((tag) => Intl.getCanonicalLocales(tag)[0])).toEqual(languages);
  });

  const cases = folders.flatMap((one) => languages.map((language) => [relative(process.cwd(), one), language, one]));
  describe.each(cases)('%s in %s', (_name, language, one) => {
    const english = textsOf(one, 'en');
    const texts = textsOf(one, language);

    it('has every text of English and no other', () => {
      expect([...texts.keys()].sort()).toEqual([...english.keys()].sort());
    });

    it('has no empty text, and in each text the placeholders of English', () => {
      for (const [key, text] of texts) {
        expect([key, text.trim()]).toEqual([key, text]);
        expect([key, text]).not.toEqual([key, '']);
        expect([key, placeholders(text)]).toEqual([key, placeholders(english.get(key))]);
      }
    });

    it('uses the punctuation of its script', () => {
      for (const [key, text] of texts) {
        const wrong = language === 'zh-CN' ? /[,;:!?()](?!\w)|\.$|\.\.\./ : /[，。：；！？（）]|\.\.\./;
        expect([key, wrong.exec(text)?.[0]]).toEqual([key, undefined]);
      }
    });
  });

  it('have their own names in the list of languages', () => {
    expect(['en', 'de', 'zh-CN', 'pt-BR', 'fr', 'zh-TW'].map(ownName)).toEqual([
      'English',
      'Deutsch',
      '中文',
      'Português',
      'Français',
      '中文（台灣）',
    ]);
  });
});

it('the console suggests every event of the audit log', () => {
  const source = readFileSync(join(__dirname, '../../src/audit/audit-trail.ts'), 'utf8');
  const type = /export type AuditEvent =([^;]+);/.exec(source)![1]!;
  expect([...auditEvents].sort()).toEqual([...type.matchAll(/'(\w+)'/g)].map(([, event]) => event!).sort());
});

describe('the language of the pages', () => {
  it.each([
    ['the first wanted language that exists', ['fr', 'de', 'en'], 'de'],
    ['the same language of another region', ['de-AT'], 'de'],
    ['the same script of another region', ['zh-Hans-SG'], 'zh-CN'],
    ['the exact tag before another region', ['pt-PT'], 'pt-PT'],
    ['a tag in another case', ['ZH-cn'], 'zh-CN'],
    ['English when no wanted language exists', ['fr', ''], 'en'],
    ['English when no language is wanted', [null, undefined], 'en'],
    ['English for a text that is not a tag', ['../../secret', 'd'], 'en'],
  ])('is %s', (_, wishes, chosen) => {
    expect(chooseLanguage(wishes, ['en', 'de', 'pt-BR', 'pt-PT', 'zh-CN'], 'en')).toBe(chosen);
  });
});
