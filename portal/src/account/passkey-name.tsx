import type { ReactNode } from 'react';
import { Field } from '../components/fields';
import { useSpeech } from '../i18n/texts';

interface PasskeyNameProps {
  readonly name: string;
  readonly onChange: (name: string) => void;
  /** The user has tried to submit the name. */
  readonly checked: boolean;
}

/** The field for the name of a passkey. The name is selected, so that typing replaces it. */
export function PasskeyName({ name, onChange, checked }: PasskeyNameProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  return (
    <Field
      label={texts.name}
      name="passkey-name"
      value={name}
      onChange={onChange}
      error={checked && name.trim() === '' ? texts.nameRequired : undefined}
      autoComplete="off"
      maxLength={64}
      onFocus={(event) => event.target.select()}
      autoFocus
      required
    />
  );
}
