import type { ReactNode } from 'react';
import { ownName } from '../../i18n/choose-language';
import { languages } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { SelectField } from './fields';

interface LanguageFieldProps {
  /** Empty while it is unknown. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The language of the mails to a user. */
export function LanguageField({ value, onChange }: LanguageFieldProps): ReactNode {
  const { users } = useTexts();
  const options = ['', ...languages].map((one) => [one, one === '' ? users.unknownLanguage : ownName(one)] as const);
  return (
    <SelectField
      label={users.fields.language}
      value={value}
      options={options}
      onChange={onChange}
      hint={users.languageHint}
    />
  );
}
