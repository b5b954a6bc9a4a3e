import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { auth } from '../auth';
import { remember, remembered } from '../preferences';
import { chooseLanguage } from './choose-language';
import type { Texts } from './en';

/**
 * One file for each language, named by its BCP 47 tag. A new file adds a language, without a change of code. A browser
 * loads only the chosen language.
 */
const files = import.meta.glob<{ readonly texts: Texts }>(['./??.ts', './???.ts', './??-*.ts', './???-*.ts']);

const fileOf = (language: string): string => `./${language}.ts`;
const fallback = 'en';
export const languages: readonly string[] = Object.keys(files)
  .map((file) => file.slice('./'.length, -'.ts'.length))
  .sort((a, b) => Number(b === fallback) - Number(a === fallback) || a.localeCompare(b));

const key = 'portal.language';

interface Loaded {
  readonly language: string;
  readonly t: Texts;
}

async function load(language: string): Promise<Loaded> {
  const { texts } = await files[fileOf(language)]!();
  return { language, t: texts };
}

/**
 * Loads the language that the user chose on this device, else the language of a mailed link, else a language of the
 * browser. Loads English if the file of that language does not load.
 */
export function loadFirstLanguage(): Promise<Loaded> {
  const link = new URLSearchParams(location.search).get('lang');
  const chosen = chooseLanguage([remembered(key, languages), link, ...navigator.languages], languages, fallback);
  return load(chosen).catch(() => load(fallback));
}

interface Speech extends Loaded {
  readonly choose: (language: string) => void;
}

const SpeechContext = createContext<Speech | undefined>(undefined);

interface SpeechProviderProps {
  /** Loaded before the first paint, so that the page never shows another language first. */
  readonly first: Loaded;
  readonly children: ReactNode;
}

export function SpeechProvider({ first, children }: SpeechProviderProps): ReactNode {
  const [loaded, setLoaded] = useState(first);
  const wanted = useRef(first.language);
  const { language } = loaded;
  auth.language = language;
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);

  const choose = (next: string) => {
    wanted.current = next;
    load(next).then(
      (texts) => {
        // A language that the user chose later may have loaded earlier.
        if (wanted.current !== next) return;
        remember(key, next);
        setLoaded(texts);
      },
      // The file cannot be loaded now, for example offline. The page keeps its language.
      () => undefined,
    );
  };
  return <SpeechContext value={{ ...loaded, choose }}>{children}</SpeechContext>;
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

/** One text after the other. Chinese has no space between sentences. */
export const inARow = (...texts: readonly (string | undefined)[]): string =>
  texts
    .filter((text) => text !== undefined)
    .join(' ')
    .replace(/([。？！]) /g, '$1');
