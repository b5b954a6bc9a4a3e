import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { remembered } from '../../tab-memory';
import { useTexts } from '../i18n/texts';
import type { Column } from './table';

/** A column that may be left out. One without an id is always there. */
export type ChosenColumn<T> = Column<T> & { readonly id?: string };

/** Which columns a table shows. This browser remembers the choice. */
export function useColumns<T>(name: string, columns: readonly ChosenColumn<T>[], usual: readonly string[]) {
  const kept = remembered(`portal.columns.${name}`, () => localStorage);
  const [chosen, setChosen] = useState<readonly string[]>(() => kept.get()?.split(',') ?? usual);
  const choose = (next: readonly string[]) => {
    setChosen(next);
    kept.set(next.join(','));
  };
  return {
    columns: columns.filter(({ id }) => id === undefined || chosen.includes(id)),
    choice: <ColumnChoice columns={columns} chosen={chosen} choose={choose} />,
  };
}

interface ColumnChoiceProps {
  readonly columns: readonly { readonly id?: string; readonly heading: ReactNode }[];
  readonly chosen: readonly string[];
  readonly choose: (next: readonly string[]) => void;
}

function ColumnChoice({ columns, chosen, choose }: ColumnChoiceProps): ReactNode {
  const { list } = useTexts();
  const element = useRef<HTMLDetailsElement>(null);
  const close = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !element.current?.open) return;
    event.stopPropagation();
    element.current.open = false;
    element.current.querySelector('summary')?.focus();
  };
  return (
    <details
      ref={element}
      className="column-choice"
      onKeyDown={close}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget !== null && !element.current?.contains(relatedTarget)) element.current!.open = false;
      }}
    >
      <summary className="secondary small">{list.columns}</summary>
      <div role="group" aria-label={list.columns}>
        {columns.map(
          ({ id, heading }) =>
            id !== undefined && (
              <label key={id}>
                <input
                  type="checkbox"
                  checked={chosen.includes(id)}
                  onChange={(event) =>
                    choose(event.target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
                  }
                />
                {heading}
              </label>
            ),
        )}
      </div>
    </details>
  );
}
