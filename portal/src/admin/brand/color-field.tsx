import { type ReactNode, useId } from 'react';
import { Field } from '../../components/fields';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { contrastOf, leastContrast } from './contrast';

interface ColorFieldProps {
  readonly value: string;
  readonly inherited: string;
  readonly onChange: (color: string) => void;
  readonly problem: string | undefined;
}

/** The colour as a text, and the picker of the browser. It says at once whether white text can be read on it. */
export function ColorField({ value, inherited, onChange, problem }: ColorFieldProps): ReactNode {
  const { brand: texts } = useTexts();
  const hint = useId();
  const contrast = value === '' ? undefined : contrastOf(value.trim());
  const low = contrast !== undefined && contrast < leastContrast;
  const shown = contrast === undefined ? inherited : value.trim();
  return (
    <div className="color-field">
      <Field
        label={texts.fields.color}
        value={value}
        onChange={onChange}
        placeholder={inherited}
        maxLength={7}
        className="short"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        describedBy={hint}
        error={low ? fill(texts.lowContrast, { contrast }) : problem}
        after={
          <input
            type="color"
            className="color-picker"
            aria-label={texts.pickColor}
            value={shown.toLowerCase()}
            onChange={(event) => onChange(event.target.value)}
          />
        }
      />
      <p className="note" id={hint}>
        {contrast === undefined || low ? texts.hints.color : fill(texts.contrast, { contrast })}
      </p>
    </div>
  );
}
