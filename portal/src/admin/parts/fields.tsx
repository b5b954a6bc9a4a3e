import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Field, type FieldProps } from '../../components/fields';
import { Search } from './icons';

interface SelectFieldProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChange: (value: T) => void;
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
}

export function SelectField<T extends string>(props: SelectFieldProps<T>): ReactNode {
  const { label, value, options, onChange, hint, disabled } = props;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="select"
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value as T)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p className="note" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type HintedProps = Pick<
  FieldProps,
  'label' | 'value' | 'onChange' | 'error' | 'placeholder' | 'required' | 'maxLength' | 'type'
> & {
  readonly hint: string;
};

export function HintedField({ hint, ...field }: HintedProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <Field maxLength={2048} {...field} describedBy={id} autoComplete="off" autoCapitalize="none" spellCheck={false} />
      <p className="note" id={id}>
        {hint}
      </p>
    </div>
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
}

export function CheckField({ label, checked, onChange, hint, disabled }: CheckFieldProps): ReactNode {
  const id = useId();
  return (
    <div className="choice">
      <label>
        <input
          type="checkbox"
          checked={checked}
          disabled={disabled}
          onChange={(event) => onChange(event.target.checked)}
          aria-describedby={hint === undefined ? undefined : id}
        />
        {label}
      </label>
      {hint !== undefined && (
        <p className="note" id={id}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** Time without a key press after which a typed filter is applied. */
const typingMs = 250;

interface TypedFilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly type?: 'text' | 'search' | 'datetime-local';
  /** The label is for screen readers, and an icon says the same. */
  readonly search?: boolean;
  readonly suggestions?: readonly string[];
}

/**
 * A filter that is applied while the user types. The address can change by itself, for example by the Back button. Then
 * the field follows it, but never while the user types.
 */
export function TypedFilter(props: TypedFilterProps): ReactNode {
  const { label, value, onChange, placeholder, type = 'text', search = false, suggestions } = props;
  const kind = search ? 'search' : type === 'datetime-local' ? 'time' : suggestions === undefined ? '' : 'wide';
  const [text, setText] = useState(value);
  const applied = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  useEffect(() => {
    if (value !== applied.current) {
      clearTimeout(timer.current);
      setText(value);
    }
    applied.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const apply = (next: string) => {
    clearTimeout(timer.current);
    applied.current = next.trim();
    onChange(next.trim());
  };
  const typed = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => apply(next), typingMs);
  };
  return (
    <div className={`field ${kind}`}>
      <label htmlFor={id} className={search ? 'heard' : undefined}>
        {label}
      </label>
      <div className="input">
        {search && <Search />}
        <input
          id={id}
          type={type}
          value={text}
          placeholder={placeholder}
          list={suggestions === undefined ? undefined : `${id}-list`}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={type === 'datetime-local' ? undefined : 255}
          onChange={(event) => typed(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') apply(text);
            if (event.key === 'Escape' && text !== '') {
              event.preventDefault();
              setText('');
              apply('');
            }
          }}
        />
      </div>
      {suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </div>
  );
}
