import { type ReactNode, useState } from 'react';
import { useTexts } from '../i18n/texts';

interface FilterBarProps {
  /** Whether a filter is set, so that the filters start visible. */
  readonly any: boolean;
  readonly children: ReactNode;
  /** Filters of one click, below the others. On a phone they share a line with the button. */
  readonly chips?: ReactNode;
}

/** The filters above a list. On a phone, a button shows all of them except the search. */
export function FilterBar({ any, children, chips }: FilterBarProps): ReactNode {
  const { users } = useTexts();
  const [open, setOpen] = useState(any);
  return (
    <>
      <div className={open ? 'filters' : 'filters closed'} role="search" aria-label={users.filters} id="filters">
        {children}
      </div>
      <div className="filter-line">
        <button
          type="button"
          className="secondary small filter-button"
          aria-expanded={open}
          aria-controls="filters"
          onClick={() => setOpen(!open)}
        >
          {users.filters}
        </button>
        {chips}
      </div>
    </>
  );
}
