import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useSpeech } from '../../i18n/texts';
import type { Texts } from './en';

/** A browser loads only the texts of the chosen language, and only for the console. */
const files = import.meta.glob<{ readonly texts: Texts }>(['./??.ts', './???.ts', './??-*.ts', './???-*.ts']);

const TextsContext = createContext<Texts | undefined>(undefined);

/** Shows nothing until the texts are there. Keeps the former language if the file of the next one does not load. */
export function TextsProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { language } = useSpeech();
  const [texts, setTexts] = useState<Texts>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let wanted = true;
    const load = async (name: string) => (await files[`./${name}.ts`]!()).texts;
    load(language)
      .catch(() => load('en'))
      .then(
        (loaded) => wanted && setTexts(loaded),
        () => wanted && setFailed(true),
      );
    return () => {
      wanted = false;
    };
  }, [language]);
  // PageBoundary shows the failure.
  if (failed && texts === undefined) throw new Error('the texts of the console did not load');
  return texts === undefined ? null : <TextsContext value={texts}>{children}</TextsContext>;
}

export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (texts === undefined) throw new Error('useTexts needs a TextsProvider above the component');
  return texts;
}
