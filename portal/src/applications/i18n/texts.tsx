import { laterTexts } from '../../i18n/later-texts';
import type { Texts } from './en';

/** The texts about applications that sign in here. The login page does not load them. */
export const { TextsProvider, useTexts } = laterTexts(
  import.meta.glob<{ readonly texts: Texts }>(['./??.ts', './???.ts', './??-*.ts', './???-*.ts']),
);
