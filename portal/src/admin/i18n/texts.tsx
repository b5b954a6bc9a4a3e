import { laterTexts } from '../../i18n/later-texts';
import type { Texts } from './en';

/** The texts of the console. */
export const { TextsProvider, useTexts } = laterTexts(
  import.meta.glob<{ readonly texts: Texts }>(['./??.ts', './???.ts', './??-*.ts', './???-*.ts']),
);
