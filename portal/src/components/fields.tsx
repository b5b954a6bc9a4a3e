import { type InputHTMLAttributes, type ReactNode, type Ref, useId, useState } from 'react';
import { useSpeech } from '../i18n/texts';
import { Eye, EyeOff } from './icons';

export interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'id' | 'onChange'> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly describedBy?: string | undefined;
  readonly inputRef?: Ref<HTMLInputElement>;
  readonly after?: ReactNode;
}

export function Field({ label, value, onChange, describedBy, inputRef, after, ...input }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="input">
        <input
          {...input}
          id={id}
          ref={inputRef}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-describedby={describedBy}
        />
        {after}
      </div>
    </div>
  );
}

export function PasswordField(props: Omit<FieldProps, 'type' | 'after'>): ReactNode {
  const { t } = useSpeech();
  const [shown, setShown] = useState(false);
  const name = shown ? t.password.hide : t.password.show;
  return (
    <Field
      {...props}
      type={shown ? 'text' : 'password'}
      spellCheck={false}
      autoCapitalize="none"
      after={
        <button type="button" className="reveal" aria-label={name} title={name} onClick={() => setShown(!shown)}>
          {shown ? <EyeOff /> : <Eye />}
        </button>
      }
    />
  );
}

/** A field for six digits. It is longer because pasted codes may contain spaces. */
export function CodeField(props: Omit<FieldProps, 'type' | 'inputMode'>): ReactNode {
  return (
    <Field
      {...props}
      className="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={12}
      spellCheck={false}
    />
  );
}

/** Accepts six digits with spaces between them, also full-width digits. */
export const isCode = (text: string): boolean => /^\d{6}$/.test(text.normalize('NFKC').replace(/\s/g, ''));
