import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { auth } from '../auth';
import { remember, remembered } from '../preferences';
import { en, type Texts } from './en';

export const languages = ['en', 'zh-CN'] as const;
export type Language = (typeof languages)[number];

/** English is in the first script. Each other language is a script of its own. */
const load: Record<Language, () => Promise<Texts>> = {
  en: () => Promise.resolve(en),
  'zh-CN': async () => (await import('./zh-cn')).zhCn,
};
const key = 'portal.language';

/** The language of the link wins, then the stored choice of the user, then the languages of the browser. */
function firstLanguage(): Language {
  const asked = [new URLSearchParams(location.search).get('lang'), remembered(key, languages), ...navigator.languages];
  for (const tag of asked) {
    const known = languages.find((language) => tag && primary(language) === primary(tag));
    if (known !== undefined) return known;
  }
  return 'en';
}

const primary = (tag: string): string => tag.toLowerCase().split('-')[0]!;

interface Words {
  readonly t: Texts;
  readonly language: Language;
}

/** English texts are shown where those of the language do not load. */
async function wordsOf(language: Language): Promise<Words> {
  try {
    return { t: await load[language](), language };
  } catch {
    return { t: en, language: 'en' };
  }
}

export const firstWords = (): Promise<Words> => wordsOf(firstLanguage());

interface Speech extends Words {
  readonly choose: (language: Language) => void;
}

const SpeechContext = createContext<Speech | undefined>(undefined);

interface SpeechProps {
  readonly first: Words;
  readonly children: ReactNode;
}

export function SpeechProvider({ first, children }: SpeechProps): ReactNode {
  const [{ t, language }, setWords] = useState(first);
  auth.language = language;
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const choose = (next: Language) => {
    remember(key, next);
    void wordsOf(next).then(setWords);
  };
  return <SpeechContext value={{ t, language, choose }}>{children}</SpeechContext>;
}

export function useSpeech(): Speech {
  const speech = useContext(SpeechContext);
  if (speech === undefined) throw new Error('useSpeech needs a SpeechProvider above the component');
  return speech;
}

/** `fill('Wait {seconds} s', { seconds: 5 })` */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
