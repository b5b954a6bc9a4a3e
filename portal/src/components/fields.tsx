import { type InputHTMLAttributes, type ReactNode, type Ref, useId, useState } from 'react';
import { useSpeech } from '../i18n/texts';
import { Eye, EyeOff } from './icons';

export interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'id' | 'onChange'> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The problem with the value. It is shown below the field. */
  readonly error?: string | undefined;
  /** The id of a message elsewhere on the page that names the problem with the value. */
  readonly errorId?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly inputRef?: Ref<HTMLInputElement>;
  readonly after?: ReactNode;
  /** Nobody sees, hears or reaches the field. A password manager fills it all the same. */
  readonly concealed?: boolean | undefined;
}

export function Field(props: FieldProps): ReactNode {
  const { label, value, onChange, error, errorId, describedBy, inputRef, after, concealed, ...input } = props;
  const id = useId();
  const described = [error !== undefined && `${id}-error`, errorId, describedBy].filter(Boolean).join(' ');
  return (
    <div className={concealed === true ? 'field concealed' : 'field'} aria-hidden={concealed}>
      <label htmlFor={id}>{label}</label>
      <div className="input">
        <input
          {...input}
          tabIndex={concealed === true ? -1 : undefined}
          id={id}
          ref={inputRef}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-invalid={error !== undefined || errorId !== undefined}
          aria-describedby={described || undefined}
        />
        {after}
      </div>
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
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
        <button
          type="button"
          className="reveal"
          aria-label={name}
          title={name}
          tabIndex={props.concealed === true ? -1 : undefined}
          onClick={() => setShown(!shown)}
        >
          {shown ? <EyeOff /> : <Eye />}
        </button>
      }
    />
  );
}
