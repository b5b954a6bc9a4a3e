import type { ReactNode } from 'react';
import { useTexts } from '../i18n/texts';
import { hrefOf, type Params, usePlace } from '../place';

export interface Chip {
  readonly label: string;
  readonly on: boolean;
  readonly toggle: () => void;
}

/** Filters that one click sets and takes back. */
export function Chips({ chips }: { readonly chips: readonly Chip[] }): ReactNode {
  const { logs } = useTexts();
  return (
    <div className="chips" role="group" aria-label={logs.quick}>
      {chips.map(({ label, on, toggle }) => (
        <button key={label} type="button" className="chip" aria-pressed={on} onClick={toggle}>
          {label}
        </button>
      ))}
    </div>
  );
}

/** The beginning of this day, as a `datetime-local` field has it. */
function todayBegins(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}T00:00`;
}

/** Selects the rows since midnight, and takes that back. */
export function useTodayChip(filters: {
  readonly values: Readonly<Record<'from' | 'to', string>>;
  readonly set: (name: 'from', value: string) => void;
}): Chip {
  const { logs } = useTexts();
  const today = todayBegins();
  const on = filters.values.from === today && filters.values.to === '';
  return { label: logs.today, on, toggle: () => filters.set('from', on ? '' : today) };
}

interface NarrowerProps {
  /** The filters of now. */
  readonly values: Params;
  /** What each link adds to them. */
  readonly links: readonly (readonly [label: string, more: Params | undefined])[];
}

/** Links from a row to the rows that have something in common with it. Back leads to the former ones. */
export function Narrower({ values, links }: NarrowerProps): ReactNode {
  const { path } = usePlace();
  return (
    <p className="links">
      {links.map(
        ([label, more]) =>
          more !== undefined && (
            <a key={label} href={hrefOf(path, { ...values, ...more })}>
              {label}
            </a>
          ),
      )}
    </p>
  );
}
