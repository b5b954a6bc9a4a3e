import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useSpeech } from './texts';

/** Loads the file of a language. */
type Files<T> = Readonly<Record<string, () => Promise<{ readonly texts: T }>>>;

interface LaterTexts<T> {
  readonly TextsProvider: (props: { readonly children: ReactNode }) => ReactNode;
  readonly useTexts: () => T;
}

/** Texts that a browser loads only for one part of the pages, and only in the chosen language. */
export function laterTexts<T>(files: Files<T>): LaterTexts<T> {
  const TextsContext = createContext<T | undefined>(undefined);
  const load = async (language: string): Promise<T> => (await files[`./${language}.ts`]!()).texts;

  /** Shows nothing until the texts are there. Keeps the former language if the file of the next one does not load. */
  function TextsProvider({ children }: { readonly children: ReactNode }): ReactNode {
    const { language } = useSpeech();
    const [texts, setTexts] = useState<{ readonly them: T }>();
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      let wanted = true;
      load(language)
        .catch(() => load('en'))
        .then(
          (them) => wanted && setTexts({ them }),
          () => wanted && setFailed(true),
        );
      return () => {
        wanted = false;
      };
    }, [language]);
    // PageBoundary shows the failure.
    if (failed && texts === undefined) throw new Error('the texts of this part did not load');
    return texts === undefined ? null : <TextsContext value={texts.them}>{children}</TextsContext>;
  }

  function useTexts(): T {
    const texts = useContext(TextsContext);
    if (texts === undefined) throw new Error('useTexts needs a TextsProvider above the component');
    return texts;
  }

  return { TextsProvider, useTexts };
}
