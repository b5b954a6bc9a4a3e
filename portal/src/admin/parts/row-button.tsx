import type { ReactNode } from 'react';

export interface RowButtonProps {
  readonly text: string;
  /** What it is about, for screen readers. */
  readonly of: string;
  readonly onClick: () => void;
}

/** The button of a row. */
export function RowButton({ text, of, onClick }: RowButtonProps): ReactNode {
  return (
    <button type="button" className="secondary small" aria-label={`${text}: ${of}`} onClick={onClick}>
      {text}
    </button>
  );
}
