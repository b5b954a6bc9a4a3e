import { type ReactNode, useState } from 'react';
import { useTexts } from '../i18n/texts';

interface FilterBarProps {
  /** Whether a filter is set, so that the filters start visible. */
  readonly any: boolean;
  readonly children: ReactNode;
}

/** The filters above a list. On a phone, a button shows all of them except the search. */
export function FilterBar({ any, children }: FilterBarProps): ReactNode {
  const { users } = useTexts();
  const [open, setOpen] = useState(any);
  return (
    <>
      <div className={open ? 'filters' : 'filters closed'} role="search" aria-label={users.filters} id="filters">
        {children}
      </div>
      <button
        type="button"
        className="secondary small filter-button"
        aria-expanded={open}
        aria-controls="filters"
        onClick={() => setOpen(!open)}
      >
        {users.filters}
      </button>
    </>
  );
}
