import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A BCP 47 tag for which the folder `languages` has a file. */
export type Language = string;
export const defaultLanguage: Language = 'en';

/** One file for each language. A new file is a new language, without a change of code. */
const folder = join(__dirname, 'languages');
export const languages: readonly Language[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length))
  .sort((a, b) => Number(b === defaultLanguage) - Number(a === defaultLanguage) || a.localeCompare(b));

/** The texts of a language file by their keys, for example `texts.mail.otp.subject`. */
export function textsOf(language: Language): unknown {
  if (!languages.includes(language)) throw new Error(`there is no file for the language ${language}`);
  return JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8'));
}

/**
 * Returns the supported language that a tag means: `zh`, `zh-cn` and `zh-Hans` mean `zh-CN`. For any other text it
 * returns undefined, so that no text of a client reaches a link or a mail (docs/spec/attacks.md#w29).
 */
export function languageOf(tag: unknown): Language | undefined {
  if (typeof tag !== 'string' || !/^[a-z]{2}(-[a-z]{2,4})*$/i.test(tag)) return undefined;
  const primary = tag.slice(0, 2).toLowerCase();
  return languages.find((language) => language.slice(0, 2) === primary);
}

/** The language of a mail to an owner that somebody else causes. @param stored `users.language` */
export function languageFor(stored: string | null, otherwise?: Language): Language {
  return languageOf(stored) ?? otherwise ?? defaultLanguage;
}

/** The supported language with the highest weight in an `Accept-Language` header (RFC 9110 §12.5.4), or the default. */
export function negotiateLanguage(header: string | undefined): Language {
  return wishedLanguage(header) ?? defaultLanguage;
}

/** Like `negotiateLanguage`, but undefined when the header names no supported language. */
export function wishedLanguage(header: string | undefined): Language | undefined {
  const wishes = (header ?? '')
    .slice(0, 256)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const q = parameters.map((p) => /^\s*q=([\d.]+)\s*$/.exec(p)?.[1]).find(Boolean);
      return { language: languageOf(tag.trim()), weight: q === undefined ? 1 : Number(q) };
    })
    .filter((wish) => wish.language !== undefined && wish.weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return wishes[0]?.language;
}
