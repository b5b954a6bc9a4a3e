import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { auth } from '../auth';
import { remember, remembered } from '../preferences';
import { en, type Texts } from './en';
import { zhCn } from './zh-cn';

export const languages = ['en', 'zh-CN'] as const;
export type Language = (typeof languages)[number];

const texts: Record<Language, Texts> = { en, 'zh-CN': zhCn };
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

interface Speech {
  readonly t: Texts;
  readonly language: Language;
  readonly choose: (language: Language) => void;
}

const SpeechContext = createContext<Speech | undefined>(undefined);

export function SpeechProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(firstLanguage);
  auth.language = language;
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const choose = (next: Language) => {
    remember(key, next);
    setLanguage(next);
  };
  return <SpeechContext value={{ t: texts[language], language, choose }}>{children}</SpeechContext>;
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
