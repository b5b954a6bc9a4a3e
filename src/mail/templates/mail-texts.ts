import { defaultLanguage, type Language, languages, textsOf } from '../../shared/languages';
import type en from '../../shared/languages/en.json';

/** Every language file has the keys of en.json. */
export type MailTexts = (typeof en)['mail'];

const loaded = new Map<Language, MailTexts>();

/** @returns the texts of the language; if the program no longer has that language, the texts of the default language */
export function mailTextsOf(language: Language): MailTexts {
  const known = languages.includes(language) ? language : defaultLanguage;
  let texts = loaded.get(known);
  if (texts === undefined) loaded.set(known, (texts = (textsOf(known) as { mail: MailTexts }).mail));
  return texts;
}

/**
 * Replaces `{name}` by the value.
 * @throws Error when there is no such value: without it, only the recipient of the mail would notice the gap
 */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the mail text has the unknown name {${name}}`);
    return value;
  });
}

/** The remaining time, rounded: minutes below two hours, hours below two days, then days. */
export function durationText(language: Language, milliseconds: number): string {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  const hours = Math.round(minutes / 60);
  if (minutes < 120) return inUnits(language, minutes, 'minute');
  return hours < 48 ? inUnits(language, hours, 'hour') : inUnits(language, Math.round(hours / 24), 'day');
}

function inUnits(language: Language, count: number, unit: 'minute' | 'hour' | 'day'): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

/** For example `2025-10-09 14:30 UTC`. The time zone of the reader is unknown, so the text names the zone. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
