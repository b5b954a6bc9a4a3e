import { laterTexts } from '../../i18n/later-texts';
import type { Texts } from './en';

/** The texts about the sign-in at an identity provider. The login form does not load them. */
export const { TextsProvider, useTexts } = laterTexts(
  import.meta.glob<{ readonly texts: Texts }>(['./??.ts', './???.ts', './??-*.ts', './???-*.ts']),
);
