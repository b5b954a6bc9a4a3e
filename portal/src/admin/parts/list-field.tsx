import { type ReactNode, useEffect, useId, useRef } from 'react';
import { fill } from '../../i18n/texts';
import { filled } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Cross, Plus } from './icons';

interface ListFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  /** The problem with the list, or with one of its entries. */
  readonly problem: (entry?: number) => string | undefined;
  readonly placeholder?: string;
  readonly suggestions?: readonly (readonly [value: string, name: string])[];
  readonly required?: boolean;
}

/** A list of texts, one field each. The service counts the entries without the empty fields. */
export function ListField(props: ListFieldProps): ReactNode {
  const { label, hint, values, onChange, problem, placeholder, suggestions, required = false } = props;
  const { applications: texts } = useTexts();
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const next = useRef<number>(undefined);
  const rows = values.length === 0 ? [''] : values;
  const general = problem();
  useEffect(() => {
    if (next.current === undefined) return;
    group.current?.querySelectorAll('input')[next.current]?.focus();
    next.current = undefined;
  });
  const change = (changed: readonly string[], focus?: number) => {
    next.current = focus;
    onChange(changed);
  };
  return (
    <fieldset className="list-field" ref={group} aria-describedby={`${id}-hint`}>
      <legend>{label}</legend>
      <p className="note" id={`${id}-hint`}>
        {hint}
      </p>
      {rows.map((value, row) => {
        const entry = filled(rows.slice(0, row)).length;
        const wrong = value.trim() === '' ? undefined : problem(entry);
        const bad = wrong !== undefined || (general !== undefined && row === 0);
        const described = [wrong !== undefined && `${id}-${row}`, general !== undefined && `${id}-error`];
        return (
          <div className="field" key={row}>
            <div className="input">
              <input
                value={value}
                placeholder={placeholder}
                aria-label={rows.length === 1 ? label : `${label} ${row + 1}`}
                aria-required={required && row === 0}
                aria-invalid={bad}
                aria-describedby={described.filter(Boolean).join(' ') || undefined}
                list={suggestions === undefined ? undefined : `${id}-list`}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={2048}
                onChange={(event) => change(rows.map((one, index) => (index === row ? event.target.value : one)))}
              />
              {rows.length > 1 && (
                <button
                  type="button"
                  className="reveal"
                  aria-label={fill(texts.removeEntry, { entry: `${label} ${row + 1}` })}
                  title={texts.remove}
                  onClick={() =>
                    change(
                      rows.filter((_, index) => index !== row),
                      Math.max(0, row - 1),
                    )
                  }
                >
                  <Cross />
                </button>
              )}
            </div>
            {wrong !== undefined && (
              <p className="field-error" id={`${id}-${row}`}>
                {wrong}
              </p>
            )}
          </div>
        );
      })}
      {general !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          {general}
        </p>
      )}
      <button
        type="button"
        className="secondary small with-icon"
        aria-label={fill(texts.addEntry, { list: label })}
        onClick={() => change([...rows, ''], rows.length)}
      >
        <Plus />
        {texts.add}
      </button>
      {suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {suggestions.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </datalist>
      )}
    </fieldset>
  );
}
